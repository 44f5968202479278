"""Rows of a store in their order, read in parts: memory stays constant, and no read lasts long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select

from rankset.errors import StorageError
from rankset.serving.storage.database import Database
from rankset.serving.storage.rows import Feedback, Labelled, Prediction, prediction_of
from rankset.serving.storage.tables import feedback, predictions

PART = 1000
"""Rows that are read at once."""
Numbered = tuple[int, Any]
"""The number of a row, and the row or its label."""


MOST = 2**63 - 1
"""Largest number that a database takes."""


class Reader:
    """Reads the rows of a store: ``width`` numbers per row, labels of ``n_columns`` classes."""

    def __init__(self, database: Database, width: int, n_columns: int) -> None:
        self._database, self._width, self._n_columns = database, width, n_columns

    def labelled(self, since: float | None, last: int | None) -> Iterator[Labelled]:
        """Return labels with their rows in the order of labels; ``since`` and ``last`` are about rows."""
        wanted = [] if since is None else [predictions.c.time >= since]
        if last is not None and last < 1:
            return
        if last is not None and (first := self._first_of(last, wanted)) is not None:
            wanted.append(predictions.c.number >= first)
        for _, pair in self._labels(wanted):
            yield pair

    def history(self, since: float | None) -> Iterator[Prediction | Labelled]:
        """Return rows and labels in order of time; a label never comes before its row."""
        rows = self._predictions([] if since is None else [predictions.c.time >= since])
        labels = self._labels([] if since is None else [feedback.c.time >= since])
        row, label = next(rows, None), next(labels, None)
        while row is not None or label is not None:
            if label is None or (row is not None and not _comes_first(label, row)):
                assert row is not None
                yield row[1]
                row = next(rows, None)
            else:
                yield label[1]
                label = next(labels, None)

    def counts(self, since: float | None) -> dict[tuple[bool | None, bool], int]:
        """Return how many rows there are, by what triage said and whether they have a label."""
        answered = feedback.c.number.is_not(None).label("answered")
        joined = select(predictions.c.accepted, answered, func.count().label("count"))
        joined = joined.select_from(predictions.outerjoin(feedback)).group_by(predictions.c.accepted, answered)
        if since is not None:
            joined = joined.where(predictions.c.time >= since)
        with self._database.reading() as connection:
            found = connection.execute(joined).all()
        return {(one.accepted, bool(one.answered)): one[2] for one in found}

    def _first_of(self, last: int, wanted: list[ColumnElement[bool]]) -> int | None:
        """Return the number of the first of the last rows with a label; None if there are fewer.

        Not of the last labels: labels of easy rows may come sooner, so their order must not choose rows.
        """
        numbers = select(predictions.c.number).join_from(feedback, predictions).where(*wanted)
        with self._database.reading() as connection:
            found: int | None = connection.execute(
                numbers.order_by(predictions.c.number.desc()).offset(min(last, MOST) - 1).limit(1)
            ).scalar()
        return found

    def _predictions(self, wanted: list[ColumnElement[bool]]) -> Iterator[Numbered]:
        """Return rows in the order in which they came."""
        number = predictions.c.number
        return self._parts(select(predictions).where(*wanted), number, "number", self._prediction)

    def _labels(self, wanted: list[ColumnElement[bool]]) -> Iterator[Numbered]:
        """Return labels with their rows in the order in which labels came."""
        number, moment = feedback.c.number.label("label_number"), feedback.c.time.label("label_time")
        chosen = select(predictions, feedback.c.label, moment, number).join_from(feedback, predictions).where(*wanted)
        return self._parts(chosen, feedback.c.number, "label_number", self._pair)

    def _parts(
        self, wanted: Select[Any], order: ColumnElement[int], name: str, make: Callable[[Any], Any]
    ) -> Iterator[Numbered]:
        """Read in parts, each from where the one before ended."""
        statement = wanted.order_by(order).limit(PART)
        part = self._part(statement)
        while part:
            for row in part:
                yield row["number"], self._checked(make, row)
            part = self._part(statement.where(order > part[-1][name])) if len(part) == PART else []

    def _part(self, statement: Select[Any]) -> list[dict[str, Any]]:
        with self._database.reading() as connection:
            return [dict(row) for row in connection.execute(statement).mappings()]

    def _checked(self, make: Callable[[Any], Any], row: dict[str, Any]) -> Any:
        """Return what a row means; raise an error if it cannot be right."""
        try:
            return make(row)
        except (ValueError, TypeError, KeyError) as error:
            raise StorageError.store_damaged(self._database.where, str(error)) from None

    def _prediction(self, row: dict[str, Any]) -> Prediction:
        return prediction_of(row, self._width, self._n_columns)

    def _pair(self, row: dict[str, Any]) -> Labelled:
        found = self._prediction(row)
        if type(row["label"]) is not int or not 0 <= row["label"] < self._n_columns:
            raise ValueError("a label in it is not one of its rule")
        return Labelled(found, Feedback(found.id, row["label"], float(row["label_time"])))


def _comes_first(label: Numbered, row: Numbered) -> bool:
    """Whether a label comes before a row: it is older, and its own row has come."""
    return bool(label[0] < row[0] and label[1].feedback.time <= row[1].time)
