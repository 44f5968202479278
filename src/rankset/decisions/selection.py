"""The promise for a batch of rows: p-values as integers, and the cut of Benjamini and Hochberg, exactly.

The p-value of a row is (1 + wrong calibration rows at least as confident) / (n + 1). Everything is an integer: a
p-value is ``value / (units * (n + 1))``. With ids, ties are counted by a random part of ``units`` parts, rounded up.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankset.core.calibration import Calibration
from rankset.core.lexicographic import Keys

Ints = NDArray[np.int64]

UNITS = 1 << 16
"""Parts in which ties are counted, if rows have ids."""
SAFE = 1 << 62
"""Products below this are exact in 64 bits."""


class Counted(NamedTuple):
    """How often each value occurs among the rows of a batch, in one group; ``values`` ascend.

    Counts of several parts of a batch are added up by ``together``, so a batch can lie anywhere.
    """

    values: Ints
    counts: Ints

    @classmethod
    def of(cls, values: Ints) -> Counted:
        """Count the values of some rows."""
        return cls(*np.unique(values, return_counts=True))

    @classmethod
    def together(cls, parts: list[Counted]) -> Counted:
        """Return the counts of all parts."""
        values, places = np.unique(np.concatenate([part.values for part in parts]), return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, places, np.concatenate([part.counts for part in parts]))
        return cls(values, counts)


def p_values_in_units(wrong: Calibration, groups: Ints, keys: Keys, draws: NDArray[np.float64] | None) -> Ints:
    """Return the p-values of rows with these ``groups`` and ``keys``, in units of 1 / (units * (n + 1)).

    Without ``draws``, there is one unit, and all ties count. Rows in group -1 get 0, which is no p-value.
    """
    before, upto = _wrong_before(wrong, groups, keys)
    if draws is None:
        return np.where(groups < 0, 0, upto + 1)
    parts = np.floor(draws * UNITS).astype(np.int64) + 1
    return np.where(groups < 0, 0, before * UNITS + parts * (upto - before + 1))


def _wrong_before(wrong: Calibration, groups: Ints, keys: Keys) -> tuple[Ints, Ints]:
    """Return how many wrong rows of its group are more confident than each row, and how many are at least as
    confident."""
    if not len(wrong.keys[0]):
        nothing = np.zeros(len(groups), dtype=np.int64)
        return nothing, nothing
    before, upto = wrong.before(groups, keys)
    starts = wrong.offsets[np.maximum(groups, 0)]
    return before - starts, upto - starts


def largest_accepted(batch: Counted, n: int, units: int, error: Fraction) -> int:
    """Return the largest value that is accepted in a batch; 0 if none is.

    ``n`` is the number of calibration rows of the group. The value v of k rows with values up to v is accepted if
    v / (units (n + 1)) <= error k / m, where m is the number of rows of the batch.
    """
    values, upto, m = batch.values, np.cumsum(batch.counts), int(batch.counts.sum())
    if not m:
        return 0
    left, right = m * error.denominator, error.numerator * units * (n + 1)
    if int(values[-1]) * left < SAFE and m * right < SAFE:
        fits = values * left <= upto * right
    else:
        pairs = zip(values.tolist(), upto.tolist(), strict=True)
        fits = np.array([value * left <= count * right for value, count in pairs])
    places = np.flatnonzero(fits)
    return int(values[places[-1]]) if len(places) else 0


def smallest_error(batch: Counted, n: int, units: int) -> Fraction:
    """Return the smallest error at which a row of the batch is accepted; 1 if there are no rows."""
    m = int(batch.counts.sum())
    if not m:
        return Fraction(1)
    upto = np.cumsum(batch.counts)
    best = int(np.argmin(batch.values / upto))
    return min(Fraction(1), Fraction(int(batch.values[best]) * m, int(upto[best]) * units * (n + 1)))
