"""Cells: (row, label) pairs and their features. Scores are computed from these features.

Calibration needs the cell of the true label of each row, and counts to find its rank. Prediction needs the most likely
cells of each row, and sorts as few as possible. Features are the same bit for bit, because sums are exact.
"""

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import few_columns, ranking
from rankset.core.grid import GRID, on_grid
from rankset.core.lazy import lazy
from rankset.core.ranks import LabelRanks, RankedColumns
from rankset.core.rows import Rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FEATURES = frozenset({"column", "prob", "rank", "mass", "before", "top", "second", "total", "entropy", "noise"})
"""Names of all features."""


class Cells(ABC):
    """Features of some (row, label) pairs (cells), for ``Score.keys``. Each feature has one entry per pair.

    Attributes
    ----------
    column
        Column number of the label.
    prob
        Probability of the label, after the ``transform`` of the score if there is one.
    rank
        Rank of the label in its row. Rank 1 is the largest probability. Ties are ranked from left to right.
    mass
        Total probability of the label and of all labels ranked before it.
    before
        Total probability of all labels ranked before the label.
    top, second
        Largest and second largest probability of the row.
    total
        Sum of all probabilities of the row: the expected number of labels if rows can have several labels.
    entropy
        Entropy of the row: the sum of -p log(p) over its probabilities. It is 0 if one label has probability 1.
    noise
        Random number of the row, uniform in [0, 1).

    Examples
    --------
    >>> import rankset as rs
    >>> class Gap:
    ...     features = ("top", "prob")
    ...     def keys(self, cells):
    ...         return (cells.top - cells.prob,)
    >>> rs.calibrate([[0.7, 0.3], [0.4, 0.6]], [0, 1], method=Gap()).n
    2
    """

    rows: Rows
    size: int
    """Number of cells."""

    @property
    @abstractmethod
    def row(self) -> Ints | slice:
        """Row number of each pair, or a slice if every row has exactly one pair."""

    @property
    @abstractmethod
    def column(self) -> Ints:
        """Column number of the label."""

    @property
    @abstractmethod
    def prob(self) -> Floats:
        """Probability of the label, after the ``transform`` of the score if there is one."""

    @property
    @abstractmethod
    def rank(self) -> Ints:
        """Rank of the label in its row. Rank 1 is the largest probability. Ties are ranked from left to right."""

    @property
    @abstractmethod
    def mass(self) -> Floats:
        """Total probability of the label and of all labels ranked before it."""

    @property
    def before(self) -> Floats:
        """Total probability of all labels ranked before the label."""
        return self.mass - on_grid(self.prob)

    @property
    def top(self) -> Floats:
        """Largest probability of the row."""
        return self.rows.top[self.row]

    @property
    def second(self) -> Floats:
        """Second largest probability of the row, or -inf if there is only one class."""
        return self.rows.second[self.row]

    @property
    def total(self) -> Floats:
        """Sum of all probabilities of the row."""
        return self.rows.total[self.row]

    @property
    def entropy(self) -> Floats:
        """Entropy of the row."""
        return self.rows.entropy[self.row]

    @property
    def noise(self) -> Floats:
        """Random number of the row, uniform in [0, 1)."""
        return self.rows.noise[self.row]

    def __len__(self) -> int:
        return self.size

    def __getattr__(self, name: str) -> None:
        known = "column, prob, rank, mass, before, top, second, total, entropy, noise"
        raise AttributeError(f"cells have no {name!r}; they have {known}", name=name, obj=self)


class LabelCells(Cells):
    """The cell of one label per row; its rank is found by counting."""

    row = slice(None)

    def __init__(self, rows: Rows, labels: Ints, known: LabelRanks | None = None) -> None:
        """Make the cells of ``labels``; ``known`` is what a compiled loop has read about them."""
        self.rows = rows
        self.size = len(labels)
        self._labels = labels
        self._known = known

    @property
    def column(self) -> Ints:
        return self._labels

    @lazy
    def prob(self) -> Floats:
        return self._entries.astype(np.float64)

    @lazy
    def _entries(self) -> NDArray[Any]:
        """The labels' entries in the precision of the rows."""
        return ranking.entries_at(self.rows.probs, self._labels) if self._known is None else self._known.probs

    @lazy
    def rank(self) -> Ints:
        known = None if self._known is None else self._known.ranks
        return self._ranks_and_ties[0] if known is None else known

    @lazy
    def _ranks_and_ties(self) -> tuple[Ints, Ints]:
        """The labels' ranks, and the rows in which other entries equal the label's."""
        return ranking.label_ranks(self.rows.probs, self._entries, self._labels)

    @lazy
    def mass(self) -> Floats:
        self.rows.check_additive()
        if self._known is not None and self._known.units is not None:
            return self._known.units.astype(np.float64) * GRID
        labels = self.rows.probs, self._entries, self._labels
        if self.rows.summed and few_columns.are_few(self.rows.probs):
            return ranking.masses_in_few_columns(*labels)
        ranks, tied = self._ranks_and_ties
        entries = ranking.entries_up_to(*labels, tied)
        return _running_sums(entries.astype(np.float64), ranks)[ranks.cumsum() - 1]


class RankedCells(Cells):
    """The most likely cells of every row, row after row in ranking order; all cells by default."""

    def __init__(self, rows: Rows, known: RankedColumns | None = None) -> None:
        """Make the cells of the columns ``known``; None means all columns."""
        self.rows = rows
        self._known = known or ranking.likeliest(rows.probs, math.inf, math.inf, None)
        self.size = len(self._known.columns)
        self.sizes = self._known.sizes
        """Number of cells of each row."""

    @lazy
    def row(self) -> Ints:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def column(self) -> Ints:
        return self._known.columns

    @lazy
    def flat(self) -> Ints:
        """Position of each cell in the memory of its block."""
        return self.row * self.rows.probs.shape[1] + self.column

    @lazy
    def prob(self) -> Floats:
        entries = self._known.probs
        return (self.rows.probs.ravel()[self.flat] if entries is None else entries).astype(np.float64)

    @lazy
    def rank(self) -> Ints:
        starts = self.sizes.cumsum() - self.sizes
        return np.arange(1, self.size + 1) - starts[self.row]

    @lazy
    def mass(self) -> Floats:
        self.rows.check_additive()
        units = self._known.units
        return _running_sums(self.prob, self.sizes) if units is None else units.astype(np.float64) * GRID

    def chosen(self, kept: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.int32]]:
        """Return how many cells of each row are kept, and their columns row after row, most likely first."""
        codes = self.column.astype(np.int32)
        if kept.all():
            return self.sizes, codes
        return np.bincount(self.row[kept], minlength=len(self.sizes)), codes[kept]


def _running_sums(probs: Floats, sizes: Ints) -> Floats:
    """Return the running sums of consecutive pieces of ``probs``, exactly: as integers in units of 2**-50, whose
    differences stay exact even if the running sum over all pieces overflows."""
    units = (on_grid(probs) / GRID).astype(np.int64)
    totals = units.cumsum()
    ends = sizes.cumsum()
    before = np.concatenate((np.zeros(1, dtype=np.int64), totals))[ends - sizes]
    return (totals - np.repeat(before, sizes)).astype(np.float64) * GRID
