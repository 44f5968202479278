"""A calibration: sorted keys in groups. One of them answers every alpha, gives p-values, and merges exactly."""

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
from rankset.core.lexicographic import Keys
from rankset.errors import ScoreError

Ints = NDArray[np.int64]

REMEMBERED_LEVELS = 64
MOST_GROUPS_REMEMBERED = 1000


@dataclass(frozen=True, eq=False)
class Thresholds(Sealed):
    """The last key kept in each group; one more entry at the end, reached as -1, for groups never seen."""

    keys: Keys
    everything: NDArray[np.bool_]

    def keep(self, groups: Ints, keys: Keys) -> NDArray[np.bool_]:
        """Which cells stay in the set."""
        _check_alike(keys, self.keys)
        bounds = tuple(key[groups] for key in self.keys)
        return self.everything[groups] | lexicographic.not_after(keys, bounds)


@dataclass(frozen=True, eq=False)
class Calibration(Sealed):
    """The keys of the true labels, sorted within groups: ``offsets[g]`` is where group g begins."""

    keys: Keys
    offsets: Ints

    @classmethod
    def of(cls, groups: Ints, keys: Keys, count: int) -> "Calibration":
        """Sorts unordered ``keys`` of rows in ``groups``, numbered below ``count``."""
        return cls.of_parts([(groups, keys)], count)

    @classmethod
    def of_parts(cls, parts: Sequence[tuple[Ints, Keys]], count: int) -> "Calibration":
        """The same of rows that come in several parts."""
        counts: Ints = np.add.reduce([np.bincount(groups, minlength=count) for groups, _ in parts])
        offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        if count == 1:
            return cls(lexicographic.sorted_union([keys for _, keys in parts]), offsets)
        small = np.min_scalar_type(count)
        return cls(lexicographic.sorted_union([(groups.astype(small), *keys) for groups, keys in parts])[1:], offsets)

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same keys in the same groups."""
        if not isinstance(other, Calibration):
            return NotImplemented
        return np.array_equal(self.offsets, other.offsets) and all(
            np.array_equal(ours, theirs) for ours, theirs in zip(self.keys, other.keys, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def counts(self) -> Ints:
        """How many rows each group has."""
        return np.diff(self.offsets)

    @property
    def groups(self) -> Ints:
        """The group of every row."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def of_group(self, group: int) -> Keys:
        """The sorted keys of one group."""
        return tuple(key[self.offsets[group] : self.offsets[group + 1]] for key in self.keys)

    def thresholds(self, alpha: Fraction) -> Thresholds:
        """Where each group is cut at ``alpha``."""
        known = self._thresholds
        thresholds = known.get(alpha)
        if thresholds is None:
            if len(known) >= REMEMBERED_LEVELS:
                known.clear()
            thresholds = self._cut(alpha)
            if len(self.counts) <= MOST_GROUPS_REMEMBERED:
                known[alpha] = thresholds
        return thresholds

    def __getstate__(self) -> dict[str, Any]:
        """What pickle takes along: nothing that is only remembered."""
        return {"keys": self.keys, "offsets": self.offsets}

    @cached_property
    def _thresholds(self) -> dict[Fraction, Thresholds]:
        """Levels asked before: services ask for one row at a time, always at the same level."""
        return {}

    def _cut(self, alpha: Fraction) -> Thresholds:
        counts = self.counts
        places = threshold_positions(counts, alpha)
        everything = np.append(places > counts, True)
        cuts = np.where(everything, 0, np.append(self.offsets[:-1] + places - 1, 0))
        return Thresholds(tuple(_at(key, cuts) for key in self.keys), everything)

    def tied(self, group: int, k: int) -> bool:
        """Whether other rows of a group have the very key at position ``k``, so that coverage exceeds its law."""
        keys = self.of_group(group)
        neighbours = [place for place in (k - 2, k) if 0 <= place < len(keys[0])]
        return any(all(key[place] == key[k - 1] for key in keys) for place in neighbours)

    def tails(self, groups: Ints, keys: Keys) -> tuple[Ints, Ints]:
        """How many of the group's rows are at least as strange, and how many there are."""
        _check_alike(keys, self.keys)
        sizes = np.append(self.counts, 0)[groups]
        starts = np.append(self.offsets[:-1], 0)[groups]
        return sizes - (self._sorted_keys.before((groups, *keys)) - starts), sizes

    @cached_property
    def _sorted_keys(self) -> lexicographic.SortedKeys:
        return lexicographic.SortedKeys((self.groups, *self.keys))

    def renumbered(self, numbers: Ints, count: int) -> "Calibration":
        """The same rows with group g called ``numbers[g]``, of ``count`` groups."""
        return Calibration.of(numbers[self.groups], self.keys, count)

    def merge(self, *others: "Calibration") -> "Calibration":
        """All calibrations as one, exactly as if sorted together."""
        everyone = (self, *others)
        count = len(self.counts)
        numbers = np.arange(count, dtype=np.min_scalar_type(count))
        return Calibration.of_parts([(np.repeat(numbers, one.counts), one.keys) for one in everyone], count)


def _check_alike(keys: Keys, known: Keys) -> None:
    """Refuses keys that cannot be compared with those of the calibration."""
    if [key.dtype for key in keys] != [key.dtype for key in known]:
        expected, received = (", ".join(key.dtype.name for key in some) for some in (known, keys))
        raise ScoreError.keys(f"arrays of {expected}, as at calibration", received)


def _at(key: NDArray[Any], cuts: Ints) -> NDArray[Any]:
    return key[cuts] if len(key) else np.zeros(len(cuts), dtype=key.dtype)
