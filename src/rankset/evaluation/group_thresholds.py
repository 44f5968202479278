"""The law of the threshold of one group over random halves: the number of its calibration rows is random too."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rankset.core.alpha import rows_needed, threshold_position
from rankset.evaluation.metrics import Floats, Ints

RARE = 1e-9
"""Numbers of calibration rows of a group that are less likely than this are left out."""


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
    with_one_more, with_another = _shares(weights * counts), _shares(weights * (n_cal - counts))
    if not with_another.any():  # all rows are in this group
        with_another = with_one_more
    chances, pulls, more = np.zeros(size), np.zeros(size), np.zeros(size)
    for count, *weight in zip(counts.tolist(), weights, with_one_more, with_another, strict=True):
        k = threshold_position(count, alpha)
        if k > count:
            continue
        x = _likely_ranks(size, count, k, alpha)
        at_rank, part = _drawn(x, size, count, k, logs), slice(x[0] - 1, x[-1])
        within = at_rank.cumsum()
        for sums, factor in zip((chances, more), (weight[0], weight[1] - weight[2]), strict=True):
            sums[part] += factor * within
            sums[part.stop :] += factor * within[-1]
        pulls[part] += weight[0] * count / k * at_rank * x
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


def _drawn(x: Ints, size: int, count: int, k: int, logs: Floats) -> Floats:
    """The chances that the k-th of ``count`` rows, drawn from ``size`` without replacement, is the x-th of all."""
    return np.exp(
        (logs[x - 1] - logs[x - k] - logs[k - 1])
        + (logs[size - x] - logs[count - k] - logs[size - x - count + k])
        - (logs[size] - logs[count] - logs[size - count])
    )


def _likely_ranks(size: int, count: int, k: int, alpha: Fraction) -> Ints:
    """Ranks among ``size`` rows that the k-th of ``count`` can have; those that are too unlikely are left out."""
    level, step = float(alpha), size / count
    width = int(8 * size * math.sqrt(level * (1 - level) / count) + 20 * step) + 1
    centre = int(k * step)
    return np.arange(max(k, centre - width), min(size - count + k, centre + width) + 1)


def _shares(weights: Floats) -> Floats:
    total = weights.sum()
    return weights / total if total > 0 else weights
