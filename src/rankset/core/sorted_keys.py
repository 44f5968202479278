"""Search among sorted keys by tables of buckets, made once."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.lexicographic import Keys

MOST_BUCKETS = 1 << 20
BUCKETS_PER_VALUE = 64
"""A level has about this many buckets per distinct value, as long as there are at most MOST_BUCKETS."""

FEWEST = 4
"""With fewer buckets per prefix a table saves no time."""

SMALL = 1 << 30
SMALLEST, LARGEST = -(2**63), 2**63 - 1


class SortedKeys:
    """Sorted keys that can be searched: a table per key, made once.

    A place is an integer: ``2 * d + 1`` for the distinct tuple number d, ``2 * d`` between the tuples d - 1 and d.

    Attributes
    ----------
    levels : a table for the first key, for the first two keys, and so on.
    starts : how many of the sorted keys come before each distinct tuple, and at the end their number.
    """

    def __init__(self, keys: Keys) -> None:
        levels, n = [], len(keys[0])
        prefixes, count, distinct = np.zeros(n, dtype=np.int64), 1, np.arange(n) == 0
        first = np.flatnonzero(distinct)
        for key in map(_wide, keys):
            distinct[1:] |= key[1:] != key[:-1]
            first = np.flatnonzero(distinct)
            levels.append(Level.of(prefixes[first], count, key[first]))
            prefixes, count = 2 * np.cumsum(distinct) - 1, 2 * len(first) + 1
        self.levels = tuple(levels)
        self.starts: NDArray[np.int64] = np.append(first, n)

    def places(self, keys: Keys, search: "Search | None" = None) -> NDArray[Any]:
        """Return the place of each of ``keys``, int64 or float64 without -0.0, among the distinct tuples.

        ``search`` replaces ``Level.places``.
        """
        places: NDArray[Any] = np.zeros(1, dtype=np.int64)
        for key, level in zip(keys, self.levels, strict=True):
            places = (search or Level.places)(level, places, key)
        return places

    def before(self, keys: Keys) -> NDArray[np.int64]:
        """Return how many of the sorted keys come strictly before each of ``keys``."""
        return self.starts[self.places(tuple(map(_wide, keys))) >> 1]


@dataclass(frozen=True)
class Buckets:
    """Buckets of keys, in their order: by the bits of keys after ``shift``, or by value if ``scale`` is not 0.

    The first and the last bucket, ``low`` and ``high``, also hold everything beyond them.
    """

    shift: int
    low: int
    high: int
    start: float = 0.0
    stop: float = 0.0
    scale: float = 0.0

    @classmethod
    def by_bits(cls, values: NDArray[Any], limit: int) -> "Buckets":
        """Return at most ``limit`` buckets for ``values``; one bucket if the limit is below FEWEST."""
        if limit < FEWEST or not len(values):
            return cls(63, 0, 0)
        words, shift = _words(values), 0
        least, most = int(words.min()), int(words.max())
        while (most >> shift) - (least >> shift) + 3 > limit:
            shift += 1
        return cls(shift, max((least >> shift) - 1, SMALLEST), min((most >> shift) + 1, LARGEST))

    @classmethod
    def by_value(cls, values: NDArray[Any], limit: int) -> "Buckets | None":
        """Return ``limit`` buckets of equal length for finite floats; None if they cannot be computed."""
        if limit < FEWEST or not len(values) or values.dtype.kind != "f":
            return None
        least, most = float(values.min()), float(values.max())
        length = (most - least) / (limit - FEWEST + 1) if math.isfinite(most - least) else 0.0
        start, stop, scale = least - length, least + length * limit, 1 / (length or math.inf)
        usable = start < least and 0 < scale < math.inf and math.isfinite(start) and math.isfinite(stop)
        return cls(0, 0, limit - 1, start, stop, scale) if usable else None

    @property
    def count(self) -> int:
        """Number of buckets."""
        return self.high - self.low + 1

    def numbers(self, prefixes: NDArray[Any], key: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of the bucket of each key, after all buckets of the places before its prefix."""
        if self.scale:
            floats = np.clip(key, self.start, self.stop)
            floats -= self.start
            floats *= self.scale
            words = floats.astype(np.int64)
        else:
            words = _words(key)
            words >>= self.shift
        np.clip(words, self.low, self.high, out=words)
        words -= self.low
        return words + prefixes.astype(np.int64, copy=False) * self.count


@dataclass(frozen=True)
class Level:
    """The distinct values of a key after each prefix, the place of the keys before it, and a table of buckets.

    Attributes
    ----------
    values : the distinct values, sorted by prefix, then by value.
    buckets : the buckets of the values after one prefix.
    table : twice the number of values before each bucket, plus 1 if the bucket has values.
    exact : whether two different values are never in one bucket.
    """

    values: NDArray[Any]
    buckets: Buckets
    table: NDArray[Any]
    exact: bool

    @classmethod
    def of(cls, prefixes: NDArray[np.int64], count: int, values: NDArray[Any]) -> "Level":
        """Make the table of ``values`` that come after ``prefixes``, places below ``count``."""
        limit = min(BUCKETS_PER_VALUE * len(values), MOST_BUCKETS) // count
        ways = [way for way in (Buckets.by_bits(values, limit), Buckets.by_value(values, limit)) if way is not None]
        found = [np.bincount(way.numbers(prefixes, values), minlength=count * way.count + 1) for way in ways]
        steps = [np.log2(1 + one[:-1].reshape(count, -1).max(axis=1)).sum() for one in found]  # in the fullest buckets
        best = int(np.argmin(steps))
        table = 2 * (np.cumsum(found[best]) - found[best]) + (found[best] > 0)
        small = table.astype(np.int32) if len(values) < SMALL else table
        return cls(values, ways[best], small, not (ways[best].shift or ways[best].scale))

    def places(self, prefixes: NDArray[Any], key: NDArray[Any]) -> NDArray[Any]:
        """Return the place of each (prefix, key), given the places of the prefixes."""
        numbers = self.buckets.numbers(prefixes, key)
        places = self.table.take(numbers, mode="clip")
        if self.exact:
            return places
        unsure = np.flatnonzero(places & 1)
        if len(unsure):
            begin, end = places.ravel()[unsure] >> 1, self.table.take(numbers.ravel()[unsure] + 1) >> 1
            places.reshape(-1)[unsure] = self._within(begin, end, np.broadcast_to(key, places.shape).ravel()[unsure])
        return places

    def _within(self, begin: NDArray[Any], end: NDArray[Any], key: NDArray[Any]) -> NDArray[Any]:
        """Return the place of each key among the values from ``begin`` to ``end``, by bisection."""
        for bit in reversed(range(int((end - begin).max()).bit_length())):
            probe = begin + (1 << bit)
            after = self.values.take(probe - 1, mode="clip") < key
            after &= probe <= end
            begin = np.where(after, probe, begin)
        equal = self.values.take(begin, mode="clip") == key
        equal &= begin < end
        return 2 * begin + equal


Search = Callable[[Level, NDArray[Any], NDArray[Any]], NDArray[Any]]


def _wide(key: NDArray[Any]) -> NDArray[Any]:
    """Return a key as int64, or as float64 without -0.0."""
    return key.astype(np.int64, copy=False) if key.dtype.kind in "iub" else key.astype(np.float64, copy=False) + 0.0


def _words(key: NDArray[Any]) -> NDArray[np.int64]:
    """Return integers that are ordered as the keys; the bits of a negative float are inverted, except the sign."""
    if key.dtype.kind == "i":
        return key.copy()
    words = key.view(np.int64) >> 63
    words &= LARGEST
    words ^= key.view(np.int64)
    return words
