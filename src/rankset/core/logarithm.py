"""The natural logarithm with the same bits on every machine.

``np.log`` rounds differently with and without AVX-512, and differently from the runtimes of ONNX models. Labels at a
threshold would be in a set on one machine and not on another. This one uses additions, multiplications and divisions
only, which round alike everywhere.
"""

import numpy as np
from numpy.typing import NDArray

from rankset.core.exponential import AT_ONCE, LN2_HIGH, LN2_LOW

Floats = NDArray[np.float64]

LEAST_PART = 0.7071067811865476
"""Numbers are m * 2**k with m from this, the root of 1/2, to less than its double."""
SERIES = tuple(2 / (2 * place + 1) for place in range(1, 12))
"""ln((1 + s) / (1 - s)) = 2 s + s (2/3 s² + 2/5 s⁴ + …); the next term is below 2**-60."""
LEAST_NORMAL = 2.0**-1022
LIFT = 54
"""Smaller numbers are multiplied by 2 to this power, so that all their bits have the usual places."""

_LEAST_PART_BITS = np.float64(LEAST_PART).view(np.int64)
_FRACTION_BITS = 52


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
    small = x < LEAST_NORMAL if x.min(initial=1.0) < LEAST_NORMAL else None
    lifted = x if small is None else np.multiply(x, 2.0**LIFT, where=small, out=x.copy())
    bits = lifted.view(np.int64) - _LEAST_PART_BITS
    powers = (bits >> _FRACTION_BITS).astype(np.float64)
    bits &= (1 << _FRACTION_BITS) - 1
    bits += _LEAST_PART_BITS
    above = bits.view(np.float64)
    above -= 1.0
    if small is not None:
        powers[small] -= LIFT
    ratios = np.divide(above, above + 2.0)
    squares = np.multiply(ratios, ratios)
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
