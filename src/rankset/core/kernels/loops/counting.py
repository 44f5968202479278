"""Entry, rank, mass and noise of one label per row."""

import numpy as np

from rankset.core.kernels.loops.compiling import compiled
from rankset.core.kernels.loops.drawing import bits, draw
from rankset.core.kernels.loops.strided import fill_tops, new_tops


@compiled()
def read_entries(probs, labels, tolerance, entries):
    """Fill ``entries`` with the entry of each row's label, and return whether all rows are certainly valid."""
    clear = True
    for i in range(probs.shape[0]):
        total, negative = add_up(probs[i])
        clear = clear and is_clear(total, negative, tolerance)
        entries[i] = probs[i, labels[i]]
    return clear


@compiled("reassoc", "nsz")
def add_up(row):
    """Return the sum of a row and how many entries are negative."""
    nothing, one = row.dtype.type(0), row.dtype.type(1)
    total, negative = nothing, nothing
    for j in range(len(row)):
        value = row[j]
        total += value
        negative += one if value < nothing else nothing
    return total, negative


@compiled()
def read_labels(probs, labels, tolerance, ranks, entries, units, draws, words, seeded):
    """Fill the arrays with what belongs to each row's label, and return whether all rows are certainly valid.

    A row is valid if its entries are not negative and its sum lies within ``tolerance`` of 1. ``units`` are masses in
    units of 2**-50 and ``draws`` the noise; they are skipped if empty. ``words`` are the hashed ids.
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
        ranks[i], entries[i] = rank, own
        if len(units):
            units[i] = (rank - np.int64(above)) * units_of(own) + (_units_above(row, own) if above else np.int64(0))
        if len(draws):
            word = words[i if len(words) > 1 else 0]
            if len(tops) == len(row):
                draws[i] = draw(row, row, word, seeded)
            else:
                fill_tops(row, tops)
                draws[i] = draw(row, tops, word, seeded)
    return clear


@compiled("reassoc", "nsz")
def survey(row, own):
    """Return the sum of a row and how many entries are negative, above ``own`` and equal to it; counts are floats,
    which are fastest."""
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
    """Return whether a row with this sum and number of negative entries is certainly valid; NaN is not."""
    return negative == 0 and abs(total - 1.0) < tolerance


@compiled()
def units_of(value):
    """Return an entry in units of 2**-50: float64 has this spacing between 4 and 8, so the bits of p + 4 count them."""
    return bits(np.float64(value) + 4.0) - bits(4.0)


@compiled()
def _units_above(row, own):
    """Return the sum of the entries above ``own`` in units of 2**-50."""
    answer = np.int64(0)
    for j in range(len(row)):
        answer += units_of(row[j]) if row[j] > own else np.int64(0)
    return answer
