"""Scores by probability: ``Thr`` and ``Margin``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankset.core.arrays import SUM_TOLERANCE
from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.scores.key_ranges import FeatureRanges, Range
from rankset.scores.reach import Reach
from rankset.scores.wording import Wording


class ProbabilityKeys:
    """Base of scores whose only key is minus the probability (``Thr``, ``Temperature``, ``Recalibrated``)."""

    features: ClassVar[tuple[str, ...]] = ("prob",)

    def keys(self, cells: Cells) -> Keys:
        """Return minus the probability."""
        return (-cells.prob,)

    def reach(self, bounds: Keys) -> Reach:
        """Return a ``Reach`` that limits the probability."""
        return Reach(prob=-bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of the key."""
        return (features.minus_prob,)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        return f"keeps labels with a {wording.entry} of at least {wording.entry_number(-threshold[0])}"

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in words about this label, "it"."""
        return f"its {wording.entry} is at least {wording.entry_number(-threshold[0])}"


@dataclass(frozen=True)
class Thr(ProbabilityKeys):
    """THR, also called LAC (Sadinle et al. 2019): the nonconformity score is minus the probability.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, method=rs.Thr()).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
    """

    key_features: ClassVar[tuple[str, ...]] = ("prob",)

    def can_be_empty(self, threshold: Sequence[float], n_columns: int | None) -> bool:
        """Return whether the largest probability of a row, at least 1 / K, can be too small; sums may be off by 1 %."""
        return n_columns is None or -threshold[0] > (1 - SUM_TOLERANCE) / n_columns


@dataclass(frozen=True)
class Margin:
    """The nonconformity score is the largest probability of the other labels minus the probability of the label.

    If there are many classes, most probabilities are small, and their differences are close to 0. In this case, pass
    logits with ``kind="decision"`` instead of probabilities.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, method=rs.Margin()).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0]]
    """

    features: ClassVar[tuple[str, ...]] = ("prob", "rank", "second", "top")

    def keys(self, cells: Cells) -> Keys:
        """Return the largest probability among the other labels minus the probability of the label."""
        return (np.where(cells.rank == 1, cells.second, cells.top) - cells.prob,)

    def reach(self, bounds: Keys) -> Reach:
        """Return a ``Reach`` that limits the difference from the second largest probability."""
        return Reach(behind=bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of the key."""
        low, high = features.prob
        alone = features.rank[1] == 1  # with a single class there is no other entry, and the key is -inf
        return ((-math.inf if alone else low - high, high - low),)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        gap = wording.number(abs(threshold[0]))
        if threshold[0] < 0:
            return (
                f"keeps {wording.most_likely(1)} if its {wording.entry} is at least {gap} above that of every other "
                "label; else no label"
            )
        return (
            f"keeps {wording.most_likely(1)}, and every label whose {wording.entry} is at most {gap} below the largest"
        )

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in words about this label, "it"."""
        gap = wording.number(abs(threshold[0]))
        where = (
            f"at least {gap} above that of every other label"
            if threshold[0] < 0
            else f"at most {gap} below the largest"
        )
        return f"its {wording.entry} is {where}"
