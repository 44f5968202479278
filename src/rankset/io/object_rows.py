"""Columns of JSON objects, label: number: rows as dictionaries in files (jsonl, parquet, Arrow)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import FileError, Place, located
from rankset.inputs import named_rows
from rankset.io.memory_budget import Budget

ENTRY_BYTES = 200
"""Most bytes that Python takes for an entry of an object."""


def is_objects(column: Any) -> bool:
    """Whether an Arrow column holds objects; such with very many names are kept as texts of JSON."""
    import pyarrow as pa

    if pa.types.is_struct(column.type):
        return True
    first = next((value for value in column[:1].to_pylist()), None) if pa.types.is_string(column.type) else None
    return isinstance(first, str) and first.startswith("{") and first.endswith("}")


def matrix_of_objects(
    path: str, name: str, column: Any, budget: Budget, kind: str, wanted: Sequence[str] | None
) -> tuple[NDArray[np.float64], list[str]]:
    """Return the matrix of a column of objects, and the names of its columns: ``wanted``, or all in natural order.

    An entry that is missing or null counts as one that its row lacks: probability 0, or -inf for other kinds.
    """
    budget.check(2 * column.nbytes + ENTRY_BYTES * _entries(column))
    rows = [object_entries(path, name, row, number) for number, row in enumerate(column.to_pylist())]
    n_classes = len({label for row in rows for label in row}) if wanted is None else len(wanted)
    budget.check(2 * column.nbytes + ENTRY_BYTES * sum(map(len, rows)) + 8 * len(rows) * n_classes)
    with located(Place(file=path)):
        matrix, names = named_rows.match_columns(rows, wanted, kind, f"column {name!r}")
    return matrix, [str(label) for label in names]


def missing_value(kind: str) -> float:
    """The number of a class that a row lacks."""
    return 0.0 if kind == "probs" else -np.inf


def _entries(column: Any) -> int:
    """Number of entries of all objects, missing ones included."""
    import pyarrow as pa

    if pa.types.is_struct(column.type):
        return len(column) * (1 + column.type.num_fields)
    return len(column) + column.nbytes // 4


def object_entries(path: str, name: str, row: Any, number: int) -> dict[str, Any]:
    """Return an object without the entries that are null."""
    try:
        read = json.loads(row) if isinstance(row, str) else row
    except ValueError:
        read = None
    if not isinstance(read, dict):
        raise FileError.no_object(path, name, number)
    return {label: value for label, value in read.items() if value is not None}
