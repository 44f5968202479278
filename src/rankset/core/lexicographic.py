"""Lexicographic order on tuples of arrays, most significant first: one order for sorting, comparing, searching."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = tuple[NDArray[Any], ...]
"""Arrays of int64 or float64, of one shape, compared entry by entry like Python tuples."""


def argsort(keys: Keys) -> NDArray[np.int64]:
    """An order of one-dimensional ``keys``, found from the least significant key up; any, among equal tuples.

    Keys that are all the same cost nothing, and small integers (groups, ranks) little: they sort by radix.
    """
    ranking: NDArray[np.int64] | None = None
    for key in map(_compact, reversed(keys)):
        if len(key) and (key != key[0]).any():
            ranking = np.argsort(key) if ranking is None else ranking[np.argsort(key[ranking], kind="stable")]
    return np.arange(len(keys[0])) if ranking is None else ranking


AT_ONCE = 1 << 16


def sorted_union(parts: Sequence[Keys]) -> Keys:
    """The tuples of all ``parts`` in order.

    Keys are joined one at a time and places kept in 32 bits, so it takes little more memory than what comes and goes.
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
    """``key[places]``, some at a time: NumPy makes a wider copy of places in 32 bits."""
    answer = np.empty_like(key)
    for start in range(0, len(key), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        answer[part] = key[places[part]]
    return answer


def _short(ranking: NDArray[np.int64]) -> NDArray[Any]:
    """Places in 32 bits, where they fit."""
    return ranking.astype(np.uint32) if len(ranking) < 2**32 else ranking


def _compact(key: NDArray[Any]) -> NDArray[Any]:
    small = key.dtype.kind == "i" and len(key) > 0 and key.min() >= 0 and key.max() <= np.iinfo(np.uint16).max
    return key.astype(np.uint16) if small else key


def not_after(keys: Keys, bounds: Keys) -> NDArray[np.bool_]:
    """Elementwise ``keys <= bounds``, as Python compares tuples.

    >>> not_after((np.array([1, 1, 2]), np.array([5, 7, 0])), (np.array(1), np.array(6)))
    array([ True, False, False])
    """
    answer = keys[-1] <= bounds[-1]
    for key, bound in zip(keys[-2::-1], bounds[-2::-1], strict=True):
        answer = (key < bound) | ((key == bound) & answer)
    return answer


class SortedKeys:
    """Sorted keys, ready to tell where any other key stands among them.

    Each key is replaced by its place among the distinct values on the ladder (odd: on a value, even: between
    two), places combine into one integer, and that is made dense again, so integers stay small and exact.
    """

    def __init__(self, keys: Keys) -> None:
        self._steps: list[tuple[NDArray[Any], NDArray[np.int64]]] = []
        codes = np.zeros(len(keys[0]), dtype=np.int64)
        for key in keys:
            values = np.unique(key)
            codes = _joined(codes, values, key)
            distinct = np.unique(codes)
            codes = _place(distinct, codes)
            self._steps.append((values, distinct))
        self._places = codes

    def before(self, keys: Keys) -> NDArray[np.int64]:
        """How many rungs come strictly before each of ``keys``."""
        codes = np.zeros(np.broadcast_shapes(*(key.shape for key in keys)), dtype=np.int64)
        for key, (values, distinct) in zip(keys, self._steps, strict=True):
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
