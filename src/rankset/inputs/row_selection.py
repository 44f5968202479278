"""Selections of rows: a slice, row numbers, or a boolean for every row."""

from typing import Any

import numpy as np

from rankset.errors import KindError, RowError
from rankset.inputs.matrix import is_masked
from rankset.inputs.row_index import is_default
from rankset.inputs.vocabulary import Codes


def row_number(row: int, n_rows: int) -> int:
    """Return the number of one of ``n_rows`` rows; negative numbers count from the end."""
    if not -n_rows <= row < n_rows:
        raise RowError.number(n_rows, row)
    return row % n_rows


def check_row_labels(rows: Any, index: Any, name: str = "rows") -> None:  # noqa: ANN401
    """Raise an error if a pandas Index of labels is passed as row numbers.

    ``index`` is that of the rows. If it is 0 … n-1, labels are row numbers.
    """
    labels = hasattr(rows, "get_indexer") and np.asarray(rows).dtype.kind != "b"
    if labels and index is not None and not is_default(index):
        raise KindError.row_labels(name, rows)


def selected_rows(rows: object, n_rows: int, index: object = None) -> Codes:
    """Return the numbers of the selected rows out of ``n_rows``, whose pandas index is ``index``."""
    if isinstance(rows, slice):
        return np.arange(*rows.indices(n_rows))
    check_row_labels(rows, index)
    if is_masked(rows):
        raise KindError.rows(rows)
    try:
        array = np.asarray(rows)
    except ValueError:
        raise KindError.rows("lists of different lengths") from None
    if array.ndim == 1 and array.size == 0 and array.dtype.kind != "b":
        return np.arange(0)
    if array.ndim == 1 and array.dtype.kind == "b":
        if len(array) != n_rows:
            raise RowError.mask(n_rows, len(array))
        return array.nonzero()[0]
    if array.ndim > 1 or array.dtype.kind not in "iu":
        raise KindError.rows(rows)
    for number in (array.min(), array.max()):
        row_number(int(number), n_rows)
    return np.atleast_1d(array.astype(np.int64)) % n_rows
