"""``Store``: what a server has predicted and which labels came back, in SQLite or PostgreSQL."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Any, Self

from sqlalchemy import Connection, select

from rankset.core.arrays import is_whole
from rankset.errors import InputError, KindError, StorageError
from rankset.rules.rule import Rule
from rankset.serving import about
from rankset.serving.database import Database, open_database
from rankset.serving.limits import Limits
from rankset.serving.reading import Reader
from rankset.serving.rows import Feedback, Labelled, Prediction, check_id, columns_of
from rankset.serving.tables import feedback, predictions
from rankset.serving.writer import Batch, Job, Writer

__all__ = ["Feedback", "Labelled", "Prediction", "Store"]

NEW, REPEATED, UNKNOWN = "new", "repeated", "unknown"
MOST_IDS = 500
"""Most ids in one statement."""


class Store:
    """What a server has predicted, and which labels came back.

    Attributes
    ----------
    lost
        Number of predictions that could not be stored, because they came too fast or the store could not be written.
    rows, labels
        Number of rows in the store, and of those with a label.
    bytes
        Bytes that the store takes.
    """

    def __init__(self, database: Database, rule: Rule, limits: Limits, *, read_only: bool) -> None:
        self.where, self._database, self._limits = database.where, database, limits
        self._n_columns = rule.spec.n_columns
        self._width = 1 if rule.kind == "binary" else self._n_columns
        self._reader = Reader(database, self._width, self._n_columns)
        self._insert = database.insert(predictions).on_conflict_do_nothing(index_elements=["id"])
        about.check(database, rule.spec, read_only=read_only)
        limits.count()
        self._writer = None if read_only else Writer(self.where, self._write, limits.keep, limits.interval)

    @classmethod
    def open(
        cls,
        where: str | os.PathLike[str],
        *,
        rule: Rule,
        max_age: float | None = None,
        max_bytes: int | None = None,
        read_only: bool = False,
    ) -> Self:
        """Open a store, or make a new one."""
        if not isinstance(rule, Rule):
            raise KindError.argument("rule", "a Rule, as returned by calibrate", rule)
        database = open_database(where, max_bytes, read_only=read_only)
        try:
            return cls(database, rule, Limits(database, max_age, max_bytes), read_only=read_only)
        except BaseException:
            database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def remember(self, rows: Sequence[Prediction]) -> None:
        """Take rows that are written soon, at most 0.1 seconds later; the first row of an id stays."""
        self._writing().add([columns_of(row, self._width) for row in rows])

    def feedback(self, rows: Sequence[Feedback]) -> list[str]:
        """Store labels, and return when they are on the disk."""
        return self.send(rows).result()

    def send(self, rows: Sequence[Feedback]) -> Future[list[str]]:
        """Do the same, and return at once what ``feedback`` will return."""
        for row in rows:
            check_id(row.id)
            if not is_whole(row.label) or not 0 <= row.label < self._n_columns:
                raise InputError("labels", f"be columns from 0 to {self._n_columns - 1}", repr(row.label))
        given = list(rows)
        return self._writing().submit(Job(lambda connection: self._label(connection, given)))

    def labelled(self, since: float | None = None) -> Iterator[Labelled]:
        """Return rows with their labels in the order in which labels came; ``since`` is the earliest time of a label."""
        return (pair for _, pair in self._reader.labelled(since))

    def history(self, since: float | None = None) -> Iterator[Prediction | Labelled]:
        """Return rows (Prediction) and labels with their rows (Labelled) in order of time."""
        return self._reader.history(since)

    def prune(self) -> int:
        """Drop what is too old or too much, and return the number of dropped rows."""
        return self._writing().submit(Job(after=self._limits.prune)).result()

    def check(self) -> None:
        """Raise an error if the store cannot be written; everything that waits is written, too."""
        self._writing().submit(Job(self._probe)).result()

    def close(self) -> None:
        """Write what waits, and close the store."""
        if self._writer is not None:
            self._writer.close()
        self._database.close()

    @property
    def lost(self) -> int:
        """Number of predictions that could not be stored."""
        return 0 if self._writer is None else self._writer.lost

    @property
    def bytes(self) -> int:
        """Bytes that the store takes."""
        return self._database.size()

    @property
    def rows(self) -> int:
        """Number of rows in the store."""
        return self._limits.rows

    @property
    def labels(self) -> int:
        """Number of rows with a label."""
        return self._limits.labels

    def _writing(self) -> Writer:
        if self._writer is None:
            raise StorageError.store_not_for_writing(self.where)
        return self._writer

    def _write(self, batch: Batch) -> list[Any]:
        """Write rows and do jobs in one transaction, and return the answers of the jobs."""
        with self._database.writing() as connection:
            added = connection.execute(self._insert, batch.rows).rowcount if batch.rows else 0
            answers = [None if job.run is None else job.run(connection) for job in batch.jobs]
        self._limits.rows += max(added, 0)
        self._limits.labels += sum(answer.count(NEW) for answer in answers if isinstance(answer, list))
        return answers

    def _label(self, connection: Connection, rows: list[Feedback]) -> list[str]:
        """Write labels, and say of each what it is."""
        numbers: dict[str, int] = {}
        ids = list({row.id for row in rows})
        for first in range(0, len(ids), MOST_IDS):
            wanted = predictions.c.id.in_(ids[first : first + MOST_IDS])
            numbers |= {
                name: number
                for name, number in connection.execute(select(predictions.c.id, predictions.c.number).where(wanted))
            }
        firsts = {row.id: row for row in reversed(rows) if row.id in numbers}
        values = [
            {"row": numbers[row.id], "label": int(row.label), "time": float(row.time)}
            for row in rows
            if firsts.get(row.id) is row
        ]
        written: set[int] = set()
        if values:
            statement = self._database.insert(feedback).on_conflict_do_nothing(index_elements=["row"])
            written = set(connection.execute(statement.returning(feedback.c.row), values).scalars())
        return [
            UNKNOWN
            if row.id not in numbers
            else NEW
            if firsts[row.id] is row and numbers[row.id] in written
            else REPEATED
            for row in rows
        ]

    def _probe(self, connection: Connection) -> None:
        """Write the time, to see whether the store can be written."""
        values = {"name": "checked", "value": str(time.time())}
        statement = self._database.insert(about.about).values(values)
        connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"value": values["value"]}))
