"""Room for rounding in graphs of scores with logarithms: labels at the threshold are kept.

The last bits of logarithms and powers differ between programs. If many calibration rows are equal, many labels have the
key of the threshold, and all of them could be left out: in a test with three classes and rounded logits these were 6 %
of the rows. So labels at the threshold are kept, and no coverage is lost. If sets must not contain calibration entries
(``strict``), they are left out instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.calibration import Thresholds
from rankset.graphs.cells import GraphCells
from rankset.graphs.keys import Keys
from rankset.graphs.scores import is_exact, scores_inside
from rankset.scores import ClassOffsets, FuzzyClasses, Rank, Recalibrated, Score, Share, Temperature, Thr

OF_PROBS = 1e-10
"""Part of a probability, for keys that are probabilities, their ratios or their logarithms."""
OF_SUMS = 1e-13
"""For keys that are sums or differences of probabilities …"""
OF_OWN = 0.5
"""… but at most this part of the label's probability: tiny ones at the end of a row, whose masses are all about 1, must
not be kept together."""


def with_slack(score: Score, cells: GraphCells, keys: Keys, thresholds: Thresholds) -> tuple[Keys, Thresholds]:
    """Return keys and thresholds to compare: as they are if they have the same bits, else with room for rounding."""
    if is_exact(score) or thresholds.keys[-1].dtype.kind != "f":
        return keys, thresholds
    chain = scores_inside(score)
    if any(isinstance(one, Temperature | Recalibrated) for one in chain):
        return keys, _moved(thresholds, OF_PROBS, OF_PROBS)
    by_class = any(isinstance(one, ClassOffsets | FuzzyClasses) for one in chain)
    if isinstance(chain[-1], Thr | Rank | Share) and not by_class:
        return keys, _moved(thresholds, 0.0, OF_PROBS)
    nodes = cells.nodes
    slack = nodes.add("Min", nodes.add("Mul", cells.prob, OF_OWN), OF_SUMS)
    return (*keys[:-1], nodes.add("Add" if thresholds.strict else "Sub", keys[-1], slack)), thresholds


def _moved(thresholds: Thresholds, absolute: float, relative: float) -> Thresholds:
    """Return thresholds that are larger by a number and a part of themselves, or smaller if they are ``strict``."""
    side = -1.0 if thresholds.strict else 1.0

    def moved(key: NDArray[Any]) -> NDArray[Any]:
        return np.where(np.isfinite(key), key + side * (absolute + relative * np.abs(key)), key)

    return replace(thresholds, keys=(*thresholds.keys[:-1], moved(thresholds.keys[-1])))
