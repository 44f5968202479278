"""SharedRows: thresholds and p-values of a calibration whose groups share rows.

Every row j of the calibration gets a number, the tail of its group at its own key, at most as large as it would be if
the new row were part of the calibration. The new row gets the same number, at least as large. So its p-value, the share
of rows whose number is not larger, is at least the p-value of a permutation test. `docs/understand/sharing.md` has the
formulas and the proof.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import lexicographic, parallel
from rankset.core.calibration import Calibration, Thresholds, check_dtypes
from rankset.core.lexicographic import Keys
from rankset.core.promise import Promise
from rankset.core.sharing import Borrowing, Floats, Ints, Sharing
from rankset.core.sorted_keys import Search, SortedKeys

ROUNDING = 1e-12
"""Tails of cells are larger by this share, so that rounding can only raise p-values."""
MOST_ENTRIES = 1 << 26
"""Largest number of (group, place) pairs in a table that is made for the p-values of many cells."""
MOST_KEPT = 1 << 27
"""Largest number of bytes of a table that is kept for further cells."""
BUCKETS = 1 << 22
"""Number of buckets of tails."""
CELLS_PER_ENTRY = 4
"""A cell takes about as long without a table as so many entries of a table."""


class SharedRows:
    """The rows of a calibration, as groups that share them see them.

    A place is the number of distinct keys of all groups that are smaller than a cell's key. So all cells between two
    keys of the calibration have one place. Group -1 stands for groups that have no rows.
    """

    def __init__(self, calibration: Calibration, sharing: Sharing) -> None:
        """Sort the keys of all groups together, and compute what does not depend on the cell."""
        order = lexicographic.argsort(calibration.keys)
        self._keys = tuple(key[order] for key in calibration.keys)
        self._sorted = SortedKeys(self._keys)
        self.sharing, self.n, self.n_places = sharing, len(calibration), len(self._sorted.starts)
        numbers = np.empty(len(order), dtype=np.int64)
        numbers[order] = np.repeat(np.arange(self.n_places - 1), np.diff(self._sorted.starts))
        self.groups, self._own = _with_absent(calibration, numbers, self.n_places - 1)
        self.sizes: Ints = np.append(calibration.counts, 0)
        self.weights = np.ones_like(self.sizes) if sharing.weights is None else np.append(sharing.weights, 1)
        at = np.bincount(self._own, minlength=self.n_places)
        self._larger: Ints = at[::-1].cumsum()[::-1]

    def thresholds(self, promise: Promise) -> Thresholds:
        """Return the threshold of each group: the last key, of any group, that is kept."""
        groups = np.arange(len(self.sizes))
        limits = self._limits(promise.alpha)
        low, high = np.zeros_like(groups), np.full_like(groups, self.n_places)  # kept at low, not at high
        while ((high - low) > 1).any():
            middle = (low + high) >> 1
            kept = self.beyond(groups, middle) > limits
            low, high = np.where(kept, middle, low), np.where(kept, high, middle)
        everything = low == self.n_places - 1
        cuts = self._sorted.starts[np.where(everything, 0, low)]
        keys = tuple(key[cuts] if len(key) else np.zeros(len(cuts), dtype=key.dtype) for key in self._keys)
        return Thresholds(keys, everything)

    def _limits(self, alpha: Fraction) -> Ints:
        """Return for each group the weight of rows beyond a cell up to which it is not kept."""
        total = self.total
        known = {own: math.floor(alpha * (total + own) - own) for own in set(self.weights.tolist())}
        return np.array([known[own] for own in self.weights.tolist()], dtype=np.int64)

    @property
    def total(self) -> int:
        """The weight of all rows."""
        return int((self.sizes * self.weights).sum())

    def smallest_alpha(self, group: int) -> Fraction:
        """Return the smallest alpha at which the sets of a group leave out labels."""
        own = int(self.weights[group])
        beyond = int(self.beyond(np.array([group]), np.array([self.n_places - 1]))[0])
        return Fraction(own + beyond, own + self.total)

    def beyond(self, groups: Ints, places: Ints) -> Ints:
        """Return the weight of the rows that are at least as unusual as cells of ``groups`` at ``places``."""
        groups = np.where(groups < 0, len(self.sizes) - 1, groups)
        borrowing = self.sharing.borrowing
        if borrowing is None:
            return self._weights_from[places]
        own = self._ends[groups] - np.searchsorted(self._own_places, groups * self.n_places + places)
        bounds = self._tails_of_cells(borrowing, groups, places, own) * (1 + ROUNDING)
        rows = self._row_tails
        others = np.searchsorted(rows.ordered, bounds, side="right")
        inside = np.searchsorted(rows.own_ranks, groups * (self.n + 1) + others) - self._starts[groups]
        return rows.weights_before[others] + (own - inside) * self.weights[groups]

    def _beyond_everywhere(self, group: int) -> Ints:
        """Return ``beyond`` of one group at all places, faster: numbers of own rows are steps between few places."""
        borrowing = self.sharing.borrowing
        if borrowing is None:
            return self._weights_from
        own_rows, n = slice(self._starts[group], self._ends[group]), int(self.sizes[group])
        own = np.repeat(np.arange(n, -1, -1), np.diff(self._own[own_rows] + 1, prepend=0, append=self.n_places))
        bounds = self._tails_of_cells(borrowing, np.full(1, group), slice(None), own)
        bounds *= 1 + ROUNDING
        rows = self._row_tails
        others = rows.not_above(bounds)
        ranks = rows.own_ranks[own_rows] - group * (self.n + 1)
        steps = np.searchsorted(others[::-1], ranks, side="right")
        inside = np.repeat(np.arange(n + 1), np.diff(steps, prepend=0, append=self.n_places))[::-1]
        return rows.weights_before[others] + (own - inside) * self.weights[group]

    def _tails_of_cells(self, borrowing: Borrowing, groups: Ints, places: Ints | slice, own: Ints) -> Floats:
        """Return the tail of the group of each cell, if the cell is counted among its rows."""
        strangeness, sizes = self._strangeness[places], self.sizes[groups] + 1
        units = borrowing.in_own_units(strangeness, sizes, self._sums_if_less_strange[groups] + strangeness)
        return borrowing.tails(own + 1, sizes, units)

    @cached_property
    def _strangeness(self) -> Floats:
        """Minus the logarithm of the p-value of a cell at each place among all rows."""
        return np.log((self.n + 1) / (self._larger + 1))

    @cached_property
    def _if_less_strange(self) -> Floats:
        """The same for rows at each place, if the new row is less strange than them."""
        with np.errstate(divide="ignore"):
            return np.log((self.n + 1) / np.maximum(self._larger, 1))

    @cached_property
    def _sums_if_less_strange(self) -> Floats:
        """The sum over the rows of each group, if the new row is less strange than them."""
        return np.bincount(self.groups, self._if_less_strange[self._own], len(self.sizes))

    @cached_property
    def _own_places(self) -> Ints:
        """Places of the rows of all groups, group after group, as one ascending array."""
        return self.groups * self.n_places + self._own

    @cached_property
    def _ends(self) -> Ints:
        return self.sizes.cumsum()

    @cached_property
    def _starts(self) -> Ints:
        return self._ends - self.sizes

    @cached_property
    def _weights_from(self) -> Ints:
        """The weight of all rows from each place on."""
        row_weights = self.weights[self.groups]
        at = np.zeros(self.n_places, dtype=np.int64)
        np.add.at(at, self._own, row_weights)
        return at[::-1].cumsum()[::-1]

    @cached_property
    def _row_tails(self) -> "RowTails":
        """The tail of its group at each row, at most as large as if the new row were counted."""
        borrowing = self.sharing.borrowing
        assert borrowing is not None
        sizes, less, more = self.sizes[self.groups], self._if_less_strange[self._own], self._strangeness[self._own]
        sums = np.bincount(self.groups, more, len(self.sizes))[self.groups]
        own = self._ends[self.groups] - np.searchsorted(self._own_places, self._own_places)
        units = borrowing.in_own_units(less, sizes, np.maximum(sums - more, 0.0) + less)
        return RowTails.of(borrowing.tails(own, sizes, units), self.groups, self.weights)

    def places(self, groups: Ints, keys: Keys, search: Search | None = None) -> NDArray[Any]:
        """Return group and place of each cell in one integer, as ``SharedTable`` takes them."""
        check_dtypes(keys, self._keys)
        places = self._sorted.places(keys, search)
        places >>= 1
        return places + (groups + 1) * self.n_places

    def tables(self, n_cells: int) -> "SharedTables":
        """Return what is to be known about ``n_cells`` cells at their places."""
        table = self.__dict__.get("_kept_table")
        entries = len(self.sizes) * self.n_places
        if table is None and entries <= min(CELLS_PER_ENTRY * n_cells, MOST_ENTRIES):
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
        """Return the weight of the rows at least as unusual, for every group and place."""
        answer = np.empty((len(self.sizes), self.n_places), dtype=self._dtype)

        def fill(part: slice) -> None:
            for group in range(part.start, part.stop):
                answer[group] = self._beyond_everywhere(group - 1 if group else len(self.sizes) - 1)

        parallel.map_blocks(fill, len(self.sizes), 8 * self.n_places)
        return answer.ravel()


@dataclass(frozen=True, eq=False)
class RowTails:
    """The tails at all rows, in ascending order.

    Attributes
    ----------
    ordered : the tails.
    weights_before : the weight of the rows before each of them, and of all rows.
    own_ranks : their ranks, group after group, as one ascending array.
    """

    ordered: Floats
    weights_before: Ints
    own_ranks: Ints

    @cached_property
    def _buckets(self) -> NDArray[np.int32]:
        """For buckets of equal length: twice the number of tails before each of them, plus 1 if it has any."""
        counts = np.bincount((self.ordered * BUCKETS).astype(np.int64), minlength=BUCKETS + 2)
        return (2 * (counts.cumsum() - counts) + (counts > 0)).astype(np.int32)

    def not_above(self, bounds: Floats) -> NDArray[np.int32]:
        """Return how many tails are at most as large as each of ``bounds``, which are at most 1 or rounded from 1.

        This is faster than a search if bounds are many and sorted.
        """
        numbers = self._buckets.take((bounds * BUCKETS).astype(np.int32))
        unsure = np.flatnonzero(numbers & 1)
        numbers >>= 1
        numbers[unsure] = np.searchsorted(self.ordered, bounds[unsure], side="right")
        return numbers

    @classmethod
    def of(cls, tails: Floats, groups: Ints, weights: Ints) -> "RowTails":
        """Sort the ``tails`` of rows in ``groups``, which are in ascending order, with a weight for each group."""
        n, order = len(tails), np.argsort(tails, kind="stable")
        ranks = np.empty(n, dtype=np.int64)
        ranks[order] = np.arange(n)
        own_ranks = np.sort(groups * (n + 1) + ranks)
        return cls(tails[order], np.append(0, weights[groups[order]].cumsum()), own_ranks)


@dataclass(frozen=True, eq=False)
class SharedTables:
    """What rows that are shared say about cells, by the integers of ``SharedRows.places``."""

    rows: SharedRows
    kept: NDArray[Any] | None

    @property
    def larger(self) -> "SharedTable":
        """The weight of the rows that are at least as unusual."""
        return SharedTable(self, "larger")

    @property
    def sizes(self) -> "SharedTable":
        """The weight of all rows."""
        return SharedTable(self, "sizes")

    @property
    def p_values(self) -> "SharedTable":
        """The share of the rows that are at least as unusual, the cell itself included."""
        return SharedTable(self, "p_values")

    def beyond(self, places: NDArray[Any]) -> NDArray[Any]:
        """Return the weight of the rows that are at least as unusual."""
        if self.kept is not None:
            return self.kept.take(places)
        groups, places = np.divmod(places, self.rows.n_places)
        return self.rows.beyond(groups - 1, places)

    def fill(self, name: str, places: NDArray[Any], out: NDArray[Any]) -> None:
        """Put one of these numbers for each cell into ``out``."""
        if name == "sizes":
            out[...] = self.rows.total
        elif name == "larger":
            out[...] = self.beyond(places)
        elif self.rows.sharing.weights is None:
            np.add(self.beyond(places), 1.0, out=out)
            out /= self.rows.n + 1
        else:
            own = self.rows.weights[places // self.rows.n_places - 1]
            np.divide(self.beyond(places) + own, self.rows.total + own, out=out)


@dataclass(frozen=True, eq=False)
class SharedTable:
    """One of the ``SharedTables``, used like an array of which entries are taken."""

    tables: SharedTables
    name: str

    def take(self, places: NDArray[Any], out: NDArray[Any] | None = None, mode: str = "raise") -> NDArray[Any]:  # noqa: ARG002
        """Return the number of each cell."""
        dtype = np.float64 if self.name == "p_values" else np.int64
        answer = np.empty(places.shape, dtype=dtype) if out is None else out
        self.tables.fill(self.name, places, answer)
        return answer


def _with_absent(calibration: Calibration, places: Ints, last: int) -> tuple[Ints, Ints]:
    """Return group and place of every row, group after group; rows with absent labels are at the last place."""
    if calibration.absent is None:
        return calibration.groups, places
    ends = np.repeat(calibration.offsets[1:], calibration.absent)
    groups = np.repeat(np.arange(len(calibration.absent)), calibration.absent)
    return np.insert(calibration.groups, ends, groups), np.insert(places, ends, last)
