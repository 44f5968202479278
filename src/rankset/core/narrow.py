"""Rows with few columns, ranked column by column: every step works on vectors with one entry per row.

NumPy sorts many short rows slowly. A sorting network compares fixed pairs of columns instead, and each comparison is a
minimum and a maximum of two vectors. Cells are kept rank by rank: first those of rank 1 of all rows, then rank 2 …
"""

import math
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rankset.core.cells import Cells, Floats, Ints
from rankset.core.grid import FOUR
from rankset.core.lazy import lazy
from rankset.core.ranking import descending_bits, rank_columns
from rankset.core.rows import Rows
from rankset.core.scratch import scratch

MOST_COLUMNS = 16
FEW_ROWS = 1500
"""Fewer rows are sorted by NumPy: a network takes some 60 calls."""
COLUMN_BITS = np.array(4, dtype=np.uint64)
COLUMNS = np.array(MOST_COLUMNS - 1, dtype=np.uint64)


class NarrowCells(Cells):
    """The most likely cells of rows with few columns, rank by rank."""

    def __init__(self, rows: Rows, rank: float, mass: float, cutoffs: NDArray[Any] | None) -> None:
        """Make the cells within the limits of ``ranking.likeliest``, and others of the same ranks."""
        self.rows = rows
        self._by_column = scratch(rows.probs.shape[::-1], rows.probs.dtype, "by column")
        self._by_column[:] = rows.probs.T
        order = _ranked_columns(self._by_column)
        most = int(max(1, min(rank, len(order))))
        self._columns = order[:most]
        if mass < math.inf:
            self._keep_ranks(np.less_equal(self._masses[:-1].min(axis=1), mass))
        if cutoffs is not None:
            self._keep_ranks(np.logical_or.reduce(self._entries >= cutoffs, axis=1))
        self.size = self._columns.size

    def _keep_ranks(self, within: NDArray[np.bool_]) -> None:
        """Drop the last ranks if no cell of them is within the limits."""
        most = len(within) - int(within[::-1].argmax()) if within.any() else 1
        self._columns, self._entries = self._columns[:most], self._entries[:most]
        if "_masses" in self.__dict__:
            self._masses = self._masses[: most + 1]

    @lazy
    def _entries(self) -> NDArray[Any]:
        """The entries of the cells (ranks, n)."""
        n = self._columns.shape[1]
        places = np.multiply(self._columns, n, out=scratch(self._columns.shape, np.int64, "places"))
        places += np.arange(n)
        entries = scratch(self._columns.shape, self._by_column.dtype, "entries")
        return self._by_column.ravel().take(places, out=entries, mode="clip")  # other modes take more memory

    @lazy
    def _masses(self) -> Floats:
        """The mass before the first rank (0), before the second …, and up to the last (ranks + 1, n)."""
        self.rows.check_additive()
        masses = scratch((len(self._columns) + 1, self._columns.shape[1]), np.float64, "masses")
        masses[0] = 0
        masses[1:] = self._entries
        masses[1:] += FOUR
        masses[1:] -= FOUR
        for rank in range(2, len(masses)):
            masses[rank] += masses[rank - 1]
        return masses

    @lazy
    def row(self) -> Ints:
        return self._repeated(np.arange(self._columns.shape[1]), "row")

    @lazy
    def column(self) -> Ints:
        return self._columns.ravel()

    @lazy
    def prob(self) -> Floats:
        return self._repeated(self._entries, "prob", np.float64)

    @lazy
    def rank(self) -> Ints:
        return self._repeated(np.arange(1, len(self._columns) + 1)[:, np.newaxis], "rank")

    @property
    def mass(self) -> Floats:
        return self._masses[1:].ravel()

    @property
    def before(self) -> Floats:
        return self._masses[:-1].ravel()

    @lazy
    def top(self) -> Floats:
        return self._repeated(self.rows.top, "top")

    @lazy
    def second(self) -> Floats:
        return self._repeated(self.rows.second, "second")

    @lazy
    def total(self) -> Floats:
        return self._repeated(self.rows.total, "total")

    @lazy
    def entropy(self) -> Floats:
        return self._repeated(self.rows.entropy, "entropy")

    @lazy
    def noise(self) -> Floats:
        return self._repeated(self.rows.noise, "noise")

    def _repeated(self, values: NDArray[Any], slot: str, dtype: DTypeLike | None = None) -> NDArray[Any]:
        """Return ``values`` (n,), (ranks, 1) or (ranks, n) for all cells, rank by rank."""
        cells = scratch(self._columns.shape, dtype or values.dtype, slot)
        cells[:] = values
        return cells.ravel()

    def chosen(self, kept: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.int32]]:
        """Return how many cells of each row are kept, and their columns row after row, most likely first."""
        inside = kept.reshape(self._columns.shape)
        sizes = np.add.reduce(inside.view(np.int8), axis=0, dtype=np.int8).astype(np.int64)
        return sizes, _row_by_row(self._columns, inside)


def most_likely_columns(entries: NDArray[Any], sizes: Ints) -> NDArray[np.int32]:
    """Return the ``sizes`` most likely columns of each row of ``entries`` (n, K), row after row in ranking order."""
    columns = _ranked_columns(np.ascontiguousarray(entries.T))
    return _row_by_row(columns, np.arange(len(columns))[:, np.newaxis] < sizes)


def _row_by_row(columns: Ints, inside: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return those of the ``columns`` (ranks, n) that are ``inside``, row after row."""
    places = np.ascontiguousarray(inside.T).ravel().nonzero()[0]
    return np.ascontiguousarray(columns.astype(np.int8).T).ravel().take(places).astype(np.int32)


def _ranked_columns(by_column: NDArray[Any]) -> Ints:
    """Return the columns of each row in ranking order (K, n), of entries (K, n); valid until the next call.

    Entry and column are packed into one word, so that smaller words come first in the ranking. A float64 loses its last
    four bits in this; rows in which that may matter are ranked again.
    """
    if by_column.shape[1] < FEW_ROWS:
        return np.ascontiguousarray(np.argsort(-by_column.T, axis=1, kind="stable").T)
    words = _words(by_column)
    vectors, spare = list(words), scratch(words.shape[1:], np.uint64, "spare")
    for first, second in network(len(words)):
        a, b = vectors[first], vectors[second]
        vectors[first], spare = np.minimum(a, b, out=spare), a
        np.maximum(a, b, out=b)
    columns = scratch(words.shape, np.int64, "ranked columns")
    for vector, column in zip(vectors, columns, strict=True):
        np.bitwise_and(vector, COLUMNS, out=column.view(np.uint64))
    if by_column.dtype == np.float64:
        alike = np.zeros(words.shape[1], dtype=np.bool_)
        for vector, following in pairwise(vectors):
            alike |= (vector ^ following) <= COLUMNS
        _correct(columns, by_column, np.flatnonzero(alike))
    return columns


def _correct(columns: Ints, by_column: NDArray[Any], rows: Ints) -> None:
    """Rank those of some ``rows`` again in which an entry comes after a smaller one."""
    if len(rows):
        entries = np.take_along_axis(by_column[:, rows], columns[:, rows], axis=0)
        wrong = rows[(entries[1:] > entries[:-1]).any(axis=0)]
        columns[:, wrong] = rank_columns(np.ascontiguousarray(by_column[:, wrong].T)).T


def _words(by_column: NDArray[Any]) -> NDArray[np.uint64]:
    """Return entry and column in one word."""
    words = scratch(by_column.shape, np.uint64, "words")
    bits = descending_bits(by_column)
    if by_column.dtype == np.float64:
        np.bitwise_and(bits, ~COLUMNS, words)
    else:
        np.left_shift(bits, COLUMN_BITS, words, dtype=np.uint64)
    words |= np.arange(len(words), dtype=np.uint64)[:, np.newaxis]
    return words


@cache
def network(n_columns: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs of columns to compare, in order: Batcher's odd-even merge sort.

    >>> network(3)
    ((0, 1), (0, 2), (1, 2))
    """
    pairs, size = [], 1
    while size < n_columns:
        step = size
        while step >= 1:
            for start in range(step % size, n_columns - step, 2 * step):
                for offset in range(min(step, n_columns - start - step)):
                    first = start + offset
                    if first // (2 * size) == (first + step) // (2 * size):
                        pairs.append((first, first + step))
            step //= 2
        size *= 2
    return tuple(pairs)
