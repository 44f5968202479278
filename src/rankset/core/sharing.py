"""Sharing: how the groups of a condition use each other's calibration rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Borrowing:
    """How groups borrow rows, by the formulas of ``docs/understand/sharing.md``.

    Attributes
    ----------
    rows : how many rows every group borrows from all rows (lambda in the formulas).
    tilt : how many rows of a group count as much as the assumption that its rows are as unusual as those of all groups
        (kappa in the formulas).
    """

    rows: float
    tilt: float

    def in_own_units(self, strangeness: Floats, sizes: Ints, sums: Floats) -> Floats:
        """Return strangeness in units of the mean of a group with ``sizes`` rows, which add up to ``sums``."""
        units = (self.tilt + sizes) / (self.tilt + sums)
        units *= strangeness
        return units

    def tails(self, own: Ints, sizes: Ints, strangeness: Floats) -> Floats:
        """Return the tail of a group: the share of own and borrowed rows that are at least as unusual."""
        tails = np.negative(strangeness)
        np.exp(tails, out=tails)
        tails *= self.rows
        tails += own
        tails /= sizes + self.rows
        return tails


@dataclass(frozen=True, eq=False)
class Sharing:
    """How groups share rows: every group has its own threshold, and all thresholds are found from all rows.

    Attributes
    ----------
    borrowing : how groups borrow rows; None if keys of all groups are compared with each other as they are.
    weights : the weight of a row of each group, positive integers; None if all are 1.
    balanced : whether all classes count the same, so that the promise is about the mean over classes.
    """

    borrowing: Borrowing | None = None
    weights: Ints | None = None
    balanced: bool = False
