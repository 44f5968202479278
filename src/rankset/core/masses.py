"""Weights of rows: calibration rows that count more than others, as integers in units of 2**-30, added up exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import Sealed

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

UNIT = 1 << 30
"""The weight 1. It is the same for all rules, so rules are merged without rounding."""
LARGEST = 1 << 50
"""The largest weight of a row."""
MOST = 1 << 61
"""The largest weight of all rows together: sums of two of them fit into 64 bits."""
SMALL_DENOMINATOR = 1 << 31
FRACTION_BITS = 40
"""Sums of squared weights are whole numbers and fractions in units of 2**-40."""


@dataclass(frozen=True, eq=False)
class RowMasses(Sealed):
    """The weights of calibration rows, added up for each group.

    Attributes
    ----------
    by_group : the weight of all rows of the group.
    squares : the sum of the squared weights of its rows: whole numbers (first row), and fractions in units of 2**-40.
        They are integers, so they do not depend on the order of rows.
    absent : the weight of its rows whose true label is not among the candidates; None if there are no such rows.
    """

    by_group: Ints
    squares: Ints
    absent: Ints | None = None

    @classmethod
    def of(cls, groups: Ints, masses: Ints, count: int, absent: NDArray[np.bool_] | None = None) -> "RowMasses":
        """Add up the weights of rows in ``groups``, which are numbered below ``count``."""
        lost = None if absent is None else sums_at(groups[absent], masses[absent], count)
        return cls(sums_at(groups, masses, count), squares_at(groups, masses, count), lost)

    @classmethod
    def together(cls, several: Sequence["RowMasses"]) -> "RowMasses":
        """Return the sums over the rows of several calibrations."""
        absent = [one.absent for one in several if one.absent is not None]
        return cls(
            np.sum([one.by_group for one in several], axis=0),
            _carried(np.sum([one.squares for one in several], axis=0)),
            np.sum(absent, axis=0) if absent else None,
        )

    def renumbered(self, numbers: Ints, count: int) -> "RowMasses":
        """Return the sums for ``count`` groups; group g gets the number ``numbers[g]``."""
        absent = None if self.absent is None else sums_at(numbers, self.absent, count)
        squares = _carried(np.stack([sums_at(numbers, part, count) for part in self.squares]))
        return RowMasses(sums_at(numbers, self.by_group, count), squares, absent)

    @property
    def squared(self) -> float:
        """The sum of the squared weights of all rows, as a number."""
        whole, fractions = self.squares.sum(axis=1).tolist()
        return float(whole + fractions / (1 << FRACTION_BITS))

    def same(self, other: "RowMasses | None") -> bool:
        """Return whether both have the same exact sums."""
        if other is None or not np.array_equal(self.by_group, other.by_group):
            return False
        if not np.array_equal(self.squares, other.squares):
            return False
        ours, theirs = (np.zeros(1) if one.absent is None else one.absent for one in (self, other))
        return np.array_equal(ours, theirs) or not (ours.any() or theirs.any())


def sums_at(places: Ints, masses: Ints | None, count: int) -> Ints:
    """Return the sum of ``masses`` (None: 1) at each of ``count`` places, exactly."""
    if masses is None:
        return np.bincount(places, minlength=count)
    low, high = (np.bincount(places, part, count) for part in (masses & 0xFFFF, masses >> 16))
    return high.astype(np.int64) * (1 << 16) + low.astype(np.int64)


def squares_at(places: Ints, masses: Ints, count: int) -> Ints:
    """Return the sums of squared weights (2, ``count``): whole numbers, and fractions rounded down to 2**-40."""
    high, low = masses >> 25, masses & 0x1FFFFFF  # masses have at most 50 bits, so no product has more than 56
    squared, mixed = high * high, (high * low) << 6
    whole = (squared >> 10) + (mixed >> FRACTION_BITS)
    rest = ((squared & 0x3FF) << 30) + (mixed & ((1 << FRACTION_BITS) - 1)) + ((low * low) >> 20)
    parts = (np.bincount(places, part, count).astype(np.int64) for part in (rest & 0xFFFFF, rest >> 20))
    first, second = parts
    second += first >> 20
    fractions = (first & 0xFFFFF) + ((second & 0xFFFFF) << 20)
    return np.stack((sums_at(places, whole, count) + (second >> 20), fractions))


def _carried(squares: Ints) -> Ints:
    """Return sums of squares whose fractions are smaller than 1."""
    whole, fractions = squares
    return np.stack((whole + (fractions >> FRACTION_BITS), fractions & ((1 << FRACTION_BITS) - 1)))


def limits(alpha: Fraction, totals: Ints, own: Ints) -> Ints:
    """Return floor(alpha (total + own)) - own: a cell is kept if the weight of the rows beyond it is larger.

    ``totals`` is the weight of all calibration rows, ``own`` that of the new row. If both are 0, every cell is kept.

    >>> limits(Fraction(1, 10), np.array([99]), np.array([1]))
    array([9])
    """
    whole, part = alpha.denominator, alpha.numerator
    together = totals + own
    if whole < SMALL_DENOMINATOR:
        quotients, rest = np.divmod(together, whole)
        found: Ints = part * quotients + part * rest // whole - own - (together == 0)
        return found
    values, inverse = np.unique(together, return_inverse=True)
    floors = np.array([value * part // whole for value in values.tolist()], dtype=np.int64)
    return floors[inverse.reshape(together.shape)] - own - (together == 0)


def shares_of(masses: Ints, parts: Ints, wholes: Ints) -> Ints:
    """Return ``masses`` times ``parts`` / ``wholes``, which are at most 1, rounded up: a loss is never counted as less.

    >>> shares_of(np.array([10]), np.array([1]), np.array([3]))
    array([4])
    """
    found: Ints = masses // wholes * parts - (-(masses % wholes * parts) // wholes)
    return found


def combined(masses: Ints, factors: Ints) -> Ints:
    """Return the weights of rows times the weights of their labels, ``factors`` in units of 2**-30, at least 1."""
    found: Ints = np.maximum(1, np.rint(masses * (factors / UNIT)).astype(np.int64))
    return found


def effective_rows(total: float, squares: float) -> float:
    """Return how many rows of equal weight are as many: (sum of weights)² / sum of squared weights.

    >>> effective_rows(4.0, 8.0)
    2.0
    """
    return total * total / squares if squares > 0 else 0.0
