"""Ids of rows of a stream: they find the row of a label that comes later."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankset.errors import RuleError
from rankset.inputs.per_row import names_per_row, whole_of_text
from rankset.inputs.row_index import RowIndex

MOST_BITS = 1024


def row_names(ids: Any, n_rows: int) -> list[object]:  # noqa: ANN401
    """Return one name per row; "7", "7.0" and 7 are the same, because files may hold any of them.

    Raises an error if two are equal.
    """
    found = [_plain(name) for name in names_per_row(ids, n_rows, RowIndex(), name="ids").tolist()]
    if len(set(found)) < len(found):
        seen: set[object] = set()
        raise RuleError.row_twice(next(name for name in found if name in seen or seen.add(name)))  # type: ignore[func-returns-value]
    return found


def _plain(name: object) -> object:
    """Return an id as a text or a Python number; raise an error for an integer that files cannot hold."""
    if isinstance(name, str):
        return whole_of_text(name)
    if isinstance(name, np.floating):
        name = float(name)
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    if isinstance(name, int) and name.bit_length() > MOST_BITS:
        raise RuleError.long_id(MOST_BITS)
    return name
