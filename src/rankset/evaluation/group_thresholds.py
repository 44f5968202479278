"""The law of the threshold of one group over random halves: the number of its calibration rows is random too."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rankset.core.alpha import rows_needed, threshold_positions
from rankset.evaluation.metrics import Floats, Ints

RARE = 1e-9
"""Numbers of calibration rows of a group that are less likely than this are left out."""
CELLS_AT_ONCE = 1_000_000
"""Numbers of calibration rows are looked at together while their number times the number of ranks is at most this."""


@dataclass(frozen=True)
class ThresholdLaw:
    """Where the threshold of a group lies, over halves that calibrate. Entry x is about the x-th label of the group.

    Attributes
    ----------
    chances : the chance that the threshold is at or before the x-th of the group's sorted labels. What is missing to 1
        at the end is the chance that the group keeps everything.
    pulls : how much the chance is larger if a calibration row of the group is at or before the x-th label than if it
        is after it, times the number of calibration rows.
    shifts : how much the chance is larger if a calibration row is in the group, after the x-th label, than if it is in
        another group, times the number of calibration rows.
    """

    chances: Floats
    pulls: Floats
    shifts: Floats

    def reached(self, known: Ints, places: Ints) -> Floats:
        """Return the chance that the threshold is at or after each of ``places``; ``known`` are the sorted labels."""
        return 1 - np.append(0.0, self.chances)[np.searchsorted(known, places)]


def threshold_law(size: int, n: int, n_cal: int, alpha: Fraction) -> ThresholdLaw:
    """Return the law for a group of ``size`` rows among ``n``, of which ``n_cal`` are drawn to calibrate."""
    logs = np.append(0.0, np.log(np.arange(1, n + 1)).cumsum())
    counts, weights = _counts(size, n, n_cal, logs)
    in_group, elsewhere = _shares(weights * counts), _shares(weights * (n_cal - counts))
    if not elsewhere.any():  # all rows are in this group
        elsewhere = in_group
    chances, pulls, more = np.zeros(size), np.zeros(size), np.zeros(size)
    positions = threshold_positions(counts, alpha)
    possible = np.flatnonzero(positions <= counts)
    if len(possible):
        x = _likely_ranks(size, int(counts[possible[0]]), alpha)
        for some in np.array_split(possible, 1 + len(possible) * len(x) // CELLS_AT_ONCE):
            at_rank = _drawn(x, size, counts[some, np.newaxis], positions[some, np.newaxis], logs)
            within, part = at_rank.cumsum(axis=1), slice(x[0] - 1, x[-1])
            for sums, factors in ((chances, weights[some]), (more, (in_group - elsewhere)[some])):
                sums[part] += factors @ within
                sums[part.stop :] += factors @ within[:, -1]
            pulls[part] += (weights[some] * counts[some] / positions[some]) @ at_rank * x
    pulls *= n / max(size, 1)
    return ThresholdLaw(chances, pulls, n_cal * more - pulls * np.arange(1, size + 1) / max(size, 1))


def is_settled(size: int, alpha: Fraction) -> bool:
    """Return whether a group of ``size`` rows has a threshold in nearly every half, or in nearly none.

    If not, sets change by many labels at once when a row more or less makes the group keep everything. The effects of
    single rows do not tell how often this happens, also because other data sets have other group sizes.

    >>> [is_settled(size, Fraction(1, 10)) for size in (0, 5, 6, 34, 35)]
    [True, True, False, False, True]
    """
    half, needed = size / 2, rows_needed(alpha)
    return size == 0 or half - 2 * math.sqrt(half) >= needed or half + 3 * math.sqrt(half + 1) < needed


def _counts(size: int, n: int, n_cal: int, logs: Floats) -> tuple[Ints, Floats]:
    """The numbers of calibration rows that a group can have, and the chance of each."""
    counts = np.arange(max(0, n_cal - (n - size)), min(size, n_cal) + 1)
    rest = n_cal - counts
    chances = np.exp(
        (logs[size] - logs[counts] - logs[size - counts])
        + (logs[n - size] - logs[rest] - logs[n - size - rest])
        - (logs[n] - logs[n_cal] - logs[n - n_cal])
    )
    likely = chances > RARE
    return counts[likely], _shares(chances[likely])


def _drawn(x: Ints, size: int, counts: Ints, positions: Ints, logs: Floats) -> Floats:
    """The chances that the k-th of ``counts`` rows, drawn from ``size`` without replacement, is the x-th of all.

    ``positions`` are the k, one row of the answer for each.
    """
    before, after = x - positions, size - x - counts + positions
    impossible = (before < 0) | (after < 0)
    chances: Floats = np.exp(
        (logs[x - 1] - logs[np.maximum(before, 0)] - logs[positions - 1])
        + (logs[size - x] - logs[counts - positions] - logs[np.maximum(after, 0)])
        - (logs[size] - logs[counts] - logs[size - counts])
    )
    chances[impossible] = 0.0
    return chances


def _likely_ranks(size: int, count: int, alpha: Fraction) -> Ints:
    """Ranks among ``size`` rows that the threshold of ``count`` rows or more can have, without very unlikely ones."""
    level, step = float(alpha), size / count
    width = int(8 * size * math.sqrt(level * (1 - level) / count) + 20 * step) + 1
    centre = int((1 - level) * size)
    return np.arange(max(1, centre - width), min(size, centre + width) + 1)


def _shares(weights: Floats) -> Floats:
    total = weights.sum()
    return weights / total if total > 0 else weights
