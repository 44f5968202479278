"""Lexicographic order of keys, tuples of arrays with the most significant first: sorting and comparing."""

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

FEW_TIES = 8
"""Equal first keys are few if at most one tuple of this many has one."""
SAMPLE = 1 << 12
"""So many tuples show whether equal first keys are many; then they are not sorted by them alone."""


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
    ranking = _ranking_of_distinct(parts)
    if ranking is None:
        ranking = _ranking_by_each_key(parts)
    answers = []
    for place in keys:
        joined = _joined_key(parts, place)
        answers.append(joined if ranking is None else _at(joined, ranking))
    return tuple(answers)


def _ranking_of_distinct(parts: Sequence[Keys]) -> NDArray[Any] | None:
    """Return the order of tuples whose first key is a float that is seldom equal; None if it is not.

    They are sorted by the first key alone, without a stable sort, and the few equal ones by the others afterwards.
    """
    first = _joined_key(parts, 0)
    if first.dtype.kind != "f" or not len(first):
        return None
    if len(first) > SAMPLE and _are_many(_ties(np.sort(first[:: len(first) // SAMPLE]))[1]):
        return None
    ranking = np.argsort(first)
    same, tied = _ties(first[ranking])
    if _are_many(tied):
        return None
    where = ranking[tied]
    runs = np.cumsum(~np.append(False, same))[tied]
    others = (_joined_key(parts, place)[where] for place in range(1, len(parts[0])))
    ranking[tied] = where[argsort((runs, *others))]
    return _short(ranking)


def _ties(ordered: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which sorted entries equal the next one, and which equal a neighbour."""
    same = ordered[1:] == ordered[:-1]
    return same, np.append(same, False) | np.append(False, same)


def _are_many(tied: NDArray[np.bool_]) -> bool:
    return int(np.count_nonzero(tied)) * FEW_TIES > len(tied)


def _ranking_by_each_key(parts: Sequence[Keys]) -> NDArray[Any] | None:
    """Return the order of tuples, sorted by every key in turn, the least significant first; None if all are equal."""
    ranking: NDArray[Any] | None = None
    for place in reversed(range(len(parts[0]))):
        key = _compact(_joined_key(parts, place))
        if len(key) and (key != key[0]).any():
            if ranking is not None:
                key = _at(key, ranking)
            found = np.argsort(key, kind=None if ranking is None else "stable")
            ranking = _short(found) if ranking is None else ranking[found]
            del key, found  # before the next ones are made
    return ranking


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
    answer: NDArray[np.bool_] = keys[-1] <= bounds[-1]
    if len(keys) == 1:
        return answer
    for key, bound in zip(keys[-2::-1], bounds[-2::-1], strict=True):
        answer = (key < bound) | ((key == bound) & answer)
    return answer
