"""The natural logarithm with the same bits on every machine.

``np.log`` rounds differently with and without AVX-512, and differently from the runtimes of ONNX models. Labels at a
threshold would be in a set on one machine and not on another. This one uses additions, multiplications and divisions
only, which round alike everywhere.
"""

import numpy as np
from numpy.typing import NDArray

from rankset.core.exponential import AT_ONCE, LN2_HIGH, LN2_LOW
from rankset.core.scratch import scratch

Floats = NDArray[np.float64]

LEAST_PART = 0.7071067811865476
"""Numbers are m * 2**k with m from this, the root of 1/2, to less than its double."""
SERIES = (
    0.666666666666667,
    0.39999999999899505,
    0.28571428625975515,
    0.22222211134790545,
    0.181828891255921,
    0.15331721589574307,
    0.14616449820782476,
)
"""ln((1 + s) / (1 - s)) = 2 s + s (2/3 s² + 2/5 s⁴ + …): the polynomial that equals the series in brackets, divided by
s², at the seven Chebyshev points of all s² that occur. The part of its error in the logarithm is below 2**-56."""
LEAST_NORMAL = 2.0**-1022
LIFT = 54
"""Smaller numbers are multiplied by 2 to this power, so that all their bits have the usual places."""

_LEAST_PART_BITS = np.float64(LEAST_PART).view(np.int64)
_FRACTION_BITS = 52
SLOTS = ((np.int64, "bits"), (np.float64, "powers"), (np.float64, "rest"), (np.float64, "series"))
"""Memory that is used again, as by ``core.exponential``."""


def log_of_nonnegative(x: Floats) -> Floats:
    """Return ln(x) for finite x >= 0, with a relative error of at most 4e-16; ln(0) is -inf.

    >>> log_of_nonnegative(np.array([1.0, 0.5, 0.0]))
    array([ 0.        , -0.69314718,        -inf])
    """
    answer = np.empty(x.shape)
    flat, filled = np.ascontiguousarray(x, dtype=np.float64).reshape(-1), answer.reshape(-1)
    for start in range(0, len(flat), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        _fill(flat[part], filled[part])
    return answer


def _fill(x: Floats, answer: Floats) -> None:
    """Fill ``answer`` with ln(x).

    x = 2**k (1 + f), s = f / (2 + f), and ln(1 + f) = f - s (f - (2/3 s² + 2/5 s⁴ + …)).
    """
    bits, powers, ratios, squares = (scratch(x.shape, kind, slot) for kind, slot in SLOTS)
    small = x < LEAST_NORMAL if x.min(initial=1.0) < LEAST_NORMAL else None
    lifted = x if small is None else np.multiply(x, 2.0**LIFT, where=small, out=x.copy())
    np.subtract(lifted.view(np.int64), _LEAST_PART_BITS, out=bits)
    powers[:] = np.right_shift(bits, _FRACTION_BITS, out=squares.view(np.int64))
    bits &= (1 << _FRACTION_BITS) - 1
    bits += _LEAST_PART_BITS
    above = bits.view(np.float64)
    above -= 1.0
    if small is not None:
        powers[small] -= LIFT
    np.divide(above, np.add(above, 2.0, out=ratios), out=ratios)
    np.multiply(ratios, ratios, out=squares)
    series = np.multiply(squares, SERIES[-1], out=answer)
    for term in SERIES[-2::-1]:
        series += term
        series *= squares
    np.subtract(above, series, out=answer)
    answer *= ratios
    answer -= np.multiply(powers, LN2_LOW, out=squares)
    answer -= above
    powers *= LN2_HIGH
    np.subtract(powers, answer, out=answer)
    if small is not None:
        answer[x == 0] = -np.inf
