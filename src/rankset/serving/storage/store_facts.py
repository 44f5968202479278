"""What a store holds, for people: of which rule it is, how many rows and labels it has, and of which time."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select

from rankset.errors import StorageError
from rankset.rules import rule_file
from rankset.rules.spec import RuleSpec
from rankset.serving.storage.about import read_about, spec_of
from rankset.serving.storage.bounds import Bounds, bounds_in
from rankset.serving.storage.database import Database, open_database
from rankset.serving.storage.tables import feedback, predictions


@dataclass(frozen=True)
class StoreFacts:
    """A store that was only read. ``where`` is its path or URL, without a password.

    ``spec`` is None if its rule has a score or condition of one's own; ``kind`` and ``classes``, the names or their
    number, are known then, too. Times are ISO texts in UTC; None if there are no rows or labels. ``bounds`` are
    those of the last server.
    """

    where: str
    kind: str
    classes: list[Any] | int
    spec: RuleSpec | None
    rows: int
    labels: int
    first_row: str | None
    last_row: str | None
    last_label: str | None
    size: int
    bounds: Bounds


def read_facts(where: str | os.PathLike[str]) -> StoreFacts:
    """Read what a store holds; nothing is written to it. Raise ``StorageError`` if it is none."""
    with closing(open_database(where, None, read_only=True)) as database:
        kind, classes = _names(database)
        try:
            spec = spec_of(database)
        except StorageError as error:
            if error.expected != "know its rule":
                raise
            spec = None
        with database.reading() as connection:
            times = predictions.c.time
            rows, first, last = connection.execute(select(func.count(), func.min(times), func.max(times))).one()
            labels, label = connection.execute(select(func.count(), func.max(feedback.c.time))).one()
        dates = (_date(first), _date(last), _date(label))
        return StoreFacts(
            database.where, kind, classes, spec, rows, labels, *dates, database.size(), bounds_in(database)
        )


def _names(database: Database) -> tuple[str, list[Any] | int]:
    """Return the kind and the classes of a store."""
    about = read_about(database)
    kind, classes = about.get("kind"), about.get("classes")
    if not isinstance(kind, str) or kind not in rule_file.KINDS or not isinstance(classes, int | list):
        raise StorageError.store_damaged(database.where, "it does not say of which rule it is")
    return rule_file.KINDS[kind], classes


def _date(seconds: float | None) -> str | None:
    """Return a time as a text; None if it is none."""
    with suppress(TypeError, ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(float(seconds), UTC).isoformat(timespec="seconds")  # type: ignore[arg-type]
    return None
