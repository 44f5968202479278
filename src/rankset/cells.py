"""Cells: one (row, label) pair each, with the features a score may look at.

Calibration looks at one cell per row, the true label's, by counting; prediction at the most likely ones, by sorting as
few as it can. Both give the same bits, because ranks are counts and masses are sums that do not depend on order.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset import ranking
from rankset._kernels.twins import Twins
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
    """A block of rows (n, K), float32 or float64, and what all cells of a row share.

    ``additive`` says that entries may be added up, ``summed`` that rows are known to sum to about 1; ``start`` is
    the number of the first row; ``twins`` are the compiled loops, where they pay.
    """

    probs: NDArray[Any]
    draw: Callable[[], Floats]
    additive: bool = True
    summed: bool = False
    start: int = 0
    twins: Twins | None = None

    @cached_property
    def largest_two(self) -> Floats:
        """The second largest and the largest entry of each row (n, 2); -inf where there is no second."""
        n_rows, n_columns = self.probs.shape
        if n_columns == 1:
            return np.column_stack((np.full(n_rows, -np.inf), self.probs)).astype(np.float64)
        return np.partition(self.probs, (n_columns - 2, n_columns - 1), axis=1)[:, -2:].astype(np.float64)

    @cached_property
    def noise(self) -> Floats:
        """One uniform draw per row (n, 1)."""
        return self.draw()[:, np.newaxis]

    def take(self, rows: Ints) -> "Rows":
        """Some of the rows."""
        return Rows(self.probs[rows], lambda: self.noise[rows, 0], self.additive, self.summed, self.start, self.twins)

    def check_additive(self) -> None:
        """Refuses to add up what are no probabilities."""
        if not self.additive:
            raise ScoreError.mass_without_probabilities()
        if self.summed:
            return
        lowest, totals = self.probs.min(axis=1), self.probs.sum(axis=1, dtype=np.float64)
        wrong = (lowest < 0) | (totals >= MASS_LIMIT)
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError.not_addable(self.start + row, float(lowest[row]), float(totals[row]))


class Cells(ABC):
    """The features of some cells, as arrays that broadcast against each other.

    The full shape is (n, 1) for one label per row and (n, m) for the m most likely, where place j holds the label
    of rank j + 1; what belongs to the row is (n, 1), the ranks of the most likely are (1, m).
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

    def __init__(self, rows: Rows, labels: Ints, ranks: Ints | None = None, owns: NDArray[Any] | None = None) -> None:
        """``ranks`` and ``owns`` (n,) are the labels' ranks and entries, where somebody has read them already."""
        self.rows = rows
        self._labels = labels[:, np.newaxis]
        self._ranks, self._owns = ranks, owns

    @property
    def column(self) -> Ints:
        return self._labels

    @cached_property
    def prob(self) -> Floats:
        return self._own.astype(np.float64)

    @cached_property
    def _own(self) -> NDArray[Any]:
        if self._owns is not None:
            return self._owns[:, np.newaxis]
        return np.take_along_axis(self.rows.probs, self._labels, axis=1)

    @cached_property
    def _counted(self) -> tuple[Ints, NDArray[np.bool_]]:
        """Each label's rank, and which entries of its row rank before it or are it."""
        probs, own = self.rows.probs, self._own
        up_to_here = probs >= own
        ranks = ranking.count(up_to_here)
        tied = ranks - ranking.count(probs > own) > 1
        if tied.any():
            columns = np.arange(probs.shape[1])
            later = (probs[tied] == own[tied]) & (columns > self._labels[tied])
            ranks[tied] -= ranking.count(later)
            up_to_here[tied] &= ~later
        return ranks[:, np.newaxis], up_to_here

    @property
    def rank(self) -> Ints:
        return self._counted[0] if self._ranks is None else self._ranks[:, np.newaxis]

    @cached_property
    def mass(self) -> Floats:
        self.rows.check_additive()
        if self.rows.twins is not None and self.rows.summed:
            return self.rows.twins.masses(self.rows.probs, self._labels[:, 0])[:, np.newaxis]
        shares = np.multiply(self.rows.probs, self._counted[1], dtype=np.float64)
        return on_grid(shares).sum(axis=1, keepdims=True)


class RankedCells(Cells):
    """The ``m`` most likely cells of every row (all of them by default): place j holds the label of rank j + 1."""

    def __init__(self, rows: Rows, m: int | None = None, columns: Ints | None = None) -> None:
        """``columns`` (n, m) are the most likely ones, where somebody has found them already."""
        self.rows = rows
        self._m = rows.probs.shape[1] if m is None else m
        self._columns = columns

    @cached_property
    def column(self) -> Ints:
        return ranking.first(self.rows.probs, self._m) if self._columns is None else self._columns

    @cached_property
    def prob(self) -> Floats:
        return np.take_along_axis(self.rows.probs, self.column, axis=1).astype(np.float64)

    @cached_property
    def rank(self) -> Ints:
        return np.arange(1, self._m + 1)[np.newaxis, :]

    @cached_property
    def mass(self) -> Floats:
        self.rows.check_additive()
        return on_grid(self.prob).cumsum(axis=1)
