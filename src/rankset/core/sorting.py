"""Sorting: by radix where compiled loops are loaded, and of long arrays by several threads."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import kernels, parallel
from rankset.core.kernels.compiled import CompiledLoops
from rankset.core.kernels.loaded import SORT_WORDS
from rankset.core.kernels.sorting import WORDS

Array = NDArray[Any]

READINGS = 64
"""Sorting takes about as long as reading so many times."""

LONG, LONG_FOR_LOOPS = 1 << 18, 1 << 19
"""Length from which on threads save time."""

RUN, RUN_OF_LOOPS = 1 << 13, 1 << 17
"""Length of the runs that are sorted at first; loops sort longer runs as fast."""

RANGES = 64
SAMPLE = 64
"""Entries per range that the bounds of the ranges are found by."""

WORD = 8
WHOLE = parallel.DEFAULT_BLOCK_BYTES // WORD


def sort(values: Array) -> Array:
    """Return ``values`` (n,) without NaN and -0.0, sorted; the memory of ``values`` may be reused.

    A long array is cut into runs that fit the cache and are sorted. Then the entries of all runs in one range of values
    are collected and sorted, range by range. NumPy takes 0.6 of the time for a million floats on two cores. Loops sort
    words of four bytes as fast in one thread.
    """
    loops = _loops(values)
    if loops is not None and (len(values) < LONG_FOR_LOOPS or values.itemsize < WORD):
        return loops.sort(values)
    if len(values) < LONG:
        return _sort_in_place(values)
    sort_some, length = (_sort_in_place, RUN) if loops is None else (loops.sort, RUN_OF_LOOPS)
    runs = parallel.map_blocks(lambda part: sort_some(values[part]), len(values), WHOLE // length)
    bounds = np.sort(values[:: len(values) // (RANGES * SAMPLE)])[SAMPLE::SAMPLE]
    cuts = np.array([[0, *np.searchsorted(run, bounds), len(run)] for run in runs])
    ends = cuts.sum(axis=0)
    answer = np.empty_like(values)

    def collect(part: slice) -> None:
        for place in range(part.start, part.stop):
            pieces = zip(runs, cuts[:, place].tolist(), cuts[:, place + 1].tolist(), strict=True)
            joined = np.concatenate([run[start:stop] for run, start, stop in pieces])
            answer[ends[place] : ends[place + 1]] = sort_some(joined)

    parallel.map_blocks(collect, len(ends) - 1, WHOLE)
    return answer


def _loops(values: Array) -> CompiledLoops | None:
    """Return the compiled loops if they sort values like these; None if NumPy does."""
    word = WORDS.get(values.dtype.str[1:])
    return None if word is None else kernels.choose(len(values), READINGS, [(SORT_WORDS, np.dtype(word).char)])


def _sort_in_place(values: Array) -> Array:
    values.sort()
    return values
