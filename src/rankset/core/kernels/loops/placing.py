"""The places of keys among sorted values, by a table of buckets (see ``sorted_keys.Level``)."""

import numpy as np

from rankset.core.kernels.loops.compiling import compiled


@compiled()
def find_by_bits(prefixes, key, words, inverted, values, table, shift, low, high, exact, answer):
    """Fill ``answer`` with the place of each (prefix, key), by the bits of keys; one prefix is that of all keys.

    ``words`` are the bits, and ``inverted`` are those to invert of negative keys.
    """
    step, width = np.int64(len(prefixes) > 1), high - low + 1
    for i in range(len(key)):
        word = words[i] ^ ((words[i] >> 63) & inverted)
        number = min(max(word >> shift, low), high) - low + np.int64(prefixes[i * step]) * width
        place = np.int64(table[number])
        if place & 1 and not exact:
            place = _within(values, place >> 1, np.int64(table[number + 1]) >> 1, key[i])
        answer[i] = place


@compiled()
def find_by_value(prefixes, key, values, table, _shift, low, high, start, stop, scale, answer):
    """Do the same with buckets of equal length, from ``start`` to ``stop``."""
    step, width = np.int64(len(prefixes) > 1), high - low + 1
    for i in range(len(key)):
        word = np.int64((min(max(key[i], start), stop) - start) * scale)
        number = min(max(word, low), high) - low + np.int64(prefixes[i * step]) * width
        place = np.int64(table[number])
        if place & 1:
            place = _within(values, place >> 1, np.int64(table[number + 1]) >> 1, key[i])
        answer[i] = place


@compiled()
def _within(values, begin, end, key):
    """Return the place of a key among the values from ``begin`` to ``end``, by bisection."""
    last = end
    while begin < end:
        middle = (begin + end) >> 1
        if values[middle] < key:
            begin = middle + 1
        else:
            end = middle
    return 2 * begin + np.int64(begin < last and values[begin] == key)


@compiled()
def spread(table, places, flat, answer):
    """Put the entries of ``table`` at ``places`` into ``answer``, at the positions ``flat``."""
    for i in range(len(places)):
        answer[flat[i]] = table[places[i]]
