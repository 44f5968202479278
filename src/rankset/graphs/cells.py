"""All cells of every row, in ranking order, as tensors: what scores read (``core.cells`` in nodes)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankset.core.lazy import lazy
from rankset.core.rows import UNITS
from rankset.graphs.nodes import Nodes, Value
from rankset.graphs.ranking import ranked

FOUR = 4.0
"""Adding and subtracting it rounds to multiples of 2**-50, as ``core.grid`` does."""


class GraphCells:
    """Features of all (row, label) pairs, each a tensor that broadcasts to (n, K), most likely label first.

    A feature becomes nodes when it is asked for. ``rows`` are entries (n, K) after the transform of the score.
    """

    def __init__(self, nodes: Nodes, rows: Value, n_columns: int) -> None:
        self.nodes, self.rows, self.n_columns = nodes, rows, n_columns
        self._ranked, self.column = ranked(nodes, rows, n_columns)

    @property
    def rank(self) -> NDArray[np.int64]:
        """The ranks 1, 2, 3, … (1, K)."""
        return np.arange(1, self.n_columns + 1)[np.newaxis]

    @property
    def first(self) -> NDArray[np.bool_]:
        """Which cells are the most likely ones of their rows (1, K)."""
        return self.rank == 1

    @lazy
    def prob(self) -> Value:
        """Entry of the label (n, K)."""
        return self.nodes.cast(self._ranked, np.float64)

    @lazy
    def mass(self) -> Value:
        """Entry of the label and of all labels before it (n, K); sums are exact, whatever their order."""
        on_grid = self.nodes.add("Sub", self.nodes.add("Add", self.prob, FOUR), FOUR)
        return self.nodes.add("CumSum", on_grid, np.array(1))

    @lazy
    def top(self) -> Value:
        """Largest entry of the row (n, 1)."""
        return self.nodes.add("Gather", self.prob, np.array([0]), axis=1)

    @lazy
    def second(self) -> Value | float:
        """Second largest entry of the row (n, 1), or -inf if there is only one."""
        return self.nodes.add("Gather", self.prob, np.array([1]), axis=1) if self.n_columns > 1 else -math.inf

    @lazy
    def total(self) -> Value:
        """Sum of all entries of the row (n, 1), as a sum of integers."""
        return sum_of_units(self.nodes, self.prob, UNITS)

    def of_label(self, numbers: NDArray[np.generic]) -> Value:
        """Return the number of each label (n, K), from numbers of all columns (K,)."""
        return self.nodes.add("Gather", numbers, self.column)


def sum_of_units(nodes: Nodes, rows: Value, units: float) -> Value:
    """Return the sum of each row (n, 1) of entries that are rounded to multiples of 1 / ``units``, exactly."""
    whole = nodes.cast(nodes.add("Round", nodes.add("Mul", rows, units)), np.int64)
    total = nodes.add("ReduceSum", whole, np.array([1]), keepdims=1)
    return nodes.add("Div", nodes.cast(total, np.float64), units)
