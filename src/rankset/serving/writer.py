"""The one thread of a store that writes: what has come since the last commit is committed together."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from rankset.errors import StorageError

DELAY = 0.1
"""Seconds after which predictions are written, at the latest."""
PAUSE = 1.0
"""Seconds until predictions that could not be written are tried again."""
MOST_ROWS = 20_000
"""Most predictions that wait to be written."""
MOST_BYTES = 64 << 20
"""Most bytes of outputs that wait to be written."""
MOST_JOBS = 10_000
"""Most calls that wait for their commit."""
AT_ONCE = 2_000
"""Most predictions in one commit, unless a call waits for one."""

Row = dict[str, Any]
log = logging.getLogger("rankset.serving")


@dataclass(frozen=True)
class Job:
    """Something that is done in the next commit, or after it, and whose caller waits."""

    run: Callable[[Connection], Any] | None = None
    after: Callable[[], Any] | None = None
    answer: Future[Any] = field(default_factory=Future)


@dataclass(frozen=True)
class Batch:
    """What is committed together."""

    rows: list[Row]
    jobs: list[Job]


class Writer:
    """A thread with a bounded queue.

    ``write`` commits rows and runs jobs, ``idle`` is called after every commit and at least every ``interval`` seconds.
    """

    def __init__(
        self, where: str, write: Callable[[Batch], list[Any]], idle: Callable[[], None], interval: float
    ) -> None:
        self.where, self._write, self._idle, self._interval = where, write, idle, interval
        self.lost = 0
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
        """Take rows that are written soon; those for which there is no room are lost and counted."""
        with self._news:
            if self._closing:
                self.lost += len(rows)
                return
            if not self._rows:
                self._due = time.monotonic() + DELAY
            for row in rows:
                if len(self._rows) >= MOST_ROWS or self._bytes >= MOST_BYTES:
                    self.lost += 1
                else:
                    self._rows.append(row)
                    self._bytes += len(row["outputs"])
            if len(rows) == len(self._rows) or len(self._rows) >= AT_ONCE:
                self._news.notify()

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

    def close(self) -> None:
        """Write what waits, and end the thread."""
        with self._news:
            self._closing = True
            self._news.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while True:
            batch = self._next()
            ended = self._closing
            if batch.rows or batch.jobs:
                self._commit(batch, last=ended)
            if ended and not self._rows and not self._jobs:
                return
            try:
                self._idle()
            except Exception as error:  # noqa: BLE001 - the thread must go on
                self._failed(error)

    def _next(self) -> Batch:
        """Wait for rows that are due, or jobs, and return them."""
        with self._news:
            end = time.monotonic() + self._interval
            while not self._jobs and not self._closing:
                now = time.monotonic()
                until = min(end, self._due) if self._rows else end
                if now >= until or (len(self._rows) >= AT_ONCE and self.trouble is None):
                    break
                self._news.wait(until - now)
            due = self._jobs or self._closing or len(self._rows) >= AT_ONCE or time.monotonic() >= self._due
            count = len(self._rows) if self._jobs else min(AT_ONCE, len(self._rows)) if due else 0
            rows = [self._rows.popleft() for _ in range(count)]
            self._bytes -= sum(len(row["outputs"]) for row in rows)
            jobs, self._jobs = self._jobs, []
            self._due = time.monotonic() + DELAY
        return Batch(rows, jobs)

    def _commit(self, batch: Batch, *, last: bool) -> None:
        """Write a batch and tell those who wait; rows stay in the queue if the store may take them later."""
        try:
            answers = self._write(batch)
        except Exception as error:  # noqa: BLE001 - whatever it is, callers must be told and the thread must go on
            told = self._failed(error)
            self._keep(batch.rows, later=isinstance(error, StorageError) and not last)
            for job in batch.jobs:
                job.answer.set_exception(told)
            return
        self.trouble = None
        for job, answer in zip(batch.jobs, answers, strict=True):
            self._finish(job, answer)

    def _finish(self, job: Job, answer: object) -> None:
        """Do what comes after the commit, and give the answer."""
        if job.after is None:
            job.answer.set_result(answer)
            return
        try:
            job.answer.set_result(job.after())
        except Exception as error:  # noqa: BLE001
            job.answer.set_exception(self._failed(error))

    def _failed(self, error: Exception) -> Exception:
        """Log an error when it begins, and return it."""
        told = error if isinstance(error, StorageError) else StorageError.store_failed(self.where, repr(error))
        if self.trouble is None or str(self.trouble) != str(told):
            log.warning("%s", told)
        self.trouble = told
        return told

    def _keep(self, rows: list[Row], *, later: bool) -> None:
        """Put rows back that can be written later, at the front of the queue; the others are lost."""
        with self._news:
            room = max(0, MOST_ROWS - len(self._rows)) if later else 0
            kept = rows[len(rows) - room :] if room < len(rows) else rows
            self._rows.extendleft(reversed(kept))
            self._bytes += sum(len(row["outputs"]) for row in kept)
            self.lost += len(rows) - len(kept)
            self._due = time.monotonic() + PAUSE
