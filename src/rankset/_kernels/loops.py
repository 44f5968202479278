"""The hot loops, compiled by Numba: one row at a time, while it is in the nearest cache.

Each gives the bits of its plain twin. Both also look at the values they read anyway: a row that is beyond doubt a row
of probabilities is clear, and anything else is left for the plain check to judge.
"""

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

from rankset import noise

GOLDEN = noise.GOLDEN
CHUNK = 8
BISECTIONS = 16

DOUBT = 0.009
"""Rows whose sum is further from 1 than this are not clear; the plain check allows 0.01."""


@intrinsic
def _bits(_context, value):
    """The bit pattern of a float64."""

    def codegen(context, builder, _signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), codegen


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def count_rows(probs, labels, ranks, owns):
    """Fills ``ranks`` and ``owns`` with rank and entry of each row's label; tells whether every row is clear."""
    clear, one = True, probs.dtype.type(1)
    for i in range(probs.shape[0]):
        row, label = probs[i], labels[i]
        own = row[label]
        above, equal, negative = np.int32(0), np.int32(0), np.int32(0)
        total = one - one
        for j in range(len(row)):
            value = row[j]
            above += np.int32(value > own)
            equal += np.int32(value == own)
            negative += np.int32(value < 0)
            total += value
        clear = clear and negative == 0 and abs(total - one) < DOUBT
        if equal > 1:
            for j in range(label):
                above += np.int32(row[j] == own)
        ranks[i], owns[i] = above + 1, own
    return clear


@numba.njit(nogil=True, cache=True)
def add_rows(probs, labels, masses):
    """Fills ``masses`` with the mass of each row's label, in units of 2**-50.

    p + 4 lies between 4 and 8, where float64 has that grid, so its bits minus those of 4 are the entry as an integer.
    """
    four = _bits(4.0)
    for i in range(probs.shape[0]):
        row, label = probs[i], labels[i]
        own = row[label]
        total = _bits(np.float64(own) + 4.0) - four
        for j in range(len(row)):
            value = row[j]
            entry = _bits(np.float64(value) + 4.0) - four
            total += entry if value > own else np.int64(0)
        for j in range(label):
            if row[j] == own:
                total += _bits(np.float64(own) + 4.0) - four
        masses[i] = total


@numba.njit(nogil=True, cache=True)
def take_first(probs, columns, crowded):
    """Fills ``columns`` (n, m) with the m most likely columns of each row; tells whether every row is clear.

    Whatever value the largest entries of m chunks reach, at least m entries reach, and they lie in such chunks. A row
    with too many of them, as ties make, is marked as ``crowded`` and left to the plain path.
    """
    clear, m = True, columns.shape[1]
    chunks = probs.shape[1] // CHUNK
    tops, hits = np.empty(chunks, probs.dtype), np.empty(chunks, np.int64)
    values, places = np.empty(2 * m + 2 * CHUNK, probs.dtype), np.empty(2 * m + 2 * CHUNK, np.int64)
    for i in range(probs.shape[0]):
        row = probs[i]
        clear = _is_clear(row) and clear
        _fill_tops(row, tops)
        cut = _reached_by(tops, m)
        found = _gather(row, cut, hits[: _hit(tops, cut, hits)], values, places)
        crowded[i] = found < m
        if found >= m:
            _rank(values[:found], places[:found], columns[i])
    return clear


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def _is_clear(row):
    """Whether a row is beyond doubt one of probabilities."""
    negative, one = np.int32(0), row.dtype.type(1)
    total = one - one
    for j in range(len(row)):
        negative += np.int32(row[j] < 0)
        total += row[j]
    return negative == 0 and abs(total - one) < DOUBT


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "nsz", "nnan"})
def _fill_tops(row, tops):
    """The largest entry of each chunk; the last one takes the remainder too."""
    for c in range(len(tops)):
        start = c * CHUNK
        top = row[start]
        for j in range(1, CHUNK):
            top = max(top, row[start + j])
        tops[c] = top
    for j in range(len(tops) * CHUNK, len(row)):
        tops[-1] = max(tops[-1], row[j])


@numba.njit(nogil=True, cache=True)
def _reached_by(tops, m):
    """A value that at least ``m`` of the ``tops`` reach, and not many more, by bisection."""
    low, high = tops[0], tops[0]
    for j in range(len(tops)):
        low, high = min(low, tops[j]), max(high, tops[j])
    for _ in range(BISECTIONS):
        middle = _between(low, high)
        reached = np.int32(0)
        for j in range(len(tops)):
            reached += np.int32(tops[j] >= middle)
        if reached >= m:
            low = middle
            if reached <= m + m // 4:
                break
        else:
            high = middle
    return low


@numba.njit(nogil=True, cache=True)
def _between(low, high):
    """The geometric mean of two positive numbers, of others the arithmetic one: probabilities spread over scales."""
    return np.sqrt(low) * np.sqrt(high) if low > 0 else low + (high - low) / 2


@numba.njit(nogil=True, cache=True)
def _hit(tops, cut, hits):
    """Lists the chunks whose largest entry reaches ``cut``, and counts them."""
    count = 0
    for c in range(len(tops)):
        hits[count] = c
        count += np.int64(tops[c] >= cut)
    return count


@numba.njit(nogil=True, cache=True)
def _gather(row, cut, hits, values, places):
    """Collects the entries of the ``hits`` that reach ``cut``, in column order, and counts them; -1 without room."""
    found, chunks = 0, len(row) // CHUNK
    for c in hits:
        stop = (c + 1) * CHUNK if c + 1 < chunks else len(row)
        for j in range(c * CHUNK, stop):
            if found == len(values):
                return -1
            values[found], places[found] = row[j], j
            found += np.int64(row[j] >= cut)
    return found


@numba.njit(nogil=True, cache=True)
def _rank(values, places, columns):
    """Fills ``columns`` with the best of ``places``, largest value first, equal ones in their order; sorts in place."""
    for a in range(1, len(values)):
        value, place, b = values[a], places[a], a
        while b > 0 and values[b - 1] < value:
            values[b], places[b] = values[b - 1], places[b - 1]
            b -= 1
        values[b], places[b] = value, place
    for j in range(len(columns)):
        columns[j] = places[j]


@numba.njit(nogil=True, cache=True)
def draw_rows(words, seeded, draws):
    """Fills ``draws`` with the number each row of ``words`` makes, as ``noise`` defines it."""
    for i in range(words.shape[0]):
        total, salt = np.uint64(0), np.uint64(0)
        for j in range(words.shape[1]):
            salt += GOLDEN
            total += _mixed(words[i, j] + salt)
        draws[i] = np.float64(_mixed(total ^ seeded) >> np.uint64(11)) * 2.0**-53


@numba.njit(nogil=True, cache=True)
def _mixed(word):
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
