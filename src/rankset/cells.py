"""Cells: one (row, label) pair each, with the features a score may look at.

Calibration looks at one cell per row, the true label's, by counting; prediction looks at all of them, by
sorting. Both give the same bits, because ranks are counts and masses are sums that do not depend on order.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rankset.errors import InputError, ScoreError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MASS_LIMIT = 8.0


def on_grid(probs: Floats) -> Floats:
    """``probs`` rounded to multiples of 2**-50, so that float64 adds them exactly in any order (below 8).

    >>> on_grid(np.array([0.1, 0.2, 0.7])).sum() == on_grid(np.array([0.7, 0.1, 0.2])).sum()
    np.True_
    """
    return (probs + 4.0) - 4.0


@dataclass(frozen=True)
class Rows:
    """A block of rows (n, K) and what all cells of a row share."""

    probs: Floats
    draw: Callable[[], Floats]
    additive: bool = True

    @cached_property
    def shares(self) -> Floats:
        """Probabilities on the grid where they add exactly."""
        if not self.additive:
            raise ScoreError.mass_without_probabilities()
        shares = on_grid(self.probs)
        totals = shares.sum(axis=1)
        if (totals >= MASS_LIMIT).any():
            row = int((totals >= MASS_LIMIT).argmax())
            raise InputError.sum_too_large(row, float(totals[row]))
        return shares

    @cached_property
    def largest_two(self) -> Floats:
        """The second largest and the largest entry of each row (n, 2); -inf where there is no second."""
        n_rows, n_columns = self.probs.shape
        if n_columns == 1:
            return np.column_stack((np.full(n_rows, -np.inf), self.probs))
        return np.partition(self.probs, (n_columns - 2, n_columns - 1), axis=1)[:, -2:]

    @cached_property
    def noise(self) -> Floats:
        """One uniform draw per row (n, 1)."""
        return self.draw()[:, np.newaxis]


class Cells(ABC):
    """The features of some cells, as arrays that broadcast against each other.

    The full shape is (n, 1) for one label per row and (n, K) for all labels, where place j holds the label of
    rank j + 1; what belongs to the row is (n, 1), the rank of all labels (1, K).
    """

    rows: Rows

    @property
    @abstractmethod
    def column(self) -> Ints:
        """The label's column number."""

    @property
    @abstractmethod
    def prob(self) -> Floats:
        """The label's probability (or score, or transformed probability)."""

    @property
    @abstractmethod
    def rank(self) -> Ints:
        """The label's place in its row: 1 is the largest, equal entries count from the left."""

    @property
    @abstractmethod
    def mass(self) -> Floats:
        """The label's probability plus that of every label ranked before it."""

    @property
    def before(self) -> Floats:
        """The mass of the labels ranked before this one, exactly."""
        return self.mass - on_grid(self.prob)

    @property
    def top(self) -> Floats:
        """The largest entry of the row."""
        return self.rows.largest_two[:, 1:]

    @property
    def second(self) -> Floats:
        """The second largest entry of the row, -inf where there is only one."""
        return self.rows.largest_two[:, :1]

    @property
    def noise(self) -> Floats:
        """The row's uniform draw from [0, 1)."""
        return self.rows.noise


class LabelCells(Cells):
    """The cell of one label per row, found by counting what stands before it."""

    def __init__(self, rows: Rows, labels: Ints) -> None:
        self.rows = rows
        self._labels = labels[:, np.newaxis]

    @property
    def column(self) -> Ints:
        return self._labels

    @cached_property
    def prob(self) -> Floats:
        return np.take_along_axis(self.rows.probs, self._labels, axis=1)

    @cached_property
    def _up_to_here(self) -> NDArray[np.bool_]:
        """Which entries of the row rank before the label or are the label."""
        probs, columns = self.rows.probs, np.arange(self.rows.probs.shape[1])
        return (probs > self.prob) | ((probs == self.prob) & (columns <= self._labels))

    @cached_property
    def rank(self) -> Ints:
        return self._up_to_here.sum(axis=1, dtype=np.int64, keepdims=True)

    @cached_property
    def mass(self) -> Floats:
        return (self.rows.shares * self._up_to_here).sum(axis=1, keepdims=True)


class RankedCells(Cells):
    """Every cell of every row, most likely first, found by one stable sort: place j holds the label of rank j + 1."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    @cached_property
    def column(self) -> Ints:
        return np.argsort(-self.rows.probs, axis=1, kind="stable")

    @cached_property
    def prob(self) -> Floats:
        return np.take_along_axis(self.rows.probs, self.column, axis=1)

    @cached_property
    def rank(self) -> Ints:
        return np.arange(1, self.rows.probs.shape[1] + 1)[np.newaxis, :]

    @cached_property
    def mass(self) -> Floats:
        return np.take_along_axis(self.rows.shares, self.column, axis=1).cumsum(axis=1)
