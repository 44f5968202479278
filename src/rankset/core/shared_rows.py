"""SharedRows: thresholds and p-values of a calibration whose groups share rows.

The tail of a group at a key is the share of its rows, own and borrowed, that are at least as unusual. Every calibration
row gets the tail of its own group at its own key, not larger than if the new row were counted among all rows. The new
row gets its tail, not smaller. So its p-value, the share of rows whose tail is not larger, is at least the p-value of a
permutation test. ``docs/understand/sharing.md`` has the formulas and the proof.
"""

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import lexicographic, masses, parallel
from rankset.core.calibration import Calibration, Thresholds, check_dtypes
from rankset.core.lexicographic import Keys
from rankset.core.masses import UNIT
from rankset.core.promise import Promise
from rankset.core.row_tails import MOST_ROWS, RowTails, SortedTails
from rankset.core.shared_tables import SharedTables
from rankset.core.sharing import Borrowing, Floats, Ints, Sharing
from rankset.core.sorted_keys import Search, SortedKeys

ROUNDING = 1e-12
"""Tails of cells are larger by this share, so that rounding can only raise p-values."""
MOST_ENTRIES, FEW_ENTRIES = 1 << 26, 1 << 16
"""Largest number of (group, place) pairs in a table that is made for many cells, and in one that is always made."""
MOST_KEPT = 1 << 27
"""Largest number of bytes of a table that is kept for further cells."""
CELLS_PER_ENTRY = 4
"""A cell takes at least as long without a table as so many entries of a table."""


class SharedRows:
    """The rows of a calibration, as groups that share them see them.

    A place is the number of distinct keys of all groups that are smaller than a cell's key. So all cells between two
    keys of the calibration have one place. Group -1 stands for groups that have no rows.

    Attributes
    ----------
    n : number of rows.
    n_places : number of places.
    sizes : number of rows of each group; the last entry, 0, is for group -1.
    weights : the weight of a row of each group.
    total : the weight of all rows.
    equal : whether all rows have the weight 1.
    """

    def __init__(self, calibration: Calibration, sharing: Sharing) -> None:
        """Sort the keys of all groups together."""
        order = lexicographic.argsort(calibration.keys)
        self._keys = tuple(key[order] for key in calibration.keys)
        self._sorted = SortedKeys(self._keys)
        self._borrowing, self.n, self.n_places = sharing.borrowing, len(calibration), len(self._sorted.starts)
        numbers = np.empty(len(order), dtype=np.int64)
        numbers[order] = np.repeat(np.arange(self.n_places - 1), np.diff(self._sorted.starts))
        self._groups, self._places = _with_absent(calibration, numbers, self.n_places - 1)
        self.sizes: Ints = np.append(calibration.counts, 0)
        self._ends = self.sizes.cumsum()
        self._starts = self._ends - self.sizes
        self.weights: Ints = np.ones_like(self.sizes) if sharing.weights is None else np.append(sharing.weights, 1)
        self.equal = sharing.weights is None and calibration.masses is None
        self._by_label, self._weighted = sharing.weights is not None, calibration.masses is not None
        self._row_weights = self._weights_of_rows(calibration)
        self._weights_before: Ints = np.append(0, self._row_weights.cumsum())
        self.total = int(self._weights_before[-1])

    def _weights_of_rows(self, calibration: Calibration) -> Ints:
        """Return the weight of every row, group after group."""
        if calibration.masses is None or calibration.row_masses is None:
            return self.weights[self._groups]
        return self.own_masses(self._groups, _masses_with_absent(calibration, calibration.masses))

    def own_masses(self, groups: Ints, own: Ints) -> Ints:
        """Return the weight of each cell of new rows with the weights ``own``: times that of its group."""
        if not self._weighted:
            return self.weights[groups]
        return masses.combined(own, self.weights[groups]) if self._by_label else own

    def thresholds(self, promise: Promise, own: int = UNIT) -> Thresholds:
        """Return the threshold of each group: the last key, of any group, that is kept.

        ``own`` is the weight of the new row, if rows have weights.
        """
        groups = np.arange(len(self.sizes))
        limits = masses.limits(promise.alpha, np.array(self.total), self.own_masses(groups, np.full(len(groups), own)))
        low, high = np.zeros_like(groups), np.full_like(groups, self.n_places)  # kept at low, not at high
        while ((high - low) > 1).any():
            middle = (low + high) >> 1
            kept = self.beyond(groups, middle) > limits
            low, high = np.where(kept, middle, low), np.where(kept, high, middle)
        everything = low == self.n_places - 1
        cuts = self._sorted.starts[np.where(everything, 0, low)]
        keys = tuple(key[cuts] if len(key) else np.zeros(len(cuts), dtype=key.dtype) for key in self._keys)
        return Thresholds(keys, everything)

    @property
    def effective_rows(self) -> float:
        """(Sum of weights)² / sum of squared weights."""
        weights = self._row_weights.astype(np.float64)
        return masses.effective_rows(float(weights.sum()), float((weights * weights).sum()))

    def smallest_alpha(self, group: int) -> Fraction:
        """Return the smallest alpha at which the sets of a group leave out labels."""
        own, last = int(self.own_masses(np.array([group]), np.array([UNIT]))[0]), np.array([self.n_places - 1])
        return Fraction(own + int(self.beyond(np.array([group]), last)[0]), own + self.total)

    def beyond(self, groups: Ints, places: Ints) -> Ints:
        """Return the weight of the rows that are at least as unusual as cells of ``groups`` at ``places``."""
        if self._borrowing is None:
            return self._weights_from[places]
        groups = np.where(groups < 0, len(self.sizes) - 1, groups)
        own = self._ends[groups] - np.searchsorted(self._own_places, groups * self.n_places + places)
        bounds = self._tails_of_cells(self._borrowing, groups, places, own)
        found, ranks, less = self._row_tails.beyond(places, self._before, bounds)
        if_not, if_stranger = self._row_tails.if_not, self._row_tails.if_stranger
        inside = if_not.own_before(groups, self._starts[groups], ranks)
        if if_stranger is None:
            return found + self._weight_of_last(groups, own, inside)
        stranger = if_stranger.own_before(groups, self._starts[groups], less)
        counted_twice = self._weight_of_last(groups, np.maximum(stranger, own), own)
        return found + self._weight_of_last(groups, own, np.minimum(inside, own)) - counted_twice

    def _weight_of_last(self, groups: Ints, many: Ints, few: Ints) -> Ints:
        """Return by how much the last ``many`` rows of each group are heavier than its last ``few`` rows."""
        if self.equal:
            return many - few
        ends = self._ends[groups]
        return self._weights_before[ends - few] - self._weights_before[ends - many]

    def _beyond_everywhere(self, group: int) -> Ints:
        """Return ``beyond`` of one group at all places, with fewer steps than for each place."""
        if self._borrowing is None:
            return self._weights_from
        rows, n = slice(self._starts[group], self._ends[group]), int(self.sizes[group])
        own = np.repeat(np.arange(n, -1, -1), np.diff(self._places[rows] + 1, prepend=0, append=self.n_places))
        bounds = self._tails_of_cells(self._borrowing, np.full(1, group), np.arange(self.n_places), own)
        if self._row_tails.if_stranger is None:
            return self._beyond_by_smaller_tails(group, own, bounds)
        last = self._row_tails.last_places(bounds)
        last[rows] = self._places[rows]
        ending = masses.sums_at(last + 1, None if self.equal else self._row_weights, self.n_places + 1)
        return self.total - ending[:-1].cumsum()

    def _beyond_by_smaller_tails(self, group: int, own: Ints, bounds: Floats) -> Ints:
        """Do the same with one tail for every row: own rows that are counted with the others are steps, too."""
        tails, n = self._row_tails.if_not, int(self.sizes[group])
        others = tails.not_above_many(bounds)
        steps = np.searchsorted(others[::-1], tails.ranks_of(group, self._starts[group], n), side="right")
        inside = np.repeat(np.arange(n + 1), np.diff(steps, prepend=0, append=self.n_places))[::-1]
        return tails.weights_before[others] + self._weight_of_last(np.array(group), own, inside)

    def _tails_of_cells(self, borrowing: Borrowing, groups: Ints, places: Ints, own: Ints) -> Floats:
        """Return the tail of the group of each cell, if the cell is one of its rows, rounded up."""
        new, sizes, ends = self._if_stranger[places], self.sizes[groups] + 1, self._ends[groups]
        others = self._sums_if_stranger[groups] + (self._differences[ends] - self._differences[ends - own])
        tails = borrowing.tails(own + 1, sizes, borrowing.in_own_units(new, sizes, others + new))
        tails *= 1 + ROUNDING
        return tails

    @cached_property
    def _row_tails(self) -> RowTails:
        """The tail of its group at each row, not larger than if the new row were counted."""
        borrowing, groups = self._borrowing, self._groups
        assert borrowing is not None
        sizes = self.sizes[groups]
        own = self._ends[groups] - np.searchsorted(self._own_places, self._own_places)
        stranger, not_stranger = self._if_stranger[self._places], self._if_not[self._places]
        others = np.maximum(self._sums_if_stranger[groups] - stranger, 0.0)

        def sorted_tails(strangeness: Floats) -> SortedTails:
            units = borrowing.in_own_units(strangeness, sizes, others + strangeness)
            return SortedTails(borrowing.tails(own, sizes, units), groups, self._row_weights)

        more = sorted_tails(stranger) if self.n <= MOST_ROWS else None
        return RowTails(sorted_tails(not_stranger), more, self._places, self._row_weights)

    @cached_property
    def _before(self) -> Ints:
        """The number of rows with smaller keys at each place, and the number of all rows with keys."""
        return np.append(0, np.bincount(self._places, minlength=self.n_places)[:-1].cumsum())

    @cached_property
    def _if_stranger(self) -> Floats:
        """Strangeness of rows at each place, if the new row is stranger; also that of the new row at this place.

        It is minus the logarithm of the share of all rows, the new one included, that are at least as unusual.
        """
        return np.log((self.n + 1) / (self.n - self._before + 1))

    @cached_property
    def _if_not(self) -> Floats:
        """Strangeness of rows at each place, if the new row is less strange."""
        return np.log((self.n + 1) / np.maximum(self.n - self._before, 1))

    @cached_property
    def _sums_if_stranger(self) -> Floats:
        sums: Floats = np.bincount(self._groups, self._if_stranger[self._places], len(self.sizes)).astype(np.float64)
        return sums

    @cached_property
    def _differences(self) -> Floats:
        """Sums of the differences between both strangenesses, over the rows before each one."""
        return np.append(0.0, (self._if_not - self._if_stranger)[self._places].cumsum())

    @cached_property
    def _own_places(self) -> Ints:
        """Places of the rows of all groups, group after group, as one ascending array."""
        return self._groups * self.n_places + self._places

    @cached_property
    def _weights_from(self) -> Ints:
        """The weight of all rows from each place on."""
        at = masses.sums_at(self._places, self._row_weights, self.n_places)
        return at[::-1].cumsum()[::-1]

    def places(self, groups: Ints, keys: Keys, search: Search | None = None) -> NDArray[Any]:
        """Return group and place of each cell in one integer, as ``SharedTable`` takes them."""
        check_dtypes(keys, self._keys)
        places = self._sorted.places(keys, search)
        places >>= 1
        return places + (groups + 1) * self.n_places

    def tables(self, n_cells: int) -> SharedTables:
        """Return what is to be known about ``n_cells`` cells at their places."""
        table, entries = self.__dict__.get("_kept_table"), len(self.sizes) * self.n_places
        if table is None and entries <= max(FEW_ENTRIES, min(CELLS_PER_ENTRY * n_cells, MOST_ENTRIES)):
            table = self._kept_table if entries * self._dtype.itemsize <= MOST_KEPT else self._table()
        return SharedTables(self, table)

    @property
    def _dtype(self) -> np.dtype[Any]:
        """The smallest of three types that can hold the weight of all rows."""
        return next(np.dtype(one) for one in (np.uint16, np.int32, np.int64) if self.total <= np.iinfo(one).max)

    @cached_property
    def _kept_table(self) -> NDArray[Any]:
        return self._table()

    def _table(self) -> NDArray[Any]:
        """Return the weight of the rows at least as unusual, for every group, group -1 first, and place."""
        answer = np.empty((len(self.sizes), self.n_places), dtype=self._dtype)

        def fill(part: slice) -> None:
            for group in range(part.start, part.stop):
                answer[group] = self._beyond_everywhere(group - 1 if group else len(self.sizes) - 1)

        parallel.map_blocks(fill, len(self.sizes), 8 * self.n_places)
        return answer.ravel()


def _with_absent(calibration: Calibration, places: Ints, last: int) -> tuple[Ints, Ints]:
    """Return group and place of every row, group after group; rows with absent labels are at the last place."""
    if calibration.absent is None:
        return calibration.groups, places
    ends = np.repeat(calibration.offsets[1:], calibration.absent)
    groups = np.repeat(np.arange(len(calibration.absent)), calibration.absent)
    return np.insert(calibration.groups, ends, groups), np.insert(places, ends, last)


def _masses_with_absent(calibration: Calibration, own: Ints) -> Ints:
    """Return the weight of every row, group after group; one row with an absent label has the weight of all of them."""
    rows = calibration.row_masses
    if calibration.absent is None or rows is None or rows.absent is None:
        return own
    firsts = calibration.absent.cumsum() - calibration.absent
    lost = np.zeros(int(calibration.absent.sum()), dtype=np.int64)
    some = calibration.absent > 0
    lost[firsts[some]] = rows.absent[some]
    return np.insert(own, np.repeat(calibration.offsets[1:], calibration.absent), lost)
