"""Lexicographic order of keys, tuples of arrays with the most significant first: sorting, comparing, searching."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = tuple[NDArray[Any], ...]
"""Arrays of int64 or float64, of one shape, compared entry by entry like Python tuples."""


def argsort(keys: Keys) -> NDArray[np.int64]:
    """Return an order that sorts one-dimensional ``keys``; equal tuples may come in any order.

    Constant keys cost nothing. Small integers (groups, ranks) are sorted by radix and cost little.
    """
    ranking: NDArray[np.int64] | None = None
    for key in map(_compact, reversed(keys)):
        if len(key) and (key != key[0]).any():
            ranking = np.argsort(key) if ranking is None else ranking[np.argsort(key[ranking], kind="stable")]
    return np.arange(len(keys[0])) if ranking is None else ranking


AT_ONCE = 1 << 16


def sorted_union(parts: Sequence[Keys]) -> Keys:
    """Return the tuples of all ``parts``, sorted.

    Keys are joined one at a time and positions are kept in 32 bits, so little memory is needed beyond input and output.
    """
    keys = range(len(parts[0]))
    if len(keys) == 1:
        (only,) = keys
        joined = _joined_key(parts, only)
        joined.sort()
        return (joined,)
    ranking: NDArray[Any] | None = None
    for place in reversed(keys):
        key = _compact(_joined_key(parts, place))
        if len(key) and (key != key[0]).any():
            if ranking is not None:
                key = _at(key, ranking)
            found = np.argsort(key, kind=None if ranking is None else "stable")
            ranking = _short(found) if ranking is None else ranking[found]
            del key, found  # before the next ones are made
    answers = []
    for place in keys:
        joined = _joined_key(parts, place)
        answers.append(joined if ranking is None else _at(joined, ranking))
    return tuple(answers)


def _joined_key(parts: Sequence[Keys], place: int) -> NDArray[Any]:
    return np.concatenate([part[place] for part in parts])


def _at(key: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """Return ``key[places]``, in pieces: NumPy would copy all places to 64 bits at once."""
    answer = np.empty_like(key)
    for start in range(0, len(key), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        answer[part] = key[places[part]]
    return answer


def _short(ranking: NDArray[np.int64]) -> NDArray[Any]:
    """Return places in 32 bits if they fit."""
    return ranking.astype(np.uint32) if len(ranking) < 2**32 else ranking


def _compact(key: NDArray[Any]) -> NDArray[Any]:
    """Return small integers as uint16, which NumPy sorts by radix."""
    small = key.dtype.kind == "i" and len(key) > 0 and key.min() >= 0 and key.max() <= np.iinfo(np.uint16).max
    return key.astype(np.uint16) if small else key


def not_after(keys: Keys, bounds: Keys) -> NDArray[np.bool_]:
    """Return ``keys <= bounds`` element by element, as Python compares tuples.

    >>> not_after((np.array([1, 1, 2]), np.array([5, 7, 0])), (np.array(1), np.array(6)))
    array([ True, False, False])
    """
    answer = keys[-1] <= bounds[-1]
    for key, bound in zip(keys[-2::-1], bounds[-2::-1], strict=True):
        answer = (key < bound) | ((key == bound) & answer)
    return answer


MOST_BUCKETS = 1 << 20
BUCKETS_PER_VALUE = 64
"""A level has about this many buckets per distinct value, as long as there are at most MOST_BUCKETS."""


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
class Level:
    """The distinct values of a key after each prefix, the place of the keys before it, and a table of buckets.

    A bucket holds the keys whose words agree after ``shift``; ``low`` and ``high`` are the first and the last bucket
    of a prefix, which also hold everything beyond them.

    Attributes
    ----------
    values : the distinct values, sorted by prefix, then by value.
    buckets : twice the number of values before each bucket, plus 1 if the bucket has values.
    exact : whether no bucket has room for two values.
    """

    values: NDArray[Any]
    buckets: NDArray[Any]
    shift: int
    low: int
    high: int
    exact: bool

    @classmethod
    def of(cls, prefixes: NDArray[np.int64], count: int, values: NDArray[Any]) -> "Level":
        """Make the table of ``values`` that come after ``prefixes``, places below ``count``."""
        room = min(BUCKETS_PER_VALUE * len(values), MOST_BUCKETS) // count
        shift, low, high = _buckets_of(_words(values), room)
        numbers = _numbers(prefixes, values, shift, low, high)
        found = np.bincount(numbers, minlength=count * (high - low + 1) + 1)
        buckets = 2 * (np.cumsum(found) - found) + (found > 0)
        small = buckets.astype(np.int32) if len(values) < SMALL else buckets
        return cls(values, small, shift, low, high, shift == 0)

    def places(self, prefixes: NDArray[Any], key: NDArray[Any]) -> NDArray[Any]:
        """Return the place of each (prefix, key), given the places of the prefixes."""
        numbers = _numbers(prefixes, key, self.shift, self.low, self.high)
        places = self.buckets.take(numbers, mode="clip")
        if self.exact:
            return places
        unsure = np.flatnonzero(places & 1)
        if len(unsure):
            begin, end = places.ravel()[unsure] >> 1, self.buckets.take(numbers.ravel()[unsure] + 1) >> 1
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

FEWEST_BUCKETS = 4
SMALL = 1 << 30
SMALLEST, LARGEST = -(2**63), 2**63 - 1


def _numbers(prefixes: NDArray[Any], key: NDArray[Any], shift: int, low: int, high: int) -> NDArray[np.int64]:
    """Return the number of the bucket of each (prefix, key)."""
    words = _words(key)
    words >>= shift
    np.clip(words, low, high, out=words)
    words -= low
    return words + prefixes.astype(np.int64, copy=False) * (high - low + 1)


def _buckets_of(words: NDArray[np.int64], room: int) -> tuple[int, int, int]:
    """Return shift, first and last bucket of words in at most ``room`` buckets; one bucket if there is little room."""
    if room < FEWEST_BUCKETS or not len(words):
        return 63, 0, 0
    least, most, shift = int(words.min()), int(words.max()), 0
    while (most >> shift) - (least >> shift) + 3 > room:
        shift += 1
    return shift, max((least >> shift) - 1, SMALLEST), min((most >> shift) + 1, LARGEST)


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
