"""How old and how large a store may be, and which rows are dropped first."""

from __future__ import annotations

import time

from sqlalchemy import ColumnElement, Select, delete, func, select

from rankset.errors import InputError
from rankset.serving.database import Database
from rankset.serving.tables import feedback, predictions

LEAST_BYTES = 1 << 20
"""Smallest limit of bytes."""
START, END = 0.9, 0.8
"""Shares of the limit: above the first, rows are dropped until the second."""
INTERVAL = 60.0
"""Seconds between two looks at the age of rows, at most."""
STEP = 1000
"""Most rows that are dropped in one transaction."""


class Limits:
    """Age and size of a store.

    Rows older than ``max_age`` seconds are dropped, with and without a label. If the store is too large, the oldest rows
    are dropped: of rows with a label and rows without, those of which there are more. So labels, which are needed for a
    new rule, are not pushed out by many rows that have none, and new rows always find room.
    """

    def __init__(self, database: Database, max_age: float | None, max_bytes: int | None) -> None:
        if max_age is not None and not max_age > 0:
            raise InputError("max_age", "be a number of seconds above 0", repr(max_age))
        if max_bytes is not None and not max_bytes >= LEAST_BYTES:
            raise InputError("max_bytes", f"be at least {LEAST_BYTES:,}", repr(max_bytes))
        self._database, self._max_age, self._max_bytes = database, max_age, max_bytes
        self.interval = INTERVAL if max_age is None else max(1.0, min(INTERVAL, max_age / 10))
        self._next = 0.0
        self._seen = 0
        self.rows = self.labels = 0

    def count(self) -> None:
        """Count rows and labels."""
        with self._database.reading() as connection:
            self.rows, self.labels = (
                connection.execute(select(func.count()).select_from(table)).scalar_one()
                for table in (predictions, feedback)
            )

    def keep(self) -> None:
        """Drop what is too old or too much, where it is time to look."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self.interval
            self._drop_old()
        if self._max_bytes is not None and self._database.size() > START * self._max_bytes:
            self._drop_much()

    def prune(self) -> int:
        """Drop what is too old or too much, and return the number of rows."""
        return self._drop_old() + self._drop_much()

    def _drop_old(self) -> int:
        """Drop rows that are too old."""
        if self._max_age is None:
            return 0
        old = predictions.c.time < time.time() - self._max_age
        dropped = part = self._drop(select(predictions.c.number).where(old).limit(STEP))
        while part == STEP:
            part = self._drop(select(predictions.c.number).where(old).limit(STEP))
            dropped += part
        if dropped:
            self._database.give_back()
        return dropped

    def _drop_much(self) -> int:
        """Drop the oldest rows until the store is small enough."""
        if self._max_bytes is None:
            return 0
        self._database.give_back()
        dropped = 0
        while self.rows and self._database.live_size() > END * self._max_bytes:
            self.count()
            step = min(STEP, max(1, self.rows // 50))
            part = self._drop(self._oldest(step))
            if not part:
                break
            dropped += part
            self._database.give_back()
        return dropped

    def _oldest(self, count: int) -> Select[tuple[int]]:
        """Return the oldest rows of those with and those without a label, whichever are more."""
        if 2 * self.labels > self.rows:
            return select(feedback.c.row).order_by(feedback.c.number).limit(count)
        free = ~select(feedback.c.number).where(feedback.c.row == predictions.c.number).exists()
        wanted = select(predictions.c.number).where(predictions.c.number > self._seen, free)
        return wanted.order_by(predictions.c.number).limit(count)

    def _drop(self, wanted: Select[tuple[int]]) -> int:
        """Delete rows and their labels, and return how many."""
        with self._database.writing() as connection:
            numbers = list(connection.execute(wanted).scalars())
            chosen: ColumnElement[bool] = predictions.c.number.in_(numbers)
            labels = connection.execute(delete(feedback).where(feedback.c.row.in_(numbers))).rowcount if numbers else 0
            rows = connection.execute(delete(predictions).where(chosen)).rowcount if numbers else 0
        self.rows -= rows
        self.labels -= labels
        return rows
