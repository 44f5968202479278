"""How old and how large a store may be, and which rows are dropped first."""

from __future__ import annotations

import logging
import math
import time
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, select

from rankset.errors import InputError, StorageError, StoreFull
from rankset.serving.storage.database import Database
from rankset.serving.storage.pieces import FEW, PAGE, Batch, cost_of
from rankset.serving.storage.tables import feedback, predictions

LEAST_BYTES = 1 << 20
"""Smallest limit of bytes."""
START, END = 0.9, 0.8
"""Shares of the limit: a store that is larger than the first when it is opened becomes smaller than the second."""
SHARE = 10
"""A commit has this part of the limit, at most."""
MOST_STEP = 8 << 20
"""Bytes of the largest commit."""
INTERVAL = 60.0
"""Seconds between two looks at the age of rows, at most, and between two looks at a size that is slow to find."""
PAUSE = 10.0
"""Seconds until the next try, if the store stays too large."""
STEP = 1000
"""Most rows that are dropped in one transaction."""
AT_ONCE = 0.1
"""Seconds after which labels that wait come first."""

log = logging.getLogger("rankset.serving")


class Limits:
    """Age and size of a store.

    Rows older than ``max_age`` seconds are dropped, with and without a label. If the store is too large, the oldest
    rows are dropped: of rows with a label and rows without, those of which there are more. So many rows without a label
    do not push out those with one, which a new rule needs, and new rows are always taken.
    """

    def __init__(self, database: Database, max_age: float | None, max_bytes: int | None) -> None:
        if max_age is not None and not 0 < max_age < math.inf:
            raise InputError("max_age", "be a number of seconds above 0", repr(max_age))
        if max_bytes is not None and not max_bytes >= LEAST_BYTES:
            raise InputError("max_bytes", f"be at least {LEAST_BYTES:,}", repr(max_bytes))
        self._database, self._max_age, self._max_bytes = database, max_age, max_bytes
        self._interval = INTERVAL if max_age is None else max(1.0, min(INTERVAL, max_age / 10))
        self._look, self._again = time.monotonic() + self._interval, 0.0  # a clock that is wrong may be set right soon
        self._dropping = self._told = False
        self._shrinking = max_bytes is not None and not database.shared and self._size() > START * max_bytes
        self._seen = 0
        self.rows = self.labels = 0

    def count(self) -> None:
        """Count rows and labels."""
        with self._database.reading() as connection:
            self.rows, self.labels = (
                connection.execute(select(func.count()).select_from(table)).scalar_one()
                for table in (predictions, feedback)
            )

    @property
    def step(self) -> float:
        """Bytes of the log of one commit, at most about."""
        if self._max_bytes is None or self._database.shared:
            return math.inf
        return min(MOST_STEP, self._max_bytes // SHARE)

    @property
    def waiting(self) -> float:
        """Bytes of rows that may wait: more would push each other out of the store."""
        return math.inf if self._max_bytes is None or self._database.shared else self._max_bytes

    def drop_for(self, batch: Batch) -> None:
        """Drop rows until a batch can be written within the limit; raise an error if it cannot."""
        if self._max_bytes is None or self._database.shared:
            return
        cost = cost_of(batch, self.rows, self.labels)
        if cost.log + cost.file + 2 * self.step > self._max_bytes:
            raise StorageError.store_too_small(self._database.where, self._max_bytes)
        most = self._max_bytes - int(self.step)  # the rest is for dropping rows
        file, logged = self._database.sizes()
        if file + 2 * logged + cost.log + cost.file <= most:
            return
        end = time.monotonic() + AT_ONCE
        try:
            while not self._fits(cost.log, cost.file, most):
                if self._shrinking and time.monotonic() >= end:
                    return
        except StorageError:
            file, logged = self._database.sizes()
            if batch.rows or file + 2 * logged + cost.log + cost.file > self._max_bytes:
                raise  # labels alone may use what is kept for dropping rows

    def _fits(self, log: int, growth: int, most: int) -> bool:
        """Return whether a commit fits into the limit; if it does not, drop some rows."""
        database = self._database
        if not database.empty_log():
            raise StoreFull.held(database.where)
        file, free = database.sizes()[0], database.free()
        needed = growth - free
        if file + log + max(0, needed) <= most:
            return True
        if file + log > most and free:
            database.cut(file + log - most)
            return database.sizes()[0] + log + growth <= most
        share = (max(needed, file + log - most) + self.step) / max(1, file - free)
        if not self._drop(self._oldest(min(self._step_rows, max(1, int(self.rows * share))))):
            raise StorageError.store_too_small(database.where, self._max_bytes or most)
        return False

    @property
    def _step_rows(self) -> int:
        """How many rows are dropped in one transaction: about one page changes for each, and more are freed."""
        if self._shrinking or self.step == math.inf:
            return STEP
        return int(min(STEP, max(1, self.step // PAGE - FEW // 2)))

    def keep(self) -> float:
        """Drop some of what is too old or too much, and return the seconds until this should be called again."""
        now = time.monotonic()
        due = now >= self._look
        if due:
            self._look, self._seen = now + self._interval, 0
            self._database.keep_claim()
            if self._database.shared:
                self.count()
            if self._drop_old(now + AT_ONCE):
                self._look = now
        if self._max_bytes is not None and now >= self._again and (due or not self._database.shared):
            self._keep_small(now, self._max_bytes)
        return 0.0 if self._dropping else max(0.0, self._look - time.monotonic())

    def prune(self) -> int:
        """Drop what is too old or too much, and return the number of rows."""
        before = self.rows
        self._drop_old(math.inf)
        if self._max_bytes is not None:
            self._drop_much(math.inf, self._max_bytes)
        return before - self.rows

    def _keep_small(self, now: float, most: int) -> None:
        """Begin to drop rows if the store is too large, or go on with it."""
        if not self._dropping and (not (self._shrinking or self._database.shared) or self._size() <= START * most):
            self._shrinking = False
            return
        self._dropping = self._drop_much(now + AT_ONCE, most)
        if not self._dropping and self._size() > START * most:
            self._again = time.monotonic() + PAUSE  # somebody reads, and holds what was dropped

    def _size(self) -> int:
        return self._database.live_size() if self._database.shared else self._database.size()

    def _drop_old(self, until: float) -> bool:
        """Drop rows that are too old, for some time, and return whether there are more."""
        if self._max_age is None:
            return False
        before = predictions.c.time < time.time() - self._max_age
        self._tell_of_many(before)
        old = select(predictions.c.number).where(before).limit(self._step_rows)
        part = dropped = self._drop(old)
        while part == self._step_rows and time.monotonic() < until:
            part = self._drop(old)
        if dropped:
            self._database.give_back()
        return part == self._step_rows

    def _tell_of_many(self, old: ColumnElement[bool]) -> None:
        """Log it once if most rows are too old: the clock may be wrong."""
        if self._told or not self.rows:
            return
        with self._database.reading() as connection:
            count = connection.execute(select(func.count()).select_from(predictions).where(old)).scalar_one()
        if 2 * count > self.rows:
            self._told = True
            log.warning("%s: %d of %d rows are too old and are dropped", self._database.where, count, self.rows)

    def _drop_much(self, until: float, most: int) -> bool:
        """Drop the oldest rows until the store is small enough, for some time, and return whether there are more."""
        self._database.give_back()
        while self.rows and self._database.live_size() > END * most:
            if not self._drop(self._oldest(min(self._step_rows, max(1, self.rows // 30)))):
                return False
            self._database.give_back()
            if time.monotonic() >= until:
                return True
        return False

    def _oldest(self, count: int) -> Select[Any]:
        """Return the oldest rows of those with and those without a label, whichever are more."""
        if 2 * self.labels > self.rows:
            return select(feedback.c.row.label("number")).order_by(feedback.c.number).limit(count)
        free = ~select(feedback.c.number).where(feedback.c.row == predictions.c.number).exists()
        wanted = select(predictions.c.number).where(predictions.c.number > self._seen, free)
        return wanted.order_by(predictions.c.number).limit(count)

    def _drop(self, wanted: Select[Any]) -> int:
        """Delete rows and their labels, and return how many."""
        with self._database.writing() as connection:
            numbers = list(connection.execute(wanted).scalars())
            if not numbers:
                return 0
            labels = connection.execute(delete(feedback).where(feedback.c.row.in_(numbers))).rowcount
            rows: int = connection.execute(delete(predictions).where(predictions.c.number.in_(numbers))).rowcount
        if not labels:
            self._seen = max(numbers)  # rows before it have labels
        self.rows -= rows
        self.labels -= labels
        return rows
