"""How old and how large a store may be, and which rows are dropped first."""

from __future__ import annotations

import math
import time
from typing import Any

from sqlalchemy import Select, delete, func, select

from rankset.errors import InputError
from rankset.serving.database import Database
from rankset.serving.tables import feedback, predictions

LEAST_BYTES = 1 << 20
"""Smallest limit of bytes."""
START, END = 0.9, 0.8
"""Shares of the limit: above the first, rows are dropped until the second."""
INTERVAL = 60.0
"""Seconds between two looks at the age of rows, at most, and between two looks at a size that is slow to find."""
PAUSE = 10.0
"""Seconds until the next try, if the store stays too large."""
STEP = 1000
"""Most rows that are dropped in one transaction."""
AT_ONCE = 0.1
"""Seconds after which labels that wait come first."""


class Limits:
    """Age and size of a store.

    Rows older than ``max_age`` seconds are dropped, with and without a label. If the store is too large, the oldest
    rows are dropped: of rows with a label and rows without, those of which there are more. So many rows without a label
    do not push out those with one, which a new rule needs, and new rows always find room.
    """

    def __init__(self, database: Database, max_age: float | None, max_bytes: int | None) -> None:
        if max_age is not None and not 0 < max_age < math.inf:
            raise InputError("max_age", "be a number of seconds above 0", repr(max_age))
        if max_bytes is not None and not max_bytes >= LEAST_BYTES:
            raise InputError("max_bytes", f"be at least {LEAST_BYTES:,}", repr(max_bytes))
        self._database, self._max_age, self._max_bytes = database, max_age, max_bytes
        self._interval = INTERVAL if max_age is None else max(1.0, min(INTERVAL, max_age / 10))
        self._look, self._again = 0.0, 0.0
        self._dropping = False
        self._seen = 0
        self.rows = self.labels = 0

    def count(self) -> None:
        """Count rows and labels."""
        with self._database.reading() as connection:
            self.rows, self.labels = (
                connection.execute(select(func.count()).select_from(table)).scalar_one()
                for table in (predictions, feedback)
            )

    def keep(self) -> float:
        """Drop some of what is too old or too much, and return the seconds until this should be called again."""
        now = time.monotonic()
        due = now >= self._look
        if due:
            self._look, self._seen = now + self._interval, 0
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
        if not self._dropping and self._size() <= START * most:
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
        old = select(predictions.c.number).where(predictions.c.time < time.time() - self._max_age).limit(STEP)
        part = dropped = self._drop(old)
        while part == STEP and time.monotonic() < until:
            part = self._drop(old)
        if dropped:
            self._database.give_back()
        return part == STEP

    def _drop_much(self, until: float, most: int) -> bool:
        """Drop the oldest rows until the store is small enough, for some time, and return whether there are more."""
        self._database.give_back()
        while self.rows and self._database.live_size() > END * most:
            if not self._drop(self._oldest(min(STEP, max(1, self.rows // 30)))):
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
