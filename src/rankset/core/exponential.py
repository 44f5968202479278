"""The exponential function with the same bits on every machine.

``np.exp`` rounds differently with and without AVX-512. Draws of noise are hashes of probabilities, so the last bit of a
softmax would decide about sets. This one uses additions, multiplications and divisions only, which round alike
everywhere.
"""

import numpy as np
from numpy.typing import NDArray

from rankset.core.scratch import scratch

Floats = NDArray[np.float64]

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693147180369123816490
"""The first 32 bits of ln 2: its product with an integer below 2**20 is exact."""
LN2_LOW = 1.90821492927058770002e-10
"""The rest of ln 2."""

SERIES = (1 / 6, -1 / 360, 1 / 15120, -1 / 604800, 1 / 23950080, -691 / 653837184000)
"""r coth(r / 2) = 2 + r²/6 - r⁴/360 + …, from the Bernoulli numbers; the next term is below 2**-60."""

SMALLEST = -1100.0
"""exp of this is 0; -inf is replaced by it."""
NORMAL = -1000
"""Powers of 2 down to this one are normal numbers after a multiplication by at most 2."""


AT_ONCE = 1 << 14
"""Number of entries that are computed together: so many stay in the cache through all steps."""


def exp_of_nonpositive(x: Floats) -> Floats:
    """Return exp(x) for x <= 0, with a relative error of at most 3e-16; exp(-inf) is 0.

    >>> exp_of_nonpositive(np.array([0.0, -1.0, -np.inf]))
    array([1.        , 0.36787944, 0.        ])
    """
    answer = np.empty(x.shape)
    flat, filled = x.reshape(-1), answer.reshape(-1)
    for start in range(0, len(flat), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        _fill(flat[part], filled[part])
    return answer


def _fill(x: Floats, answer: Floats) -> None:
    """Fill ``answer`` with exp(x).

    x = k ln 2 + r with |r| <= ln 2 / 2, and exp(r) = 1 + 2 r / (r coth(r / 2) - r).
    """
    powers, rest, series = (scratch(x.shape, np.float64, slot) for slot in ("powers", "rest", "series"))
    np.maximum(x, SMALLEST, out=rest)
    np.multiply(rest, LOG2_E, out=powers)
    np.rint(powers, out=powers)
    rest -= np.multiply(powers, LN2_HIGH, out=answer)
    rest -= np.multiply(powers, LN2_LOW, out=answer)
    square = np.multiply(rest, rest, out=answer)
    series.fill(SERIES[-1])
    for term in SERIES[-2::-1]:
        series *= square
        series += term
    series *= square
    series += 2.0
    series -= rest
    rest *= 2.0
    rest /= series
    rest += 1.0
    if powers.min(initial=0) < NORMAL:
        np.ldexp(rest, powers.astype(np.int64), out=answer)
        return
    exponents = answer.view(np.int64)
    exponents[:] = powers
    exponents <<= 52
    exponents += rest.view(np.int64)
