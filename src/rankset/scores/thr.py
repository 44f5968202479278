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
from rankset.scores.class_shares import HasShares
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


@dataclass(frozen=True, repr=False)
class Thr(HasShares, ProbabilityKeys):
    """THR, also called LAC (Sadinle et al. 2019): the nonconformity score is minus the probability.

    With ``shares``, the nonconformity score is minus the probability divided by the share of the label among the
    training labels: prevalence-adjusted softmax (PAS; Ding, Fermanian & Salmon 2025). Sets then contain rare labels
    more often and frequent labels less often. The mean coverage of the classes, each counted alike, is larger in sets
    of the same mean size. Coverage over all rows is at least 1 - alpha as with every score.

    Parameters
    ----------
    shares : sequence of float, optional
        One number above 0 per class, in column order: how often the class occurs among the training labels, as counts
        or as shares. They are divided by their sum. Do not count the labels of calibration rows: the guarantee holds
        only if the shares are fixed before calibration. The score then needs probabilities or logits.

    Raises
    ------
    ScoreError
        If ``shares`` are not numbers above 0 in column order.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, method=rs.Thr()).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]

    With the numbers of training rows of four classes:

    >>> score = rs.Thr(shares=[500, 200, 20, 80])
    >>> rs.calibrate(probs, labels, method=score).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1, 2]]
    """

    shares: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        self._check_shares()

    @property
    def features(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the features that ``keys`` reads."""
        return ("prob",) if self.shares is None else ("prob", "column")

    @property
    def key_features(self) -> tuple[str, ...]:
        """The probability if there are no shares, else nothing: a ratio is no feature."""
        return ("prob",) if self.shares is None else ()

    def keys(self, cells: Cells) -> Keys:
        """Return minus the probability, divided by the share of the label if there are shares."""
        return (-cells.prob if self.shares is None else -self._ratios(cells),)

    def reach(self, bounds: Keys) -> Reach:
        """Return a ``Reach`` that limits the probability."""
        return Reach(prob=-bounds[0] if self.shares is None else self._least_prob(-bounds[0]))

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of the key."""
        return (features.minus_prob if self.shares is None else self._range_of_minus_ratio(features.prob),)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        return f"keeps labels with a {wording.entry} of at least {self._limit(-threshold[0], wording, 'their')}"

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in words about this label, "it"."""
        return f"its {wording.entry} is at least {self._limit(-threshold[0], wording, 'its')}"

    def can_be_empty(self, threshold: Sequence[float], n_columns: int | None) -> bool:
        """Return whether all labels of a row can be too unusual; sums may be off by 1 %.

        The largest probability of a row is at least 1 / K, and the largest ratio of probability and share at least 1.
        """
        total = n_columns if self.shares is None else math.fsum(self.shares)
        return n_columns is None or total is None or -threshold[0] > (1 - SUM_TOLERANCE) / total


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
