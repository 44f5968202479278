"""Rank, mass and draw of one label per row: one row at a time, while it is in the nearest cache."""

import numpy as np

from rankset.core.kernels.loops.compiling import compiled
from rankset.core.kernels.loops.drawing import bits, draw
from rankset.core.kernels.loops.strided import fill_tops, new_tops


@compiled()
def read_labels(probs, labels, tolerance, ranks, owns, units, draws, words, seeded):
    """Fills what is asked for, that is not empty, for each row's label; tells whether every row is clear.

    A clear row is beyond doubt one of probabilities, its sum within ``tolerance`` of 1. ``units`` are masses in units
    of 2**-50, ``words`` the mixed ids.
    """
    clear, tops = True, new_tops(probs)
    for i in range(probs.shape[0]):
        row, label = probs[i], labels[i]
        own = row[label]
        total, negative, above, equal = survey(row, own)
        clear = clear and is_clear(total, negative, tolerance)
        rank = np.int64(above) + 1
        if equal > 1:
            for j in range(label):
                rank += np.int64(row[j] == own)
        ranks[i], owns[i] = rank, own
        if len(units):
            units[i] = (rank - np.int64(above)) * units_of(own) + (_units_above(row, own) if above else np.int64(0))
        if len(draws):
            fill_tops(row, tops)
            draws[i] = draw(row, tops, words[i % len(words)], seeded)
    return clear


@compiled("reassoc", "nsz")
def survey(row, own):
    """The sum of a row, how many entries are negative, above ``own`` and equal to it; floats count fastest."""
    nothing, one = row.dtype.type(0), row.dtype.type(1)
    total, negative, above, equal = nothing, nothing, nothing, nothing
    for j in range(len(row)):
        value = row[j]
        total += value
        negative += one if value < nothing else nothing
        above += one if value > own else nothing
        equal += one if value == own else nothing
    return total, negative, above, equal


@compiled()
def is_clear(total, negative, tolerance):
    """Whether these are the sum and the negative entries of a row of probabilities, beyond doubt; NaN is not."""
    return negative == 0 and abs(total - 1.0) < tolerance


@compiled()
def units_of(value):
    """An entry in units of 2**-50: p + 4 lies between 4 and 8, where float64 has that grid, so its bits count them."""
    return bits(np.float64(value) + 4.0) - bits(4.0)


@compiled()
def _units_above(row, own):
    """The sum of the entries above ``own``."""
    answer = np.int64(0)
    for j in range(len(row)):
        answer += units_of(row[j]) if row[j] > own else np.int64(0)
    return answer
