"""Calibration: the sorted keys of the true labels, group by group. It answers every alpha and merges exactly."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import lexicographic, masses, weights
from rankset.core.arrays import Sealed
from rankset.core.entries import Entries, RowCounts
from rankset.core.lexicographic import Keys
from rankset.core.masses import UNIT, RowMasses
from rankset.core.promise import Promise
from rankset.core.sorted_keys import Search, SortedKeys
from rankset.core.tail_tables import TailTables, tail_tables
from rankset.core.weights import Weights
from rankset.errors import ScoreError

Ints = NDArray[np.int64]


class Threshold:
    """The last key that is kept in one group that does not keep everything."""

    def __init__(self, keys: Keys, *, nothing: bool = False, strict: bool = False) -> None:
        """Keep a tuple of arrays of length 1; ``nothing``: no cell is in the set; ``strict``: this key is not."""
        self._keys = keys
        self._nothing, self._strict = nothing, strict
        self._dtypes = [key.dtype for key in keys]

    def keep(self, keys: Keys) -> NDArray[np.bool_]:
        """Return which cells of the group are in the set."""
        if [key.dtype for key in keys] != self._dtypes:
            check_dtypes(keys, self._keys)
        if self._nothing:
            return np.zeros(len(keys[0]), np.bool_)
        if self._strict:
            return ~lexicographic.not_after(self._keys, keys)
        return lexicographic.not_after(keys, self._keys)


@dataclass(frozen=True, eq=False)
class Thresholds(Sealed):
    """The last key that is kept in each group; the entry at the end, number -1, is for groups without rows.

    ``everything`` says which groups keep every label, and ``nothing`` which keep none; None if there are none of these.
    The threshold of the latter is before all keys. ``strict``: the threshold itself is not kept.
    """

    keys: Keys
    everything: NDArray[np.bool_]
    nothing: NDArray[np.bool_] | None = None
    strict: bool = False

    def of_group(self, group: Ints) -> Threshold:
        """Return the threshold of one group, an array of length 1."""
        nothing = self.nothing is not None and bool(self.nothing[group][0])
        return Threshold(tuple(key[group] for key in self.keys), nothing=nothing, strict=self.strict)

    def keep(self, groups: Ints, keys: Keys) -> NDArray[np.bool_]:
        """Return which cells are in the set."""
        check_dtypes(keys, self.keys)
        bounds = tuple(key[groups] for key in self.keys)
        within = ~lexicographic.not_after(bounds, keys) if self.strict else lexicographic.not_after(keys, bounds)
        kept = self.everything[groups] | within
        return kept if self.nothing is None else kept & ~self.nothing[groups]


@dataclass(frozen=True, eq=False)
class Calibration(Sealed):
    """The keys of the calibration entries, sorted within groups; group g begins at ``offsets[g]``.

    With one label per row the entries are the true labels. With several labels a target says which of them are entries.

    Attributes
    ----------
    absent : for each group, the number of rows whose true label is not among the candidates; None if there are none.
        Such rows have no keys in ``keys``: theirs are after all others.
    weights : the loss of a row if the entry is missed; None if all are 1.
    rows : the numbers of rows; None if every entry, and every absent label, is a row.
    masses : the weight of each entry in units of ``core.masses``, if rows have weights of their own; then ``weights``
        is None.
    row_masses : the weights of rows, added up; None if rows have no weights.
    """

    keys: Keys
    offsets: Ints
    absent: Ints | None = None
    weights: Weights | None = None
    rows: RowCounts | None = None
    masses: Ints | None = None
    row_masses: RowMasses | None = None

    @classmethod
    def of(cls, groups: Ints, keys: Keys, count: int) -> "Calibration":
        """Sort the ``keys`` of rows in ``groups``, which are numbered below ``count``."""
        return cls.of_parts([(groups, keys)], count)

    @classmethod
    def of_parts(cls, parts: Sequence[tuple[Ints, Keys]], count: int, absent: Ints | None = None) -> "Calibration":
        """Do the same for rows that come in several parts; ``absent`` counts further rows that have no keys."""
        absent = None if absent is None or not absent.any() else absent
        return cls(*_sorted(parts, count), absent)

    @classmethod
    def of_entries(cls, parts: Sequence[Entries], count: int, rows: RowCounts) -> "Calibration":
        """Sort entries that come in several parts; equal keys are sorted by their weights.

        Some parts can have weights and others not: then the weights of the others are 1.
        """
        if all(part.weights is None for part in parts):
            keys, offsets = _sorted([(part.groups, part.keys) for part in parts], count)
            return cls(keys, offsets, rows=rows)
        keys, offsets = _sorted([(part.groups, part.keys + part.all_weights) for part in parts], count)
        *own, parts_of_one, wholes = keys
        return cls(tuple(own), offsets, None, (parts_of_one, wholes), rows)

    @classmethod
    def of_weighted(
        cls,
        parts: Sequence[Entries],
        count: int,
        row_masses: RowMasses,
        rows: RowCounts | None = None,
        absent: Ints | None = None,
    ) -> "Calibration":
        """Sort entries whose rows have weights; equal keys are sorted by their masses."""
        together = [(part.groups, (*part.keys, part.masses)) for part in parts if part.masses is not None]
        (*keys, own), offsets = _sorted(together, count)
        absent = None if absent is None or not absent.any() else absent
        return cls(tuple(keys), offsets, absent, None, rows, own, row_masses)

    def __len__(self) -> int:
        return int(self.offsets[-1]) + self.n_absent if self.rows is None else self.rows.labelled

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same keys in the same groups."""
        if not isinstance(other, Calibration):
            return NotImplemented
        same_rows = np.array_equal(self.offsets, other.offsets) and np.array_equal(self.counts, other.counts)
        ours, theirs = (one.keys + (one.weights or ()) + one._own_masses for one in (self, other))
        same_masses = self.row_masses is other.row_masses is None or (
            self.row_masses is not None and self.row_masses.same(other.row_masses)
        )
        return (
            same_rows
            and same_masses
            and self.rows == other.rows
            and len(ours) == len(theirs)
            and all(np.array_equal(one, another) for one, another in zip(ours, theirs, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def _own_masses(self) -> tuple[Ints, ...]:
        return () if self.masses is None else (self.masses,)

    @property
    def counts(self) -> Ints:
        """Number of rows of each group."""
        if self.rows is not None:
            return self.rows.by_group
        with_keys = self.counts_with_keys
        return with_keys if self.absent is None else with_keys + self.absent

    @property
    def counts_with_keys(self) -> Ints:
        """Number of entries of each group."""
        return np.diff(self.offsets)

    @property
    def n_absent(self) -> int:
        """Number of rows whose true label is not among the candidates."""
        return 0 if self.absent is None else int(self.absent.sum())

    @property
    def groups(self) -> Ints:
        """The group of every entry."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.counts_with_keys)

    def size_of(self, group: int) -> tuple[int, int]:
        """Return how many rows a group has, and how many of them have an absent label."""
        return int(self.counts[group]), 0 if self.absent is None else int(self.absent[group])

    def of_group(self, group: int) -> Keys:
        """Return the sorted keys of one group."""
        return tuple(key[self.offsets[group] : self.offsets[group + 1]] for key in self.keys)

    def positions(self, promise: Promise, own: int = UNIT) -> Ints:
        """Return the position of each group's threshold among its sorted keys, from 1 on.

        Every label is kept if it is larger than the number of keys, and none if it is not positive. ``own`` is the
        weight of the new row, if rows have weights.
        """
        if self.row_masses is not None:
            return self._positions_of_masses(promise.alpha, self.row_masses, own)
        sizes = self.counts.tolist()
        allowed = {n: promise.allowed(n) for n in set(sizes)}
        if self.weights is None:
            held = self.counts_with_keys if self.absent is None else self.counts_with_keys + self.absent
            return held - np.array([math.floor(allowed[n]) for n in sizes], dtype=np.int64)
        found = [self._weighted_position(group, allowed[n]) for group, n in enumerate(sizes)]
        return np.array(found, dtype=np.int64)

    def _positions_of_masses(self, alpha: Fraction, rows: RowMasses, own: int) -> Ints:
        """Return the positions if rows have weights: the number of entries beyond which lies more than the limit."""
        most, beyond = masses.limits(alpha, rows.by_group, np.array(own)), self.masses_beyond
        ends = self.offsets[1:]
        lost = np.zeros_like(ends) if rows.absent is None else rows.absent
        found = self.counts_with_keys + 1
        for group in np.flatnonzero((most >= lost) & (found > 1)).tolist():
            inside = slice(self.offsets[group], ends[group])
            least = most[group] - lost[group] + beyond[ends[group]]
            found[group] = np.searchsorted(-beyond[inside], -least)
        return np.where((found > self.counts_with_keys) & (most >= lost), 0, found)

    @cached_property
    def masses_beyond(self) -> Ints:
        """The weight of all entries from each one on, in all groups, and 0 at the end."""
        own = np.zeros(0, dtype=np.int64) if self.masses is None else self.masses
        return np.append(own[::-1].cumsum()[::-1], 0)

    def _weighted_position(self, group: int, allowed: Fraction) -> int:
        """Return the position of a group's threshold if entries have weights."""
        inside = slice(self.offsets[group], self.offsets[group + 1])
        parts, wholes = (array[inside] for array in self.weights or ())
        return len(parts) + 1 if allowed < 0 else weights.first_within((parts, wholes), allowed)

    def position(self, group: int, promise: Promise) -> int:
        """Return the position of one group's threshold."""
        if self.weights is not None:
            return self._weighted_position(group, promise.allowed(int(self.counts[group])))
        return int(self.positions(promise)[group])

    def thresholds(self, promise: Promise, own: int = UNIT) -> Thresholds:
        """Return the threshold of each group: the last key that is kept; ``own`` as in ``positions``."""
        places = self.positions(promise, own)
        everything = np.append(places > self.counts_with_keys, True)
        nothing = np.append(places <= 0, False)
        cuts = np.where(everything | nothing, 0, np.append(self.offsets[:-1] + places - 1, 0))
        keys = tuple(_at(key, cuts) for key in self.keys)
        return Thresholds(before_all(keys, nothing), everything, nothing if nothing.any() else None)

    def thresholds_below(self, promise: Promise) -> Thresholds:
        """Return the first key of each group that is not kept, if sets must not contain entries."""
        counts, sizes = self.counts_with_keys, self.counts.tolist()
        allowed = {n: math.floor(promise.allowed(n)) for n in set(sizes)}
        places = np.array([allowed[n] for n in sizes], dtype=np.int64)
        nothing, everything = np.append(places < 0, True), np.append((places >= counts) & (places >= 0), False)
        cuts = np.where(everything | nothing, 0, np.append(self.offsets[:-1] + places, 0))
        keys = tuple(_at(key, cuts) for key in self.keys)
        return Thresholds(before_all(keys, nothing), everything, nothing, strict=True)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone for pickling, nothing that is computed from them."""
        return {name: getattr(self, name) for name in type(self).__dataclass_fields__}

    def tied(self, group: int, k: int) -> bool:
        """Return whether other entries of a group have the key at position ``k`` too: ties raise coverage."""
        keys = self.of_group(group)
        neighbours = [place for place in (k - 2, k) if 0 <= place < len(keys[0])]
        return any(all(key[place] == key[k - 1] for key in keys) for place in neighbours)

    def places(self, groups: Ints, keys: Keys, search: Search | None = None) -> NDArray[Any]:
        """Return the place of each cell in the ``tail_tables``: that of its keys, moved by its group."""
        check_dtypes(keys, self.keys)
        places = self._sorted_keys.places((groups, *keys), search)
        places += (2 * (groups + 1)).astype(places.dtype, copy=False)
        return places

    def before(self, groups: Ints, keys: Keys) -> tuple[Ints, Ints]:
        """Return how many entries come strictly before each cell, and how many come before it or equal it.

        All entries of the groups before that of the cell are counted.
        """
        check_dtypes(keys, self.keys)
        places, starts = self._sorted_keys.places((groups, *keys)), self._sorted_keys.starts
        return starts[places >> 1], starts[(places + 1) >> 1]

    @cached_property
    def tail_tables(self) -> TailTables:
        """What is to be known about a cell at each place. Group -1, which has no rows, comes first."""
        return tail_tables(self, self._sorted_keys.starts)

    def tables(self, n_cells: int) -> TailTables:  # noqa: ARG002
        """Return the tables for any number of cells."""
        return self.tail_tables

    @cached_property
    def _sorted_keys(self) -> SortedKeys:
        return SortedKeys((self.groups, *self.keys))

    def renumbered(self, numbers: Ints, count: int) -> "Calibration":
        """Return the same rows in ``count`` groups; group g gets the number ``numbers[g]``."""
        rows = None if self.rows is None else self.rows.renumbered(numbers, count)
        absent = None if self.absent is None else masses.sums_at(numbers, self.absent, count)
        entries = Entries(numbers[self.groups], self.keys, self.weights, self.masses)
        if self.row_masses is not None:
            own = self.row_masses.renumbered(numbers, count)
            return Calibration.of_weighted([entries], count, own, rows, absent)
        if rows is not None:
            return Calibration.of_entries([entries], count, rows)
        return Calibration.of_parts([(numbers[self.groups], self.keys)], count, absent)

    def merge(self, *others: "Calibration") -> "Calibration":
        """Return one calibration of all rows, exactly as if they were sorted together."""
        everyone = (self, *others)
        count = len(self.offsets) - 1
        numbers = np.arange(count, dtype=np.min_scalar_type(count))
        groups = [np.repeat(numbers, one.counts_with_keys) for one in everyone]
        parts = [Entries(own, one.keys, one.weights, one.masses) for own, one in zip(groups, everyone, strict=True)]
        rows = None if self.rows is None else RowCounts.together([one.rows for one in everyone if one.rows])
        absent = [one.absent for one in everyone if one.absent is not None]
        lost = np.sum(absent, axis=0) if absent else None
        if self.row_masses is not None:
            own = RowMasses.together([one.row_masses for one in everyone if one.row_masses is not None])
            return Calibration.of_weighted(parts, count, own, rows, lost)
        if rows is not None:
            return Calibration.of_entries(parts, count, rows)
        return Calibration.of_parts([(part.groups, part.keys) for part in parts], count, lost)

    def own_masses(self, groups: Ints, own: Ints) -> Ints:  # noqa: ARG002
        """Return the weight of each cell of new rows with the weights ``own``."""
        return own


def _sorted(parts: Sequence[tuple[Ints, Keys]], count: int) -> tuple[Keys, Ints]:
    """Return the keys of all parts, sorted within groups, and where each of the ``count`` groups begins."""
    if count == 1:
        offsets = np.array([0, sum(len(groups) for groups, _ in parts)], dtype=np.int64)
        return lexicographic.sorted_union([keys for _, keys in parts]), offsets
    counts: Ints = np.add.reduce([np.bincount(groups, minlength=count) for groups, _ in parts])
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    small = np.min_scalar_type(count)
    return lexicographic.sorted_union([(groups.astype(small), *keys) for groups, keys in parts])[1:], offsets


def check_dtypes(keys: Keys, known: Keys) -> None:
    """Raise an error if keys have other dtypes than those of the calibration."""
    if [key.dtype for key in keys] != [key.dtype for key in known]:
        expected, received = (", ".join(key.dtype.name for key in some) for some in (known, keys))
        raise ScoreError.keys(f"arrays of {expected}, as in the calibration", received)


def before_all(keys: Keys, nothing: NDArray[np.bool_]) -> Keys:
    """Return thresholds, and in groups that keep nothing one that is before all keys."""
    lowest = (-np.inf if key.dtype.kind == "f" else np.iinfo(key.dtype).min for key in keys)
    return tuple(np.where(nothing, low, key).astype(key.dtype) for key, low in zip(keys, lowest, strict=True))


def _at(key: NDArray[Any], cuts: Ints) -> NDArray[Any]:
    return key[cuts] if len(key) else np.zeros(len(cuts), dtype=key.dtype)
