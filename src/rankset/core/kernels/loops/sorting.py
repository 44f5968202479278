"""Radix sort of integers and of floats."""

import numpy as np

from rankset.core.kernels.loops.compiling import compiled

DIGIT = np.uint64(11)
VALUES = 1 << 11
LAST_DIGIT = np.uint64(VALUES - 1)


@compiled()
def sort_words(words, spare, n_bits, sign):
    """Sort unsigned ``words`` of at most ``n_bits`` bits, or the bits of floats; ``spare`` is memory of the same size.

    ``sign`` is the sign bit of floats, 0 for integers. Return whether the sorted words are in ``spare``.
    """
    n_digits = (n_bits + 10) // 11
    counts = np.zeros((n_digits, VALUES), np.int64)
    if sign:
        _order_floats(words, sign)
    for i in range(len(words)):
        word = np.uint64(words[i])
        for digit in range(n_digits):
            counts[digit, np.int64(word & LAST_DIGIT)] += 1
            word >>= DIGIT
    from_words = True
    for digit in range(n_digits):
        shift = np.uint64(digit) * DIGIT
        if counts[digit, np.int64((np.uint64(words[0]) >> shift) & LAST_DIGIT)] == len(words):
            continue  # all words have this digit
        if from_words:
            _pass(words, spare, shift, counts[digit])
        else:
            _pass(spare, words, shift, counts[digit])
        from_words = not from_words
    if sign:
        _restore_floats(words if from_words else spare, sign)
    return not from_words


@compiled()
def _pass(words, into, shift, counts):
    """Sort ``words`` by one digit into ``into``; equal digits keep their order."""
    start = np.int64(0)
    for value in range(VALUES):
        start, counts[value] = start + counts[value], start
    for i in range(len(words)):
        word = words[i]
        value = np.int64((np.uint64(word) >> shift) & LAST_DIGIT)
        into[counts[value]] = word
        counts[value] += 1


@compiled()
def _order_floats(words, sign):
    """Turn the bits of floats into integers of the same order: positive ones get a sign bit, negative ones are
    inverted."""
    for i in range(len(words)):
        words[i] = ~words[i] if words[i] & sign else words[i] | sign


@compiled()
def _restore_floats(words, sign):
    """Undo ``_order_floats``."""
    for i in range(len(words)):
        words[i] = words[i] ^ sign if words[i] & sign else ~words[i]
