"""Tails of calibration rows: what groups that borrow rows compare with the tail of a cell."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rankset.core.rank_counts import RankCounts
from rankset.core.sharing import Floats, Ints

BUCKETS = 1 << 22
"""Number of buckets of tails."""
MOST_ROWS = 1 << 13
"""With more rows the smaller tail of every row is used. This raises p-values by about one row, and saves time."""


class SortedTails:
    """One tail of every row, in ascending order.

    Attributes
    ----------
    ordered : the tails.
    weights_before : the weight of the rows before each of them, and of all rows.
    ranks : the place of each row in this order.
    """

    def __init__(self, tails: Floats, groups: Ints, weights: Ints) -> None:
        """Sort the ``tails`` of rows, which come group after group, with the weight of each row."""
        self.n, order = len(tails), np.argsort(tails, kind="stable")
        self.ordered, self.ranks = tails[order], np.empty(self.n, dtype=np.int64)
        self.ranks[order] = np.arange(self.n)
        self.weights_before = np.append(0, weights[order].cumsum())
        self._own_ranks = np.sort(groups * (self.n + 1) + self.ranks)

    def not_above(self, bounds: Floats) -> Ints:
        """Return how many tails are at most as large as each of ``bounds``."""
        return np.searchsorted(self.ordered, bounds, side="right")

    def own_before(self, groups: Ints, starts: Ints, ranks: Ints) -> Ints:
        """Return how many rows of ``groups``, the first of which stand at ``starts``, have smaller ranks."""
        return np.searchsorted(self._own_ranks, groups * (self.n + 1) + ranks) - starts

    def ranks_of(self, group: int, start: int, n: int) -> Ints:
        """Return the ascending ranks of the ``n`` rows of one group, the first of which stands at ``start``."""
        return self._own_ranks[start : start + n] - group * (self.n + 1)

    @cached_property
    def _buckets(self) -> NDArray[np.int32]:
        """For buckets of equal length: twice the number of tails before each of them, plus 1 if it has any."""
        counts = np.bincount((self.ordered * BUCKETS).astype(np.int64), minlength=BUCKETS + 2)
        return (2 * (counts.cumsum() - counts) + (counts > 0)).astype(np.int32)

    def not_above_many(self, bounds: Floats) -> NDArray[np.int32]:
        """Do the same as ``not_above``, faster if ``bounds`` are many and sorted, and at most 1 before rounding."""
        numbers = self._buckets.take((bounds * BUCKETS).astype(np.int32))
        unsure = np.flatnonzero(numbers & 1)
        numbers >>= 1
        numbers[unsure] = self.not_above(bounds[unsure])
        return numbers


@dataclass(frozen=True, eq=False)
class RowTails:
    """The tails of all rows, for both cases: the new row is stranger than the row, or it is not.

    Attributes
    ----------
    if_not : the tails if the new row is not stranger; not larger than the other ones.
    if_stranger : the tails if the new row is stranger; None if there are so many rows that this is left out.
    places : the place of each row.
    weights : the weight of each row.
    """

    if_not: SortedTails
    if_stranger: SortedTails | None
    places: Ints
    weights: Ints

    def beyond(self, places: Ints, firsts: Ints, bounds: Floats) -> tuple[Ints, Ints, Ints]:
        """Return the weight of all rows that are beyond cells at ``places``, whose tails are ``bounds``.

        A row is beyond a cell if its tail is not larger: the tail for a new row that is stranger if its key is smaller.
        ``firsts`` is the number of rows with smaller keys at each place. The two other arrays are the numbers of both
        tails that are not larger.
        """
        ranks = self.if_not.not_above(bounds)
        if self.if_stranger is None:
            return self.if_not.weights_before[ranks], ranks, ranks
        less = self.if_stranger.not_above(bounds)
        positions = firsts[places]
        found = self.if_stranger.weights_before[less]
        found = found - self._counts[1].weight_from(positions, less) + self._counts[0].weight_from(positions, ranks)
        return found, ranks, less

    @cached_property
    def _counts(self) -> tuple[RankCounts, RankCounts]:
        """Both ranks of the rows in the order of their keys."""
        assert self.if_stranger is not None
        order = np.argsort(self.places, kind="stable")
        both = (self.if_not, self.if_stranger)
        first, second = (RankCounts(one.ranks[order], self.weights[order]) for one in both)
        return first, second

    def last_places(self, bounds: Floats) -> Ints:
        """Return the last place at which each row is beyond a cell, -1 if there is none.

        ``bounds`` are the tails of the cells of one group at all places.
        """
        last = _last_places(self.if_not, bounds)
        if self.if_stranger is None:
            return last
        return np.maximum(_last_places(self.if_stranger, bounds), np.minimum(last, self.places))


def _last_places(tails: SortedTails, bounds: Floats) -> Ints:
    """Return for each row the last of the descending ``bounds`` that is at least as large as its tail."""
    counts = np.bincount(tails.not_above_many(bounds), minlength=tails.n + 1)
    return (len(bounds) - 1 - counts.cumsum())[tails.ranks]
