"""Rows of a store in their order, read in parts: memory stays constant, and no read lasts long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import ColumnElement, Select, select

from rankset.errors import StorageError
from rankset.serving.database import Database
from rankset.serving.rows import Feedback, Labelled, Prediction, prediction_of
from rankset.serving.tables import feedback, predictions

PART = 1000
"""Rows that are read at once."""

TIMES = feedback.c.time.label("label_time")
NUMBERS = feedback.c.number.label("label_number")


class Reader:
    """Reads the rows of a store; ``width`` numbers per row, labels of ``n_columns`` classes."""

    def __init__(self, database: Database, width: int, n_columns: int) -> None:
        self._database, self._width, self._n_columns = database, width, n_columns

    def predictions(self, since: float | None) -> Iterator[tuple[int, Prediction]]:
        """Return all rows with their numbers, in the order in which they came."""
        wanted = select(predictions)
        if since is not None:
            wanted = wanted.where(predictions.c.time >= since)
        for row in self._rows(wanted, predictions.c.number):
            yield row["number"], self._checked(self._prediction, row)

    def labelled(self, since: float | None = None, after: int | None = None) -> Iterator[tuple[int, Labelled]]:
        """Return all labels with their rows, and the numbers of these, in the order in which the labels came.

        ``since`` is the earliest time of a label, ``after`` the number of the last label that is left out.
        """
        wanted = select(predictions, feedback.c.label, TIMES, NUMBERS).join_from(feedback, predictions)
        if since is not None:
            wanted = wanted.where(feedback.c.time >= since)
        if after is not None:
            wanted = wanted.where(feedback.c.number > after)
        for row in self._rows(wanted, feedback.c.number):
            yield row["number"], self._checked(self._pair, row)

    def history(self, since: float | None) -> Iterator[Prediction | Labelled]:
        """Return rows and labels in order of time; a label never comes before its row."""
        rows, labels = self.predictions(since), self.labelled(since)
        row, label = next(rows, None), next(labels, None)
        while row is not None or label is not None:
            if label is None or (row is not None and not _comes_first(label, row)):
                assert row is not None
                yield row[1]
                row = next(rows, None)
            else:
                yield label[1]
                label = next(labels, None)

    def _rows(self, wanted: Select[Any], order: ColumnElement[int]) -> Iterator[dict[str, Any]]:
        """Read in parts, each from where the one before ended."""
        name = "label_number" if order is feedback.c.number else "number"
        statement = wanted.order_by(order).limit(PART)
        part = self._part(statement)
        while part:
            yield from part
            part = self._part(statement.where(order > part[-1][name])) if len(part) == PART else []

    def _part(self, statement: Select[Any]) -> list[dict[str, Any]]:
        with self._database.reading() as connection:
            return [dict(row) for row in connection.execute(statement).mappings()]

    def _checked(self, make: Callable[[dict[str, Any]], Any], row: dict[str, Any]) -> Any:
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


def _comes_first(label: tuple[int, Labelled], row: tuple[int, Prediction]) -> bool:
    """Whether a label comes before a row: it is older, and its own row has come."""
    return label[0] < row[0] and label[1].feedback.time <= row[1].time
