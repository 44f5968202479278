"""Labels of one call: which are new, which are there already, and which belong to no row."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from rankset.serving.storage.database import Database
from rankset.serving.storage.rows import Feedback
from rankset.serving.storage.tables import feedback, predictions

NEW, REPEATED, UNKNOWN = "new", "repeated", "unknown"
MOST_IDS = 500
"""Most ids in one statement."""


def write_labels(database: Database, connection: Connection, rows: Sequence[Feedback]) -> list[str]:
    """Write labels, and say of each what it is; the first label of a row stays."""
    numbers = numbers_of(connection, [row.id for row in rows])
    firsts: dict[str, Feedback] = {}
    for row in rows:
        firsts.setdefault(row.id, row)
    wanted = [row for row in rows if row.id in numbers and firsts[row.id] is row]
    written = _written(database, connection, wanted, numbers)
    return [_answer(row, numbers, written, first=firsts[row.id] is row) for row in rows]


def _answer(row: Feedback, numbers: dict[str, int], written: set[int], *, first: bool) -> str:
    if row.id not in numbers:
        return UNKNOWN
    return NEW if first and numbers[row.id] in written else REPEATED


def numbers_of(connection: Connection, names: Sequence[str]) -> dict[str, int]:
    """Return the numbers of rows that are stored, by id."""
    ids = list(set(names))
    found: dict[str, int] = {}
    for first in range(0, len(ids), MOST_IDS):
        chosen = predictions.c.id.in_(ids[first : first + MOST_IDS])
        rows_found = connection.execute(select(predictions.c.id, predictions.c.number).where(chosen))
        found |= {one.id: one.number for one in rows_found}
    return found


def _written(database: Database, connection: Connection, rows: Sequence[Feedback], numbers: dict[str, int]) -> set[int]:
    """Write labels, and return the numbers of the rows that had none."""
    if not rows:
        return set()
    values = [{"row": numbers[row.id], "label": int(row.label), "time": float(row.time)} for row in rows]
    statement = database.insert(feedback).on_conflict_do_nothing(index_elements=["row"])
    return set(connection.execute(statement.returning(feedback.c.row), values).scalars())
