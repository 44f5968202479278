"""Lexicographic order on tuples of arrays, most significant first: one order for sorting, comparing, searching."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = tuple[NDArray[Any], ...]
"""Arrays of int64 or float64, of one shape, compared entry by entry like Python tuples."""


def sorted_keys(groups: NDArray[np.int64], keys: Keys) -> Keys:
    """One-dimensional ``keys`` in order, group by group."""
    if len(keys) == 1 and (groups == groups[:1]).all():
        return (np.sort(keys[0]),)
    ranking = argsort((groups, *keys))
    return tuple(key[ranking] for key in keys)


def argsort(keys: Keys) -> NDArray[np.int64]:
    """An order of one-dimensional ``keys``, found from the least significant key up; any, among equal tuples.

    Keys that are all the same cost nothing, and small integers (groups, ranks) little: they sort by radix.
    """
    ranking: NDArray[np.int64] | None = None
    for key in map(_compact, reversed(keys)):
        if len(key) and (key != key[0]).any():
            ranking = np.argsort(key) if ranking is None else ranking[np.argsort(key[ranking], kind="stable")]
    return np.arange(len(keys[0])) if ranking is None else ranking


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


class Ladder:
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
        self._rungs = codes

    def before(self, keys: Keys) -> NDArray[np.int64]:
        """How many rungs come strictly before each of ``keys``."""
        codes = np.zeros(np.broadcast_shapes(*(key.shape for key in keys)), dtype=np.int64)
        for key, (values, distinct) in zip(keys, self._steps, strict=True):
            codes = _place(distinct, _joined(codes, values, key))
        return np.searchsorted(self._rungs, codes, side="left")


def _joined(
    codes: NDArray[np.int64],
    values: NDArray[Any],
    key: NDArray[Any],
) -> NDArray[np.int64]:
    return codes * (2 * len(values) + 1) + _place(values, key)


def _place(values: NDArray[Any], key: NDArray[Any]) -> NDArray[np.int64]:
    left = np.searchsorted(values, key, side="left")
    return left + np.searchsorted(values, key, side="right")
