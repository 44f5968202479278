"""The ranking of each row: columns from the largest entry down, equal ones from the left, sorting as few as it can."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[Any]
"""float32 or float64."""

NARROW = 48
FEW = 2048
"""Rows this short, and blocks of so few entries, are sorted whole by the plain stable sort: nothing is faster there."""


def first(values: Floats, m: int) -> Ints:
    """The columns of the ``m`` largest entries of each row (n, m), largest first.

    >>> first(np.array([[0.1, 0.5, 0.2, 0.2]]), 3)
    array([[1, 2, 3]])
    """
    n_rows, n_columns = values.shape
    if 2 * m > n_columns or n_columns <= NARROW or values.size <= FEW:
        return whole(values)[:, :m]
    last = np.partition(values, n_columns - m, axis=1)[:, n_columns - m, np.newaxis]
    inside = values >= last
    crowded = count(inside) > m
    if crowded.any():
        inside[crowded] = _leftmost(values[crowded], last[crowded], m)
    columns = np.flatnonzero(inside).reshape(n_rows, m) - n_columns * np.arange(n_rows)[:, np.newaxis]
    return np.take_along_axis(columns, whole(np.take_along_axis(values, columns, axis=1)), axis=1)


def whole(values: Floats) -> Ints:
    """The full ranking of each row."""
    if values.shape[1] <= NARROW or values.size <= FEW:
        return np.argsort(-values, axis=1, kind="stable")
    return _by_words(values) if values.dtype == np.float32 else _by_argsort(values)


def count(mask: NDArray[np.bool_]) -> Ints:
    """How many entries of each row are true: by bits, several times faster than summing booleans."""
    return np.bitwise_count(np.packbits(mask, axis=1)).sum(axis=1, dtype=np.int64)


def _leftmost(values: Floats, last: Floats, m: int) -> NDArray[np.bool_]:
    """The ``m`` largest entries where more than ``m`` reach ``last``: of those equal to it the leftmost."""
    above, equal = values > last, values == last
    room = m - count(above)
    return above | (equal & (equal.cumsum(axis=1) <= room[:, np.newaxis]))


def _by_words(values: NDArray[np.float32]) -> Ints:
    """float32 entries and their columns as one 64-bit word each, so that one plain sort settles both."""
    bits = (values + np.float32(0)).view(np.uint32)
    rising = bits ^ np.where(bits >> 31, np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
    words = (~rising).astype(np.uint64) << np.uint64(32)
    words |= np.arange(values.shape[1], dtype=np.uint64)
    words.sort(axis=1)
    return (words & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _by_argsort(values: NDArray[np.float64]) -> Ints:
    """A fast sort that scrambles ties, then the stable one for the rows that have any."""
    ranking = np.argsort(-values, axis=1)
    falling = np.take_along_axis(values, ranking, axis=1)
    tied = (falling[:, 1:] == falling[:, :-1]).any(axis=1)
    ranking[tied] = np.argsort(-values[tied], axis=1, kind="stable")
    return ranking
