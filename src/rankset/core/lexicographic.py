"""Lexicographic order of keys, tuples of arrays with the most significant first: sorting, comparing, searching."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import packing, sorting

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
    packed = packing.sorted_keys(parts)
    if packed is not None:
        return packed
    keys = range(len(parts[0]))
    if len(keys) == 1:
        (only,) = keys
        return (sorting.sort(_joined_key(parts, only)),)
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


class SortedKeys:
    """Sorted keys that can be searched.

    Each key is replaced by its place among the distinct values: odd for a value itself, even between two values. The
    places of a tuple are combined into one integer, which is replaced by its place again. So integers stay small, and
    the search is exact.
    """

    def __init__(self, keys: Keys) -> None:
        self._levels: list[tuple[NDArray[Any], NDArray[np.int64]]] = []
        codes = np.zeros(len(keys[0]), dtype=np.int64)
        for key in keys:
            values = np.unique(key)
            codes = _joined(codes, values, key)
            distinct = np.unique(codes)
            codes = _place(distinct, codes)
            self._levels.append((values, distinct))
        self._places = codes

    def before(self, keys: Keys) -> NDArray[np.int64]:
        """Return how many of the sorted keys come strictly before each of ``keys``."""
        codes = np.zeros(np.broadcast_shapes(*(key.shape for key in keys)), dtype=np.int64)
        for key, (values, distinct) in zip(keys, self._levels, strict=True):
            codes = _place(distinct, _joined(codes, values, key))
        return np.searchsorted(self._places, codes, side="left")


def _joined(
    codes: NDArray[np.int64],
    values: NDArray[Any],
    key: NDArray[Any],
) -> NDArray[np.int64]:
    return codes * (2 * len(values) + 1) + _place(values, key)


def _place(values: NDArray[Any], key: NDArray[Any]) -> NDArray[np.int64]:
    left = np.searchsorted(values, key, side="left")
    return left + np.searchsorted(values, key, side="right")
