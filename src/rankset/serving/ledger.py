"""``Ledger``: rows and labels go into the store and to the monitor in one order, and a thread learns from them."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from rankset.errors import StorageError
from rankset.rules.rule import Rule
from rankset.serving.following import labels_after, last_label, served_since
from rankset.serving.loaded import Loaded
from rankset.serving.monitor import Monitor
from rankset.serving.predictions import Answered
from rankset.serving.refusals import Refused
from rankset.serving.rows import Feedback, Labelled, Prediction
from rankset.serving.store import Store
from rankset.streams.waiting import LastNames

log = logging.getLogger("rankset.serving")

STEP = 1e-6
"""Seconds between two rows at least, so that their times put them into order."""
IDS = 100_000
"""So many ids of rows are known; a row with one of them is refused."""
PART = 500
"""Rows that are written together. Others wait meanwhile."""
LONGEST = 60.0
"""Seconds that a new rule waits for large requests, and large requests for the monitor, at most."""
BEHIND = 20_000
"""If the monitor has so many rows to learn from, large requests wait."""


class Ledger:
    """Where rows and labels are written down. Methods can be called by all threads."""

    def __init__(self, loaded: Loaded, store: Store | None) -> None:
        self.store, self._lock = store, Lock()
        self._ids, self._last = LastNames(IDS), 0.0
        since = 0.0 if store is None else served_since(store, loaded.digest, self._times()[0])
        self.monitor = Monitor(loaded.rule, float(loaded.alpha), since, loaded.usual)
        self.loaded, self._label = loaded, 0
        self._unfinished, self._learned = 0, 0.0
        self._told: set[str] = set()
        self._queue: SimpleQueue[Any] = SimpleQueue()
        self._behind, self._room = 0, Event()
        self._room.set()
        self.trouble: str | None = None
        self.unread: str | None = None
        """Why labels that are stored could not be read to learn from them; they are read with the next ones."""
        if store is not None:
            self._remember_again(store)
        self._thread = Thread(target=self._learn, name="rankset monitor", daemon=True)
        self._thread.start()

    def _remember_again(self, store: Store) -> None:
        """Learn what the store holds, as it was learned when it came."""
        part: list[Prediction | Labelled] = []
        for one in store.history():
            if isinstance(one, Prediction):
                self._ids.add(one.id)
                self._last = max(self._last, one.time)
            part.append(one)
            if len(part) == PART:
                self.monitor.learn(part)
                part = []
        self.monitor.learn(part)
        self._label, self._learned = last_label(store), self._last

    def _times(self, count: int = 1) -> list[float]:
        """Return the times of some rows, each after that of all rows before."""
        first = max(time.time(), self._last + STEP)
        found = [first + place * STEP for place in range(count)]
        self._last = found[-1] if found else self._last
        return found

    def take(self, answered: Answered, loaded: Loaded) -> bool:
        """Write rows down; return False if another rule is served by now, so that they must be predicted again.

        Raise ``Refused`` if one was predicted before.
        """
        asked, n = answered.asked, len(answered.asked.names)
        stored = self._stored(asked.names) if asked.given else ()
        with self._lock:
            if loaded is not self.loaded:
                return False
            if asked.given:
                known = (row for row, name in enumerate(asked.names) if name in self._ids or name in stored)
                if (row := next(known, None)) is not None:
                    raise Refused.known_id(asked.ids[row], row)
            for name in asked.names:
                self._ids.add(name)
            self._put(answered.predictions(0, self._times(min(n, PART))))
            self._unfinished += n > PART
        if n > PART:
            self._put_rest(answered)
        return True

    def _stored(self, names: Sequence[str]) -> Collection[str]:
        """Return which ids the store has, if there were so many that they are not all known without it."""
        if self.store is None or len(self._ids) < IDS or self.store.trouble is not None:
            return ()
        try:
            return self.store.known(names)
        except StorageError:  # predictions go on; a row whose id is stored already is counted as lost
            return ()

    def _put_rest(self, answered: Answered) -> None:
        """Write many rows in parts, as fast as the store and the monitor take them."""
        n = len(answered.asked.names)
        try:
            for start in range(PART, n, PART):
                self._room.wait(LONGEST)
                if self.store is not None:
                    with suppress(StorageError):  # rows that are lost are counted
                        self.store.check()
                with self._lock:
                    self._put(answered.predictions(start, self._times(min(PART, n - start))))
        finally:
            with self._lock:
                self._unfinished -= 1

    def _put(self, rows: Sequence[Prediction]) -> None:
        if not rows:
            return
        if self.store is not None:
            self.store.remember(rows)
        self._behind += len(rows)
        if self._behind > BEHIND:
            self._room.clear()
        self._queue.put(rows)

    def label(self, ids: Sequence[str], columns: Sequence[int]) -> Future[list[str]]:
        """Write labels down; the answers come when they are on the disk."""
        assert self.store is not None
        with self._lock:
            now = max(time.time(), self._last)
            found = self.store.send([Feedback(*one, now) for one in zip(ids, columns, strict=True)])
        found.add_done_callback(self._labels_came)
        return found

    def _labels_came(self, written: Future[list[str]]) -> None:
        if not written.cancelled() and written.exception() is None:
            self._queue.put("labels")

    def follow(self, loaded: Loaded) -> None:
        """Serve another rule from now on; if it is the same one, its numbers and alarms go on.

        Rows that come from now on are those of the new rule, so nothing is switched while a large request is written.
        """
        if self.store is not None:
            self.store.check()  # it must be able to keep since when the rule is served
        end = time.monotonic() + LONGEST
        while not self._switched(loaded, late=time.monotonic() > end):
            time.sleep(0.02)

    def _switched(self, loaded: Loaded, *, late: bool) -> bool:
        """Serve another rule, if no large request is being written or it is too late to wait."""
        with self._lock:
            if self._unfinished and not late:
                return False
            same = loaded.digest == self.loaded.digest
            self.loaded, now = loaded, self._times()[0]
            if not same:
                self._queue.put((loaded.rule, now, loaded.usual))
        if not same and self.store is not None:
            served_since(self.store, loaded.digest, now)
        return True

    def settle(self, seconds: float = 10.0) -> bool:
        """Wait until everything that was written down has been learned; return whether it was."""
        done = Event()
        self._queue.put(done)
        return done.wait(seconds)

    def close(self) -> None:
        """Learn what waits, write what waits, and end the thread."""
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join(10.0)
        if self.store is not None:
            self.store.close()

    def _learn(self) -> None:
        """Learn from what comes, until None comes."""
        self._tell_alarms()
        while (news := self._queue.get()) is not None:
            try:
                self._learn_one(news)
                self._tell_alarms()
            except StorageError as error:
                self.unread = f"{error}"
                log.warning("labels are learned later, because they could not be read: %s", error)
            except Exception as error:
                self.trouble = f"{type(error).__name__}: {error}"
                log.exception("the alarms could not learn from some rows")

    def _learn_one(self, news: Any) -> None:
        if isinstance(news, Event):
            news.set()
        elif news == "labels":
            self._learn_labels()
        elif isinstance(news, tuple) and isinstance(news[0], Rule):
            self.monitor.follow(*news)
        else:
            self.monitor.predicted(news)
            self._learned = news[-1].time
            with self._lock:
                self._behind -= len(news)
                if self._behind <= BEHIND:
                    self._room.set()

    def _tell_alarms(self) -> None:
        """Log alarms that were raised since the last look."""
        raised = set(self.monitor.raised)
        for one in self.monitor.watching.alarms if raised - self._told else ():
            if one.name in raised - self._told:
                log.warning("%s", one)
        self._told = raised

    def _learn_labels(self) -> None:
        """Learn from all labels that came since the last look."""
        assert self.store is not None
        part: list[Labelled] = []
        for number, pair in labels_after(self.store, self._label):
            if pair.prediction.time > self._learned:
                break  # its row waits in the queue, and after it the news of this label
            self._label = number
            part.append(pair)
            if len(part) == PART:
                self.monitor.labelled(part)
                part = []
        self.monitor.labelled(part)
        self.unread = None
