"""Cells of the true labels of rows that can have several of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.cells import Cells, Floats, Ints, LabelCells
from rankset.core.lazy import lazy
from rankset.core.rows import Rows

AT_ONCE = 1 << 20
"""Entries of rows that are repeated at a time, once for each of their labels."""


class TrueCells(Cells):
    """The cells of any labels, in the order of their rows."""

    row: Ints = np.zeros(0, dtype=np.int64)
    column: Ints = np.zeros(0, dtype=np.int64)

    def __init__(self, rows: Rows, row: Ints, column: Ints) -> None:
        """Make the cells of the labels in these rows and columns."""
        self.rows = rows
        self.size = len(row)
        self.row, self.column = row, column

    @lazy
    def prob(self) -> Floats:
        return self.rows.probs[self.row, self.column].astype(np.float64)

    @lazy
    def rank(self) -> Ints:
        return self._counted(lambda cells: cells.rank, np.int64)

    @lazy
    def mass(self) -> Floats:
        return self._counted(lambda cells: cells.mass, np.float64)

    def _counted(self, feature: Callable[[LabelCells], NDArray[Any]], dtype: type) -> NDArray[Any]:
        """Return a feature that is counted in the whole row of each label."""
        answer: NDArray[Any] = np.empty(self.size, dtype=dtype)
        step = max(1, AT_ONCE // self.rows.probs.shape[1])
        for start in range(0, self.size, step):
            some = slice(start, start + step)
            repeated = replace(self.rows, probs=self.rows.probs[self.row[some]])
            answer[some] = feature(LabelCells(repeated, self.column[some]))
        return answer
