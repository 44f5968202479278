"""Weights of calibration entries: fractions of integers, added up and compared exactly."""

import math
from bisect import bisect_left
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import EXACT

Ints = NDArray[np.int64]

FEW_WHOLES = 1 << 12
BITS = 128
ROUNDING = 1e-9
"""Relative rounding error of sums of weights that is certainly not exceeded."""

Weights = tuple[Ints, Ints]
"""The weight of each entry: an integer, and the integer that it is divided by, both at most LARGEST."""

LARGEST = 1 << 31


class Sums:
    """Exact sums of the weights of consecutive entries."""

    def __init__(self, weights: Weights) -> None:
        """Prepare the sums of ``weights``."""
        self._parts, wholes = weights
        self._ones = bool((self._parts == 1).all())
        if wholes.max(initial=0) < FEW_WHOLES:
            self._codes, self._wholes = wholes, list(range(int(wholes.max(initial=0)) + 1))
        else:
            known, self._codes = np.unique(wholes, return_inverse=True)
            self._wholes = known.tolist()

    def of(self, start: int, stop: int | None = None) -> Fraction:
        """Return the sum from ``start`` on, up to ``stop``.

        >>> Sums((np.array([1, 1, 1]), np.array([2, 3, 3]))).of(0)
        Fraction(7, 6)
        """
        some = slice(start, stop)
        if self._ones:
            sums = np.bincount(self._codes[some], minlength=len(self._wholes))
        else:
            sums = np.zeros(len(self._wholes), dtype=np.int64)
            np.add.at(sums, self._codes[some], self._parts[some])
        pairs = zip(sums.tolist(), self._wholes, strict=True)
        return sum((Fraction(part, whole) for part, whole in pairs if part), Fraction(0))


def first_within(weights: Weights, allowed: Fraction) -> int:
    """Return the smallest position after which the weights add up to at most ``allowed``, which is not negative.

    Rounded sums say between which positions it is. Exact sums decide.

    >>> first_within((np.array([1, 1, 1]), np.array([2, 3, 3])), Fraction(1, 2))
    2
    """
    parts, wholes = weights
    after = np.append(0.0, (parts[::-1] / wholes[::-1]).cumsum())
    slack = ROUNDING * (1 + float(after[-1]))
    fewest, most = (int(np.searchsorted(after, float(allowed) + move, "right")) for move in (-slack, slack))
    places, sums = range(len(parts) + 1 - most, len(parts) + 2 - max(fewest, 1)), Sums(weights)
    return places.start + bisect_left(places, 1, key=lambda place: int(sums.of(place) <= allowed))


def shares_from(weights: Weights, starts: Ints, n: int) -> NDArray[np.float64]:
    """Return for each of the ascending ``starts`` (1 + the weight from there on) / (1 + ``n``), correctly rounded.

    The weights add up to at most ``n``.

    >>> shares_from((np.array([1, 1, 1]), np.array([1, 2, 2])), np.array([0, 2, 3]), 2)
    array([1.        , 0.5       , 0.33333333])
    """
    parts, wholes = weights
    unit = math.lcm(*np.unique(wholes).tolist())
    if unit * (n + 1) < EXACT:
        after = np.append((parts * (unit // wholes))[::-1].cumsum()[::-1], 0)[starts]
        shares: NDArray[np.float64] = (unit + after) / (unit * (1 + n))
        return shares
    return _rounded_shares(weights, starts, n)


def _rounded_shares(weights: Weights, starts: Ints, n: int) -> NDArray[np.float64]:
    """Return the same if the weights have no small common unit.

    Every weight is rounded down to a multiple of 2**-128. So a sum is known up to this, times the number of its
    weights. If both ends give the same float, it is the right one; the others, which are rare, are computed exactly.
    """
    unit, own = 1 << BITS, zip(*(array[::-1].tolist() for array in weights), strict=True)
    after = [0, *accumulate((part << BITS) // whole for part, whole in own)]
    counts, whole = (len(after) - 1 - starts).tolist(), unit * (1 + n)
    low = np.array([(unit + after[count]) / whole for count in counts])
    high = np.array([(unit + after[count] + count) / whole for count in counts])
    sums = Sums(weights)
    for place in np.flatnonzero(low != high).tolist():
        low[place] = float((1 + sums.of(int(starts[place]))) / (1 + n))
    return low
