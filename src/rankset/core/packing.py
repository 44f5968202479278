"""Sorting of tuples of keys that fit into 64 bits, as one integer per tuple.

Small integers (groups, ranks) and floats that float32 holds exactly (probabilities of most networks) fit: 10,000 tuples
of a rank and a probability are sorted in two thirds of the time.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankset.core.scratch import scratch
from rankset.core.sorting import sort

Keys = tuple[NDArray[Any], ...]
Words = NDArray[np.uint64]

WORD, HALF = 64, 32

FEW = 2048
"""Fewer tuples are sorted as they are."""

PROBED = 16
"""Entries that are looked at first: most keys that do not fit are found by them."""

SIGN = np.uint32(1 << 31)


class _Packed(NamedTuple):
    """One key as integers below 2**width, in the same order; floats have no ``low``, for integers 0 stands for it."""

    codes: NDArray[Any]
    width: int
    low: int | None


def sorted_keys(parts: Sequence[Keys]) -> Keys | None:
    """Return the tuples of all ``parts``, sorted; None if there are few or if they do not fit into 64 bits.

    >>> ranks, probs = np.repeat([2, 1], 2000), np.tile([0.5, 0.25], 2000)
    >>> [key[[0, 999, 1000, 3999]].tolist() for key in sorted_keys([(ranks, probs)])]
    [[1, 1, 1, 2], [0.25, 0.25, 0.5, 0.5]]
    """
    if sum(len(part[0]) for part in parts) < FEW:
        return None
    if len(parts[0]) == 1:
        return _sorted_floats([key for (key,) in parts])
    if any(_pack(key[:PROBED]) is None for key in parts[0]):
        return None
    packed: list[_Packed] = []
    for place in range(len(parts[0])):
        key = _pack(np.concatenate([part[place] for part in parts]))
        if key is None or key.width + sum(known.width for known in packed) > WORD:
            return None
        packed.append(key)
    return _unpacked(_words(packed), packed)


def _sorted_floats(parts: Sequence[NDArray[Any]]) -> Keys | None:
    """Return the only key, sorted; None if it has integers or floats that float32 does not hold."""
    if parts[0].dtype.kind != "f" or not _fits_float32(parts[0][:PROBED]):
        return None
    short, start = scratch((sum(map(len, parts)),), np.float32, "short"), 0
    for key in parts:
        piece = short[start : start + len(key)]
        with np.errstate(all="ignore"):
            piece[:] = key
        if not (piece == key).all():
            return None
        start += len(key)
    return (sort(short).astype(np.float64),)


def _fits_float32(key: NDArray[Any]) -> bool:
    """Return whether float32 holds all entries."""
    with np.errstate(all="ignore"):
        return bool((key.astype(np.float32) == key).all())


def _pack(key: NDArray[Any]) -> _Packed | None:
    """Return a key as integers; None if it has floats that float32 does not hold."""
    if key.dtype.kind != "f":
        low, high = (int(key.min()), int(key.max())) if len(key) else (0, 0)
        return _Packed(key.astype(np.uint64) - np.uint64(low % 2**WORD), (high - low).bit_length(), low)
    with np.errstate(all="ignore"):
        short = key.astype(np.float32) + np.float32(0)
    return _Packed(_ascending(short), HALF, None) if (short == key).all() else None


def _ascending(values: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Return integers in the order of the floats: positive ones get a sign bit, negative ones are inverted."""
    bits = values.view(np.int32)
    return (bits ^ ((bits >> 31) | SIGN.view(np.int32))).view(np.uint32)


def _floats(codes: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Return the floats that ``_ascending`` made integers of."""
    bits = codes.view(np.int32)
    return (bits ^ (~(bits >> 31) | SIGN.view(np.int32))).view(np.float32).astype(np.float64)


def _words(packed: Sequence[_Packed]) -> NDArray[Any]:
    """Return one integer per tuple, sorted."""
    words = packed[0].codes
    for key in packed[1:]:
        words = (words.astype(np.uint64) << np.uint64(key.width)) | key.codes
    return sort(words)


def _unpacked(words: NDArray[Any], packed: Sequence[_Packed]) -> Keys:
    """Return the keys that were packed into ``words``."""
    answers, shift = [], 0
    for key in reversed(packed):
        codes = words >> np.asarray(shift, dtype=words.dtype)
        if key.low is None:
            answers.append(_floats(codes.astype(np.uint32)))
        else:
            codes &= np.uint64((1 << key.width) - 1)
            answers.append(codes.view(np.int64) + key.low)
        shift += key.width
    return tuple(reversed(answers))
