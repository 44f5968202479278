"""The full ranking of float32 rows, by radix sort."""

import numpy as np

from rankset.core.kernels.loops.compiling import compiled
from rankset.core.kernels.loops.counting import units_of
from rankset.core.kernels.loops.drawing import draw
from rankset.core.kernels.loops.strided import fill_tops, new_tops

DIGITS = 4
RADIX = 256
LAST_BYTE = np.uint64(RADIX - 1)
SIGN = np.uint32(1 << 31)


@compiled()
def rank_rows(probs, bits, columns, entries, units, draws, seeds, seeded):
    """Fill the arrays with the columns of each row, the largest entry first and equal ones from the left, and with
    their entries; ``bits`` are those of ``probs``.

    Unless empty, ``units`` is filled with the masses up to each column in units of 2**-50, and ``draws`` with the noise
    of the rows, whose hashed ids are ``seeds``.
    """
    n_rows, n_columns = bits.shape
    words, spare = np.empty(n_columns, np.uint64), np.empty(n_columns, np.uint64)
    counts, tops, filled = np.empty((DIGITS, RADIX), np.int64), new_tops(probs), 0
    for i in range(n_rows):
        _fill_words(bits[i], words, counts)
        for digit in range(0, DIGITS, 2):
            _pass(words, spare, digit, counts[digit])
            _pass(spare, words, digit + 1, counts[digit + 1])
        for j in range(n_columns):
            column = np.int64(words[j] & np.uint64(0xFFFFFFFF))
            columns[filled + j], entries[filled + j] = column, probs[i, column]
        if len(units):
            total = np.int64(0)
            for j in range(filled, filled + n_columns):
                total += units_of(entries[j])
                units[j] = total
        filled += n_columns
        if len(draws):
            fill_tops(probs[i], tops)
            draws[i] = draw(probs[i], tops, seeds[i % len(seeds)], seeded)


@compiled()
def _fill_words(row, words, counts):
    """Fill ``words`` with a row's entries in reverse order, as ``ranking`` packs them, and columns. Count digits."""
    counts[:] = 0
    for j in range(len(row)):
        entry = row[j]
        if entry == SIGN:  # -0.0
            entry = np.uint32(0)
        word = np.uint64(entry if entry & SIGN else entry ^ np.uint32(0x7FFFFFFF))
        words[j] = (word << np.uint64(32)) | np.uint64(j)
        for digit in range(DIGITS):
            counts[digit, np.int64((word >> np.uint64(8 * digit)) & LAST_BYTE)] += 1


@compiled()
def _pass(words, into, digit, counts):
    """Sort ``words`` by one digit of their upper half into ``into``; equal digits keep their order."""
    start = np.int64(0)
    for value in range(RADIX):
        start, counts[value] = start + counts[value], start
    shift = np.uint64(32 + 8 * digit)
    for j in range(len(words)):
        value = np.int64((words[j] >> shift) & LAST_BYTE)
        into[counts[value]] = words[j]
        counts[value] += 1
