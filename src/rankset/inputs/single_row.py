"""Rows that come without a matrix around them: one row, or a list of series."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankset.inputs import frames, tensors
from rankset.inputs.row_index import index_of, is_default

NUMBERS = "fiub"
"""Kinds of arrays of numbers."""


def as_rows(values: Any) -> Any:  # noqa: ANN401
    """Return one row as rows with one entry, and everything else as it is.

    One row is an array, a tensor, a list or a tuple of K numbers, a dictionary of numbers by class name, or a series of
    numbers whose index has the class names.
    """
    if isinstance(values, Mapping):
        return values if any(map(_holds_several, values.values())) else [dict(values)]
    if isinstance(values, list | tuple | np.ndarray):
        one = np.ndim(values) == 1 if isinstance(values, np.ndarray) else True
        return _as_row(values, values) if one and len(values) and not _holds_several(values[0]) else values
    if _is_named(values):
        return _as_frame([values])
    return values if frames.is_frame(values) else _as_row(_numbers(values), values)


def _numbers(values: Any) -> Any:  # noqa: ANN401
    """Return what a series, a tensor or another sequence of numbers holds; None for anything else."""
    if hasattr(values, "to_numpy"):
        return values.to_numpy()
    if isinstance(values, array | range | memoryview):
        return values
    return tensors.unwrap(values) if getattr(values, "ndim", 0) == 1 else None


def with_names(values: Any) -> Any:  # noqa: ANN401
    """Return a list of series whose index has the class names as a frame, and everything else as it is."""
    return _as_frame(values) if isinstance(values, list | tuple) and values and _is_named(values[0]) else values


def _holds_several(value: object) -> bool:
    """Return whether an entry is a row, or a column, and no number."""
    return not isinstance(value, str | bytes) and (hasattr(value, "__len__") and getattr(value, "ndim", 1) > 0)


def _is_named(values: Any) -> bool:  # noqa: ANN401
    """Return whether ``values`` is a pandas series with names, not only numbers, in its index."""
    names = index_of(values)
    return names is not None and hasattr(values, "to_frame") and values.ndim == 1 and not is_default(names)


def _as_frame(rows: Any) -> Any:  # noqa: ANN401
    """Return series as the rows of a frame, whose columns have their names."""
    import pandas as pd

    return pd.concat([row.to_frame().T for row in rows]).infer_objects()


def _as_row(numbers: Any, values: Any) -> Any:  # noqa: ANN401
    """Return ``numbers`` as a matrix with one row; if they are no numbers, return ``values`` as they are."""
    try:
        row = np.asarray(numbers)
    except (ValueError, TypeError, OverflowError):
        return values
    if row.ndim != 1 or row.size == 0 or _holds_several(row[0]):
        return values
    if row.dtype.kind in NUMBERS:
        return row[np.newaxis]
    return [list(row)] if row.dtype.kind == "O" else values
