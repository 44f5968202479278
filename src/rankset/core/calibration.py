"""Calibration: the sorted keys of the true labels, group by group. It answers every alpha and merges exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import lexicographic
from rankset.core.alpha import threshold_positions
from rankset.core.arrays import Sealed
from rankset.core.lexicographic import Keys, Search
from rankset.errors import ScoreError

Ints = NDArray[np.int64]


class Threshold:
    """The last key that is kept in one group that does not keep everything."""

    def __init__(self, keys: Keys) -> None:
        """Keep a tuple of arrays of length 1."""
        self._keys = keys
        self._dtypes = [key.dtype for key in keys]

    def keep(self, keys: Keys) -> NDArray[np.bool_]:
        """Return which cells of the group are in the set."""
        if [key.dtype for key in keys] != self._dtypes:
            _check_dtypes(keys, self._keys)
        return lexicographic.not_after(keys, self._keys)


@dataclass(frozen=True, eq=False)
class Thresholds(Sealed):
    """The last key that is kept in each group; the entry at the end, number -1, is for groups without rows."""

    keys: Keys
    everything: NDArray[np.bool_]

    def of_group(self, group: Ints) -> Threshold:
        """Return the threshold of one group, an array of length 1."""
        return Threshold(tuple(key[group] for key in self.keys))

    def keep(self, groups: Ints, keys: Keys) -> NDArray[np.bool_]:
        """Return which cells are in the set."""
        _check_dtypes(keys, self.keys)
        bounds = tuple(key[groups] for key in self.keys)
        return self.everything[groups] | lexicographic.not_after(keys, bounds)


@dataclass(frozen=True, eq=False)
class TailTables:
    """How many rows of a cell's group have keys at least as large, and how many rows the group has, by place."""

    larger: Ints
    sizes: Ints

    @cached_property
    def p_values(self) -> NDArray[np.float64]:
        """The share of rows whose keys are at least as large, the cell itself included."""
        return (1 + self.larger) / (1 + self.sizes)


@dataclass(frozen=True, eq=False)
class Calibration(Sealed):
    """The keys of the true labels, sorted within groups; group g begins at ``offsets[g]``.

    ``absent`` counts the rows of each group whose true label is not among the candidates, None if there are none. Such
    rows have no keys in ``keys``: theirs are after all others.
    """

    keys: Keys
    offsets: Ints
    absent: Ints | None = None

    @classmethod
    def of(cls, groups: Ints, keys: Keys, count: int) -> "Calibration":
        """Sort the ``keys`` of rows in ``groups``, which are numbered below ``count``."""
        return cls.of_parts([(groups, keys)], count)

    @classmethod
    def of_parts(cls, parts: Sequence[tuple[Ints, Keys]], count: int, absent: Ints | None = None) -> "Calibration":
        """Do the same for rows that come in several parts; ``absent`` counts further rows that have no keys."""
        absent = None if absent is None or not absent.any() else absent
        if count == 1:
            offsets = np.array([0, sum(len(groups) for groups, _ in parts)], dtype=np.int64)
            return cls(lexicographic.sorted_union([keys for _, keys in parts]), offsets, absent)
        counts: Ints = np.add.reduce([np.bincount(groups, minlength=count) for groups, _ in parts])
        offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        small = np.min_scalar_type(count)
        joined = lexicographic.sorted_union([(groups.astype(small), *keys) for groups, keys in parts])
        return cls(joined[1:], offsets, absent)

    def __len__(self) -> int:
        return int(self.offsets[-1]) + self.n_absent

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same keys in the same groups."""
        if not isinstance(other, Calibration):
            return NotImplemented
        same_rows = np.array_equal(self.offsets, other.offsets) and np.array_equal(self.counts, other.counts)
        return same_rows and all(
            np.array_equal(ours, theirs) for ours, theirs in zip(self.keys, other.keys, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def counts(self) -> Ints:
        """Number of rows of each group."""
        with_keys = self.counts_with_keys
        return with_keys if self.absent is None else with_keys + self.absent

    @property
    def counts_with_keys(self) -> Ints:
        """Number of rows of each group whose true label is among the candidates."""
        return np.diff(self.offsets)

    @property
    def n_absent(self) -> int:
        """Number of rows whose true label is not among the candidates."""
        return 0 if self.absent is None else int(self.absent.sum())

    @property
    def groups(self) -> Ints:
        """The group of every row that has keys."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.counts_with_keys)

    def size_of(self, group: int) -> tuple[int, int]:
        """Return how many rows a group has, and how many of them have an absent label."""
        with_keys = int(self.offsets[group + 1] - self.offsets[group])
        absent = 0 if self.absent is None else int(self.absent[group])
        return with_keys + absent, absent

    def of_group(self, group: int) -> Keys:
        """Return the sorted keys of one group."""
        return tuple(key[self.offsets[group] : self.offsets[group + 1]] for key in self.keys)

    def thresholds(self, alpha: Fraction) -> Thresholds:
        """Return the threshold of each group at ``alpha``."""
        places = threshold_positions(self.counts, alpha)
        everything = np.append(places > self.counts_with_keys, True)
        cuts = np.where(everything, 0, np.append(self.offsets[:-1] + places - 1, 0))
        return Thresholds(tuple(_at(key, cuts) for key in self.keys), everything)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone for pickling, nothing that is computed from them."""
        return {"keys": self.keys, "offsets": self.offsets, "absent": self.absent}

    def tied(self, group: int, k: int) -> bool:
        """Return whether other rows of a group have the key at position ``k`` too: ties raise coverage."""
        keys = self.of_group(group)
        neighbours = [place for place in (k - 2, k) if 0 <= place < len(keys[0])]
        return any(all(key[place] == key[k - 1] for key in keys) for place in neighbours)

    def places(self, groups: Ints, keys: Keys, search: Search | None = None) -> NDArray[Any]:
        """Return the place of each cell in the ``tail_tables``: that of its keys, moved by its group."""
        _check_dtypes(keys, self.keys)
        places = self._sorted_keys.places((groups, *keys), search)
        places += (2 * (groups + 1)).astype(places.dtype, copy=False)
        return places

    @cached_property
    def tail_tables(self) -> TailTables:
        """What is to be known about a cell at each place. Group -1, which has no rows, comes first."""
        starts = self._sorted_keys.starts
        firsts = np.searchsorted(starts, self.offsets)
        groups = np.repeat(np.arange(len(firsts) - 1), np.diff(firsts) + 1)
        passed = starts[np.arange(len(groups)) - groups] - self.offsets[groups]
        sizes = self.counts[groups]
        return TailTables(*(np.repeat(np.append(0, table), 2) for table in (sizes - passed, sizes)))

    @cached_property
    def _sorted_keys(self) -> lexicographic.SortedKeys:
        return lexicographic.SortedKeys((self.groups, *self.keys))

    def renumbered(self, numbers: Ints, count: int) -> "Calibration":
        """Return the same rows in ``count`` groups; group g gets the number ``numbers[g]``."""
        absent = None
        if self.absent is not None:
            absent = np.zeros(count, dtype=np.int64)
            np.add.at(absent, numbers, self.absent)
        return Calibration.of_parts([(numbers[self.groups], self.keys)], count, absent)

    def merge(self, *others: "Calibration") -> "Calibration":
        """Return one calibration of all rows, exactly as if they were sorted together."""
        everyone = (self, *others)
        count = len(self.offsets) - 1
        numbers = np.arange(count, dtype=np.min_scalar_type(count))
        parts = [(np.repeat(numbers, one.counts_with_keys), one.keys) for one in everyone]
        absent = [one.absent for one in everyone if one.absent is not None]
        return Calibration.of_parts(parts, count, np.sum(absent, axis=0) if absent else None)


def _check_dtypes(keys: Keys, known: Keys) -> None:
    """Raise an error if keys have other dtypes than those of the calibration."""
    if [key.dtype for key in keys] != [key.dtype for key in known]:
        expected, received = (", ".join(key.dtype.name for key in some) for some in (known, keys))
        raise ScoreError.keys(f"arrays of {expected}, as in the calibration", received)


def _at(key: NDArray[Any], cuts: Ints) -> NDArray[Any]:
    return key[cuts] if len(key) else np.zeros(len(cuts), dtype=key.dtype)
