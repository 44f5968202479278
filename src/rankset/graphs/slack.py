"""Thresholds of scores with logarithms, moved by more than rounding: labels at the threshold stay on the safe side.

The last bits of logarithms and powers differ between programs. If many calibration rows are equal, many labels have the
key of the threshold, and without this all of them could be left out: in a test with three classes and rounded logits
these were 6 % of the rows. So labels at the threshold are kept, and coverage is not lowered. If sets must not contain
calibration entries (``strict``), thresholds move the other way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.calibration import Thresholds
from rankset.graphs.scores import is_exact, scores_inside
from rankset.scores import ClassOffsets, FuzzyClasses, Rank, Recalibrated, Score, Share, Temperature, Thr

OF_LOGS = 1e-10
"""For keys that are logarithms of probabilities: a factor of 1 + 1e-10 of the probability."""
OF_PROBS = 1e-10
"""The same for keys that are probabilities or their ratios."""
OF_SUMS = 1e-13
"""For keys that are sums or differences of probabilities."""


def safe_thresholds(score: Score, thresholds: Thresholds) -> Thresholds:
    """Return the thresholds for a graph: as they are if it has the same bits, else moved to the safe side."""
    if is_exact(score):
        return thresholds
    absolute, relative = _slack(score)
    side = -1.0 if thresholds.strict else 1.0

    def moved(key: NDArray[Any]) -> NDArray[Any]:
        if key.dtype.kind != "f":
            return key
        return np.where(np.isfinite(key), key + side * (absolute + relative * np.abs(key)), key)

    return replace(thresholds, keys=tuple(map(moved, thresholds.keys)))


def _slack(score: Score) -> tuple[float, float]:
    """Return by how much thresholds move, as a number and as a share of the threshold."""
    chain = scores_inside(score)
    if any(isinstance(one, Temperature | Recalibrated) for one in chain):
        return OF_LOGS, OF_LOGS
    by_class = any(isinstance(one, ClassOffsets | FuzzyClasses) for one in chain)
    if isinstance(chain[-1], Thr | Rank | Share) and not by_class:
        return 0.0, OF_PROBS
    return OF_SUMS, OF_SUMS
