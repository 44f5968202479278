"""The most likely labels of rows with few columns, which are kept in order while a row is read."""

import numpy as np

from rankset.core.kernels.loops.compiling import compiled
from rankset.core.kernels.loops.counting import add_up, is_clear, units_of
from rankset.core.kernels.loops.drawing import draw

NARROW = 32


@compiled()
def list_narrow_rows(probs, start, limits, cutoffs, into, draws, words, seeded):
    """Do what ``list_rows`` does; ``limits`` are tolerance, rank and mass, and ``into`` the arrays to be filled."""
    (tolerance, rank, mass), (columns, entries, units, sizes) = limits, into
    n_rows, n_columns = probs.shape
    most = min(rank, n_columns)
    values, places = np.empty(most, probs.dtype), np.empty(most, np.int32)
    clear, filled = True, 0
    for i in range(start, n_rows):
        row = probs[i]
        total, negative = add_up(row)
        clear = clear and is_clear(total, negative, tolerance)
        found = _best(row, cutoffs[i if len(cutoffs) > 1 else 0], values, places)
        if filled + found > len(columns):
            return i, clear
        if len(units):
            found = add_within(values[:found], mass, units[filled:])
        for j in range(found):
            columns[filled + j], entries[filled + j] = places[j], values[j]
        filled, sizes[i] = filled + found, found
        if len(draws):
            draws[i] = draw(row, row, words[i if len(words) > 1 else 0], seeded)
    return n_rows, clear


@compiled()
def _best(row, cutoff, values, places):
    """Collect the largest entries that reach ``cutoff`` in order, at most ``len(values)``, and return their number."""
    found, most = 0, len(values)
    for j in range(len(row)):
        value = row[j]
        if value >= cutoff and (found < most or value > values[most - 1]):
            found = min(found + 1, most)
            b = found - 1
            while b > 0 and values[b - 1] < value:
                values[b], places[b] = values[b - 1], places[b - 1]
                b -= 1
            values[b], places[b] = value, j
    return found


@compiled()
def add_within(values, mass, units):
    """Fill ``units`` with running sums while at most ``mass`` lies before an entry; return how many there are."""
    before, most = np.int64(0), min(mass, 8.0) * 2.0**50
    for j in range(len(values)):
        if before > most:
            return j
        before += units_of(values[j])
        units[j] = before
    return len(values)
