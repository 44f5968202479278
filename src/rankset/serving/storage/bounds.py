"""The bounds with which a store was served last: a server that is told none drops no more than the one before it."""

from __future__ import annotations

import json
import math
import os
from contextlib import closing
from pathlib import Path

from sqlalchemy import select

from rankset.errors import StorageError
from rankset.serving.storage.about import read_entry, write_entry
from rankset.serving.storage.database import Database, open_database
from rankset.serving.storage.limits import LEAST_BYTES
from rankset.serving.storage.store import Store
from rankset.serving.storage.tables import predictions

NAME = "bounds"
"""Name of the entry."""
Bounds = dict[str, float | None]
"""``max_age`` and ``max_bytes`` of ``Store.open``."""


def last_bounds(where: str | os.PathLike[str]) -> Bounds | None:
    """Return the bounds with which a store was served last; None if it is new, without rows.

    A store that no server has had, such as one of ``Store.open``, has none of both. Raise ``StorageError`` if it cannot
    be read.
    """
    if "://" not in os.fspath(where) and not Path(where).exists():
        return None
    with closing(open_database(where, None, read_only=False)) as database:
        with database.reading() as connection:
            is_new = connection.execute(select(predictions.c.number).limit(1)).first() is None
        return None if is_new and read_entry(database, NAME) is None else bounds_in(database)


def bounds_in(database: Database) -> Bounds:
    """Return the bounds with which a store was served last, as ``last_bounds`` does."""
    text = read_entry(database, NAME)
    if text is None:
        return {"max_age": None, "max_bytes": None}
    try:
        age, size = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        age = size = math.nan
    if not (_is_bound(age, 0) and _is_bound(size, LEAST_BYTES)):
        raise StorageError.store_damaged(database.where, "it does not say how old and how large it may be")
    return {"max_age": age, "max_bytes": size}


def remember_bounds(store: Store, bounds: Bounds) -> None:
    """Write with which bounds a store is served."""
    write_entry(store._database, NAME, json.dumps([bounds["max_age"], bounds["max_bytes"]]))


def _is_bound(value: object, least: float) -> bool:
    """Return whether a value is no bound, or one that a store can have."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or (number and least <= value < math.inf and value > 0)  # type: ignore[operator]
