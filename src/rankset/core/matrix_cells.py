"""All cells of a block, in column order or ranked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.cells import Cells, Floats, Ints, RankedCells
from rankset.core.grid import GRID
from rankset.core.lazy import lazy
from rankset.core.rows import Rows

BITS_OF_FOUR = int(np.float64(4.0).view(np.int64))
"""float64 has a spacing of 2**-50 between 4 and 8, so the bits of p + 4 count these units."""


class WholeRows(Cells):
    """Features of whole rows that are the same for all cells of a row."""

    @lazy
    def row(self) -> Ints:
        return self._repeated(np.arange(len(self.rows.probs)))

    @property
    def top(self) -> Floats:
        return self._repeated(self.rows.top)

    @property
    def second(self) -> Floats:
        return self._repeated(self.rows.second)

    @property
    def total(self) -> Floats:
        return self._repeated(self.rows.total)

    @property
    def entropy(self) -> Floats:
        return self._repeated(self.rows.entropy)

    @property
    def noise(self) -> Floats:
        return self._repeated(self.rows.noise)

    def _repeated(self, feature: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(feature, self.rows.probs.shape[1])


class RankedMatrix(WholeRows, RankedCells):
    """All cells of every row, row after row in ranking order."""

    @lazy
    def rank(self) -> Ints:
        n_rows, n_columns = self.rows.probs.shape
        return np.tile(np.arange(1, n_columns + 1), n_rows)

    @lazy
    def mass(self) -> Floats:
        if self._known.units is not None or not self.rows.summed:
            return super().mass
        units = ((self.prob + 4.0).view(np.int64) - BITS_OF_FOUR).reshape(self.rows.probs.shape)
        return units.cumsum(axis=1, out=units).ravel().astype(np.float64) * GRID


class MatrixCells(WholeRows):
    """All cells of every row, row after row in column order; rows are ranked only if ranks or masses are asked for."""

    flat = slice(None)
    """Position of each cell in the memory of its block."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.size = rows.probs.size

    @lazy
    def column(self) -> Ints:
        n_rows, n_columns = self.rows.probs.shape
        return np.tile(np.arange(n_columns), n_rows)

    @lazy
    def prob(self) -> Floats:
        return self.rows.probs.ravel().astype(np.float64)

    @lazy
    def rank(self) -> Ints:
        return self._in_place(self._ranked.rank)

    @lazy
    def mass(self) -> Floats:
        return self._in_place(self._ranked.mass)

    @lazy
    def _ranked(self) -> RankedMatrix:
        return RankedMatrix(self.rows)

    def _in_place(self, feature: NDArray[Any]) -> NDArray[Any]:
        """Return a feature of the ranked cells in column order."""
        answer = np.empty_like(feature)
        answer[self._ranked.flat] = feature
        return answer
