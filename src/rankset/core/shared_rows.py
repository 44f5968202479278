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
"""Largest number of (group, place) pairs whose weights are kept for the p-values of many cells."""


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

    def _tails_of_cells(self, borrowing: Borrowing, groups: Ints, places: Ints, own: Ints) -> Floats:
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
        places = self._sorted.places(keys, search) >> 1
        return places + np.where(groups < 0, len(self.sizes) - 1, groups) * self.n_places

    def tables(self, n_cells: int) -> "SharedTables":
        """Return what is to be known about ``n_cells`` cells at their places."""
        entries = len(self.sizes) * self.n_places
        if n_cells >= entries and entries <= MOST_ENTRIES:
            return SharedTables(self, self._kept)
        return SharedTables(self, self.__dict__.get("_kept"))

    @cached_property
    def _kept(self) -> NDArray[Any]:
        """The weight of the rows at least as unusual, for every group and place."""
        dtype = np.int32 if self.total < 2**31 else np.int64
        answer = np.empty((len(self.sizes), self.n_places), dtype=dtype)
        places = np.arange(self.n_places)

        def fill(part: slice) -> None:
            for group in range(part.start, part.stop):
                answer[group] = self.beyond(np.full(1, group), places)

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

    def beyond(self, places: NDArray[Any]) -> Ints:
        """Return the weight of the rows that are at least as unusual."""
        if self.kept is not None:
            return self.kept.take(places, mode="clip")
        return self.rows.beyond(*np.divmod(places, self.rows.n_places))

    def take(self, name: str, places: NDArray[Any]) -> NDArray[Any]:
        """Return one of these numbers for each cell."""
        if name == "sizes":
            return np.full(places.shape, self.rows.total, dtype=np.int64)
        beyond = self.beyond(places)
        if name == "larger":
            return beyond
        if self.rows.sharing.weights is None:
            return (beyond + 1.0) / (self.rows.n + 1)
        own = self.rows.weights[places // self.rows.n_places]
        return (beyond + own) / (self.rows.total + own)


@dataclass(frozen=True, eq=False)
class SharedTable:
    """One of the ``SharedTables``, used like an array of which entries are taken."""

    tables: SharedTables
    name: str

    def take(self, places: NDArray[Any], out: NDArray[Any] | None = None, mode: str = "clip") -> NDArray[Any]:  # noqa: ARG002
        """Return the number of each cell."""
        answer = self.tables.take(self.name, places)
        if out is None:
            return answer
        out[...] = answer
        return out


def _with_absent(calibration: Calibration, places: Ints, last: int) -> tuple[Ints, Ints]:
    """Return group and place of every row, group after group; rows with absent labels are at the last place."""
    if calibration.absent is None:
        return calibration.groups, places
    ends = np.repeat(calibration.offsets[1:], calibration.absent)
    groups = np.repeat(np.arange(len(calibration.absent)), calibration.absent)
    return np.insert(calibration.groups, ends, groups), np.insert(places, ends, last)
