"""The one thread of a store that writes: what has come since the last commit is committed together."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any

from rankset.errors import StorageError
from rankset.serving.storage.pieces import Batch, Job, Row, divided, share_of, weight

DELAY = 0.1
"""Seconds after which predictions are written, at the latest."""
PAUSE = 1.0
"""Seconds until predictions that could not be written are tried again."""
MOST_ROWS = 20_000
"""Most predictions that wait to be written."""
MOST_BYTES = 64 << 20
"""Most bytes of predictions that wait to be written."""
MOST_JOBS = 10_000
"""Most calls that wait for their commit."""
AT_ONCE = 2_000
"""Most predictions in one commit, unless a call waits for one."""

PATIENCE = 10.0
"""Seconds that closing waits for a database that does not answer."""
TRIES = 100
"""Most times that a batch is divided to find what the store refuses."""

log = logging.getLogger("rankset.serving")


class Writer:
    """A thread with a bounded queue.

    ``write`` commits rows and runs jobs. ``idle`` is called after every commit, and returns the seconds until it must
    be called again at the latest. A commit writes about ``step`` bytes to the log at most, and predictions
    wait that take ``most`` bytes of the file.
    """

    def __init__(
        self,
        where: str,
        write: Callable[[Batch], list[Any]],
        idle: Callable[[], float],
        *,
        step: float = math.inf,
        most: float = math.inf,
    ) -> None:
        self.where, self._write, self._idle = where, write, idle
        self._step, self._most, self._weigh = step, most, weight if most == math.inf else share_of
        self._said = ""
        self._end = 0.0
        self.lost = 0
        self.hangs = False
        """Whether the thread did not end when the store was closed."""
        self._begun: list[Batch] = []
        self._done = 0
        self.trouble: StorageError | None = None
        self._rows: deque[Row] = deque()
        self._jobs: list[Job] = []
        self._bytes = 0
        self._closing = False
        self._due = 0.0
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="rankset store", daemon=True)
        self._thread.start()

    def add(self, rows: Sequence[Row]) -> None:
        """Take rows that are written soon; those that are too many are lost and counted."""
        with self._news:
            if self._closing:
                self.lost += len(rows)
                return
            if not self._rows:
                self._due = time.monotonic() + DELAY
            for row in rows:
                if len(self._rows) >= MOST_ROWS or self._bytes >= min(MOST_BYTES, self._most):
                    self.lost += 1
                else:
                    self._rows.append(row)
                    self._bytes += self._weigh(row)
            if len(rows) == len(self._rows) or len(self._rows) >= AT_ONCE:
                self._news.notify()

    def check_open(self) -> None:
        """Raise an error if the store was closed."""
        if self._closing:
            raise StorageError.store_closed(self.where)

    def submit(self, job: Job) -> Future[Any]:
        """Take a job, which is done in the next commit together with all rows that have come before it."""
        with self._news:
            if self._closing:
                raise StorageError.store_closed(self.where)
            if len(self._jobs) >= MOST_JOBS:
                raise StorageError.store_busy(self.where, MOST_JOBS)
            self._jobs.append(job)
            self._news.notify()
        return job.answer

    def drop(self, count: int) -> None:
        """Count rows as lost whose ids belong to rows that are stored already."""
        self._lose(count)
        log.warning("%s: %d predictions were not stored: their ids are those of earlier rows", self.where, count)

    def _lose(self, count: int) -> None:
        with self._news:
            self.lost += 0 if self.hangs else count  # all were counted when the thread was given up

    def close(self) -> None:
        """Write what waits, and end the thread; give up if the database does not answer."""
        with self._news:
            self._closing = True
            self._news.notify()
        self.hangs = self.hangs and self._thread.is_alive()
        if threading.current_thread() is self._thread:
            return
        done = -1
        while self._thread.is_alive() and self._done != done and not self.hangs:
            done = self._done
            self._thread.join(PATIENCE)
        if self._thread.is_alive() and not self.hangs:
            with self._news:
                self.hangs = True
            self._give_up()

    def _run(self) -> None:
        while True:
            batch = self._next()
            closing = self._closing
            if (batch.rows or batch.jobs) and not self._commit(batch) and closing:
                self._give_up()
            if closing and not self._rows and not self._jobs:
                return
            try:
                self._end = time.monotonic() + self._idle()
            except Exception as error:  # noqa: BLE001 - the thread must go on
                self._failed(error)
                self._end = time.monotonic() + PAUSE

    def _next(self) -> Batch:
        """Wait for rows that are due, or jobs, and return them."""
        with self._news:
            while (wait := min(self._until_due(), self._end - time.monotonic())) > 0:
                self._news.wait(wait)
            rows = [self._rows.popleft() for _ in range(self._count_due())]
            self._bytes -= sum(map(self._weigh, rows))
            jobs = [job for job in self._jobs if job.answer.set_running_or_notify_cancel()]
            self._jobs = []
            self._due = time.monotonic() + DELAY
        return Batch(rows, jobs)

    def _until_due(self) -> float:
        """Return the seconds until something must be written."""
        if self._jobs or self._closing or (len(self._rows) >= AT_ONCE and self.trouble is None):
            return 0.0
        return self._due - time.monotonic() if self._rows else math.inf

    def _count_due(self) -> int:
        """Return how many rows are written now: all of them if somebody waits, none if they are not due."""
        if self._jobs or self._closing:
            return len(self._rows)
        return min(AT_ONCE, len(self._rows)) if self._until_due() <= 0 else 0

    def _commit(self, batch: Batch) -> bool:
        """Write a batch in parts and tell those who wait; rows stay in the queue if the store may take them later.

        If the store refuses a part for good, it is divided, so that only the row that is refused is lost.
        """
        parts, tries = deque(divided(batch, self._step)), TRIES
        while parts:
            part = parts.popleft()
            self._begun = [part, *parts]
            told = self._commit_part(part)
            self._done += 1
            if told is None:
                continue
            tries -= 1
            halves = part.halves()
            if told.try_again or (halves and tries <= 0):
                self._leave([part, *parts], told)
                return False
            parts.extendleft(reversed(halves))
            if not halves:
                self._refuse(part, told)
        self._begun = []
        if tries == TRIES:
            self._said = ""
        return True

    def _commit_part(self, part: Batch) -> StorageError | None:
        """Write a part and tell those who wait, or return why it cannot be written."""
        try:
            answers = self._write(part)
        except Exception as error:  # noqa: BLE001 - whatever it is, callers must be told and the thread must go on
            return self._failed(error)
        self.trouble = None
        for job, answer in zip(part.jobs, answers, strict=True):
            self._finish(job, answer)
        return None

    def _leave(self, parts: list[Batch], told: StorageError) -> None:
        """Put rows back that may be written later, and tell those who wait that nothing of theirs was."""
        rows = [row for part in parts for row in part.rows]
        self._begun = []
        self._put_back(rows if told.try_again else [])
        self._lose(0 if told.try_again else len(rows))
        for job in (job for part in parts for job in part.jobs):
            _tell(job, told)

    def _refuse(self, part: Batch, told: StorageError) -> None:
        """Count a row as lost that the store does not take, or tell who waits."""
        self._lose(len(part.rows))
        for job in part.jobs:
            _tell(job, told)

    def _finish(self, job: Job, answer: object) -> None:
        """Do what comes after the commit, and give the answer."""
        try:
            _tell(job, answer if job.after is None else job.after())
        except Exception as error:  # noqa: BLE001
            _tell(job, self._failed(error))

    def _failed(self, error: Exception) -> StorageError:
        """Log an error when it begins, and return it."""
        told = error if isinstance(error, StorageError) else StorageError.store_failed(self.where, repr(error))
        if self._said != str(told):
            log.warning("%s", told)
            self._said = str(told)
        self.trouble = told
        return told

    def _put_back(self, rows: list[Row]) -> None:
        """Put rows back at the front of the queue, to be tried again after a pause; the first ones may be lost."""
        with self._news:
            if self.hangs:
                return
            free = MOST_ROWS - len(self._rows)
            kept = rows[max(0, len(rows) - free) :] if free > 0 else []
            self._rows.extendleft(reversed(kept))
            self._bytes += sum(map(self._weigh, kept))
            self.lost += len(rows) - len(kept)
            self._due = time.monotonic() + PAUSE

    def _give_up(self) -> None:
        """Count what waits as lost, because the store is being closed and cannot be written."""
        with self._news:
            begun, self._begun = self._begun, []
            count = len(self._rows) + sum(len(part.rows) for part in begun)
            self.lost += count
            self._rows.clear()
            jobs, self._jobs = self._jobs, []
        said = "may not be stored" if self.hangs else "were not stored"
        log.warning("%s: %d predictions %s, because the store was closed before", self.where, count, said)
        for job in jobs:
            if job.answer.set_running_or_notify_cancel():
                _tell(job, StorageError.store_closed(self.where))
        for job in (job for part in begun for job in part.jobs):
            _tell(job, StorageError.store_hangs(self.where, PATIENCE))


def _tell(job: Job, answer: object) -> None:
    """Give the answer to a job, or its error, unless it was given up."""
    with suppress(InvalidStateError):
        if isinstance(answer, Exception):
            job.answer.set_exception(answer)
        else:
            job.answer.set_result(answer)
