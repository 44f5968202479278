"""``Service``: what all requests of a server share. It knows nothing of HTTP but the refusals it raises."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event, Thread
from typing import Any, TypeVar

from rankset.errors import FileError, LabelError, RanksetError
from rankset.inputs.per_row import label_codes
from rankset.inputs.row_index import RowIndex
from rankset.serving.client_words import unknown_label
from rankset.serving.events import Listeners
from rankset.serving.json_bodies import FeedbackBody, check_repeated, decode
from rankset.serving.ledger import PATIENCE, Ledger
from rankset.serving.live_numbers import live_numbers
from rankset.serving.loaded import Files, Loaded
from rankset.serving.looks import Looks, seen
from rankset.serving.metrics import Metrics
from rankset.serving.predictions import Answered, Asked, answer, is_quick, stored_names
from rankset.serving.refusals import Refused, encoded
from rankset.serving.request_limits import Limits
from rankset.serving.row_bounds import check_lists
from rankset.serving.storage.store import Store

T = TypeVar("T")
log = logging.getLogger("rankset.serving")

QUICK_BYTES = 32_768
QUICK_NUMBERS = 4096
"""Smaller bodies, and fewer numbers, are worked on at once; others in threads, so that nobody waits for them."""
QUICK_READ = 250_000
"""The same for numbers that are only read."""
THREADS = 4
FEW_ROWS = (
    "Too few calibration rows for this alpha: some labels, or all labels of some rows, are always in the sets. The log "
    "says which."
)
LONGEST_END = 5.0
"""Seconds that threads are waited for when the server stops, at most."""


class Service:
    """A rule that is served: predictions, labels, alarms."""

    def __init__(self, files: Files, store: Store | None, limits: Limits) -> None:
        self.files, self.limits = files, limits
        self.ledger = Ledger(files.load(), store)
        self.metrics = Metrics()
        self.listeners = Listeners(limits.listeners, self.live)
        self.ledger.learner.learned = self._learned
        self._loop: asyncio.AbstractEventLoop | None = None
        self.failed: str | None = None
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="rankset rows")
        self._pages = ThreadPoolExecutor(1, thread_name_prefix="rankset pages")
        self._loading = asyncio.Lock()
        self._looks = Looks(store)
        self._tell_few_rows()

    @property
    def loaded(self) -> Loaded:
        """The rule that is served now."""
        return self.ledger.loaded

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Return what ``work`` returns, without keeping others waiting."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def _learned(self) -> None:
        """Tell open live pages that the monitor has learned; called by its thread."""
        if self._loop is not None and self.listeners.count:
            with suppress(RuntimeError):  # the server has ended
                self._loop.call_soon_threadsafe(self.listeners.wake)

    async def for_page(self, work: Callable[[], T]) -> T:
        """Do the same for pages and numbers, which do not wait for rows."""
        return await asyncio.get_running_loop().run_in_executor(self._pages, work)

    async def read(self, body: bytes, work: Callable[[], T]) -> T:
        """Return what ``work`` reads in a body: at once if it is small, also as rows of all classes."""
        numbers = body.count(b"{") * self.loaded.rule.spec.n_columns  # objects need not name every class
        return work() if len(body) <= QUICK_BYTES and numbers <= QUICK_READ else await self.in_thread(work)

    async def predict(self, loaded: Loaded, asked: Asked) -> Answered:
        """Predict rows, and write them down."""

        gone = Event()

        def work() -> Answered:
            used, found = loaded, answer(loaded, asked)
            if gone.is_set():
                raise Refused.late(self.limits.seconds)
            while not self.ledger.take(found, used, gone.is_set):
                used = self.loaded
                found = answer(used, asked)
            return found

        waits = not self.ledger.learner.few_wait or (asked.given and self.ledger.asks_store)
        if not waits and is_quick(asked, loaded, QUICK_NUMBERS):
            found = work()
        else:
            found = await self._predict_in_thread(work, gone)
        self.metrics.rows["/predict"] += len(asked.names)
        self.listeners.wake()
        return found

    async def _predict_in_thread(self, work: Callable[[], Answered], gone: Event) -> Answered:
        """Predict rows without keeping others waiting; if nobody waits for them any more, they are not written down."""

        def when_few_wait() -> Answered:
            self.ledger.learner.wait_for_few(PATIENCE)
            return work()

        try:
            return await self.in_thread(when_few_wait)
        finally:
            gone.set()

    async def label(self, body: bytes) -> dict[str, Any]:
        """Write labels down, and say what each was."""
        if self.ledger.store is None:
            raise Refused.no_store()
        ids, texts, columns = await self.read(body, lambda: self._labels_of(body))
        answers = await self._written(texts, columns) if ids else []
        for one in answers:
            self.metrics.feedback[one] += 1
        self.metrics.rows["/feedback"] += len(ids)
        self.listeners.wake()
        counts = {name: answers.count(name) for name in ("new", "repeated", "unknown")}
        return {"ids": ids, "answers": answers, **counts}

    async def _written(self, ids: list[str], columns: list[int]) -> list[str]:
        """Write labels down; they are written also if nobody waits for the answer any more."""
        try:
            async with asyncio.timeout(self.limits.seconds):
                written = asyncio.wrap_future(self.ledger.label(ids, columns))
                written.add_done_callback(seen)
                return await asyncio.shield(written)
        except TimeoutError:
            raise Refused.store_late(self.limits.seconds) from None

    def _labels_of(self, body: bytes) -> tuple[list[Any], list[str], list[int]]:
        """Return ids, as they came and as they are stored, and columns of labels."""
        check_lists(body, self.limits.rows)
        found = decode(body, FeedbackBody)
        check_repeated(body, ("ids", "labels"))
        n, spec = len(found.ids), self.loaded.rule.spec
        if n > self.limits.rows:
            raise Refused.large("the number of labels", self.limits.rows, f"{n:,}")
        if len(found.labels) != n:
            raise Refused.field("labels", f"have one entry for each of {n:,} ids", f"{len(found.labels):,}")
        if not n:
            return [], [], []
        try:
            columns = label_codes(found.labels, spec.classes, n, RowIndex(), by_position=True).tolist()
        except LabelError as error:
            raise unknown_label(error, found.labels, spec) from None
        return found.ids, stored_names(found.ids, n), columns

    async def reload(self) -> bool:
        """Load the files anew; requests that are worked on end with the rule before. Return whether it succeeded."""
        async with self._loading:
            try:
                found = await self.in_thread(lambda: self.files.load(self.loaded))
                await self.in_thread(lambda: self.ledger.follow(found))
            except (RanksetError, OSError) as problem:
                error = FileError.missing(problem.filename) if isinstance(problem, FileNotFoundError) else problem
                self.failed = str(error)
                self.metrics.reloads["failed"] += 1
                log.error("the rule was not loaded anew, the one before is still served: %s", error)  # noqa: TRY400
                return False
        self.failed = None
        self.metrics.reloads["done"] += 1
        log.info("loaded anew: %r", found.rule)
        self._tell_few_rows()
        self.listeners.wake()
        return True

    def _tell_few_rows(self) -> None:
        """Log that labels are always in the sets because of too few calibration rows."""
        if self.loaded.few_rows is not None:
            log.warning("%s", self.loaded.few_rows)

    async def store_trouble(self) -> str | None:
        """Return what the store must do and does not; None if labels can be stored, or if there is no store."""
        return await self._looks.trouble()

    async def store_bytes(self) -> int:
        """Return the size of the store, of the last look if it does not answer."""
        return await self._looks.size()

    async def live(self) -> bytes:
        """Return the numbers of the live page."""
        self._loop = asyncio.get_running_loop()
        ledger, requests = self.ledger, self.metrics.now()

        def numbers() -> bytes:
            about: dict[str, Any] = {"store": ledger.store is not None, "troubles": self.troubles}
            return encoded(live_numbers(self.loaded, ledger.monitor, requests, **about))

        return await self.for_page(numbers)

    @property
    def troubles(self) -> list[str]:
        """What is wrong with the server itself, in sentences without texts of clients and names of files."""
        lost = 0 if self.ledger.store is None else self.ledger.store.lost
        few = self.loaded.few_rows is not None
        learning = self.ledger.learner.trouble or self.ledger.learner.unread
        found = {
            "The new rule was not loaded, so the rule before is served. The log says why.": self.failed,
            "The alarms could not learn from some rows. The log says why.": learning,
            f"Rows that could not be stored: {lost:,}.": lost,
            FEW_ROWS: few,
        }
        return [sentence for sentence, wrong in found.items() if wrong]

    def close(self) -> None:
        """Write everything that waits, and stop."""
        self.listeners.close()
        for pool in (self._pool, self._pages):
            ending = Thread(target=pool.shutdown, kwargs={"cancel_futures": True}, daemon=True)
            ending.start()
            ending.join(LONGEST_END)  # a database that hangs is not waited for
        self._looks.close()
        self.ledger.close()
