"""Rows with few columns, read column by column: NumPy takes long for short rows. All results are as by rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.grid import on_grid
from rankset.core.scratch import scratch

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

FEW = 32
"""Number of columns up to which reading by columns is faster."""


def are_few(values: NDArray[Any]) -> bool:
    """Return whether rows (n, K) should be read by columns."""
    return values.shape[1] <= FEW


def largest(values: NDArray[Any]) -> tuple[Ints, NDArray[Any]]:
    """Return the first column of the largest entry of each row, and this entry.

    >>> [part.tolist() for part in largest(np.array([[0.2, 0.4, 0.4], [0.6, 0.3, 0.1]]))]
    [[1, 0], [0.4, 0.6]]
    """
    columns = _columns(values)
    tops = columns.max(axis=0)
    hits = np.equal(columns, tops, out=scratch(columns.shape, np.bool_)).view(np.uint8)
    hits *= np.arange(len(columns), 0, -1, dtype=np.uint8)[:, np.newaxis]
    return len(columns) - hits.max(axis=0).astype(np.int64), tops


def counts(values: NDArray[Any], entries: NDArray[Any]) -> tuple[Bytes, Bytes]:
    """Return how many entries of each row reach the one in ``entries`` (n,), and how many equal it."""
    reached, equal = np.zeros(len(values), dtype=np.uint8), np.zeros(len(values), dtype=np.uint8)
    mask = np.empty(len(values), dtype=np.bool_)
    for column in _columns(values):
        reached += np.greater_equal(column, entries, out=mask).view(np.uint8)
        equal += np.equal(column, entries, out=mask).view(np.uint8)
    return reached, equal


def sums_of_reaching(values: NDArray[Any], entries: NDArray[Any]) -> tuple[NDArray[np.float64], Bytes]:
    """Return the sum of the entries of each row that reach the one in ``entries`` (n,), and how many equal it.

    Sums are on the grid of ``on_grid``, and exact for rows of probabilities.
    """
    totals, equal = np.zeros(len(values)), np.zeros(len(values), dtype=np.uint8)
    mask = np.empty(len(values), dtype=np.bool_)
    for column in _columns(values):
        rounded = on_grid(column.astype(np.float64))
        rounded *= np.greater_equal(column, entries, out=mask)
        totals += rounded
        equal += np.equal(column, entries, out=mask).view(np.uint8)
    return totals, equal


def _columns(values: NDArray[Any]) -> NDArray[Any]:
    """Return the columns (K, n), each contiguous; valid until the next call."""
    columns = scratch(values.shape[::-1], values.dtype, "columns")
    columns[:] = values.T
    return columns
