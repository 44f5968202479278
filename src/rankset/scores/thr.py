"""Scores by probability: ``Thr`` and ``Margin``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.scores.key_ranges import FeatureRanges, Range
from rankset.scores.reach import Reach


class ProbabilityKeys:
    """Minus the probability as the only key: of the model (``Thr``), or recalibrated (``Temperature``, …)."""

    features: ClassVar[tuple[str, ...]] = ("prob",)

    def keys(self, cells: Cells) -> Keys:
        """Minus the probability."""
        return (-cells.prob,)

    def reach(self, bounds: Keys) -> Reach:
        """Probabilities down to that of the threshold."""
        return Reach(prob=-bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Range of the key."""
        return (features.minus_prob,)


@dataclass(frozen=True)
class Thr(ProbabilityKeys):
    """THR, also called LAC (Sadinle et al. 2019): minus the probability of the label.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, score=rs.Thr()).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
    """

    key_features: ClassVar[tuple[str, ...]] = ("prob",)


@dataclass(frozen=True)
class Margin:
    """The largest probability among the other labels minus the probability of the label.

    Differences of small probabilities are close to 0. With many classes, pass logits with ``kind="decision"``.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, score=rs.Margin()).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0]]
    """

    features: ClassVar[tuple[str, ...]] = ("prob", "rank", "second", "top")

    def keys(self, cells: Cells) -> Keys:
        """Largest other entry of the row minus the label's entry."""
        return (np.where(cells.rank == 1, cells.second, cells.top) - cells.prob,)

    def reach(self, bounds: Keys) -> Reach:
        """Entries at most the threshold below the second largest."""
        return Reach(behind=bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Range of the key."""
        low, high = features.prob
        alone = features.rank[1] == 1  # with a single class there is no other entry, and the key is -inf
        return ((-math.inf if alone else low - high, high - low),)
