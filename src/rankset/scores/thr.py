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
    """Base of scores whose only key is minus the probability (``Thr``, ``Temperature``, ``Recalibrated``)."""

    features: ClassVar[tuple[str, ...]] = ("prob",)

    def keys(self, cells: Cells) -> Keys:
        """Return minus the probability."""
        return (-cells.prob,)

    def reach(self, bounds: Keys) -> Reach:
        """Return the smallest probability of a label in a set."""
        return Reach(prob=-bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of the key."""
        return (features.minus_prob,)


@dataclass(frozen=True)
class Thr(ProbabilityKeys):
    """THR, also called LAC (Sadinle et al. 2019): the key is minus the probability of the label.

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
    """The key is the largest probability among the other labels minus the probability of the label.

    If there are many classes, most probabilities are small, and their differences are close to 0. In this case, pass
    logits with ``kind="decision"`` instead of probabilities.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, score=rs.Margin()).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0]]
    """

    features: ClassVar[tuple[str, ...]] = ("prob", "rank", "second", "top")

    def keys(self, cells: Cells) -> Keys:
        """Return the largest probability among the other labels minus the probability of the label."""
        return (np.where(cells.rank == 1, cells.second, cells.top) - cells.prob,)

    def reach(self, bounds: Keys) -> Reach:
        """Return the largest allowed difference between the second largest probability and that of the label."""
        return Reach(behind=bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of the key."""
        low, high = features.prob
        alone = features.rank[1] == 1  # with a single class there is no other entry, and the key is -inf
        return ((-math.inf if alone else low - high, high - low),)
