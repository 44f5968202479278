"""Scores by rank: ``Rank`` and ``TopK``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.scores.class_shares import HasShares
from rankset.scores.key_ranges import FeatureRanges, Range
from rankset.scores.reach import Reach
from rankset.scores.wording import Wording, ordinal


@dataclass(frozen=True, repr=False)
class Rank(HasShares):
    """RANK (Luo & Zhou): compares labels by rank, and labels of equal rank by probability.

    Rank 1 is the most likely label of a row. A label with a larger rank is more unusual. If two labels of different
    rows have the same rank, the label with the smaller probability is more unusual. This is the default score.

    Parameters
    ----------
    shares : sequence of float, optional
        As in ``Thr``: how often each class occurs among the training labels, in column order. Labels of equal rank are
        then compared by probability divided by share, so that rare labels are kept more often. Ranks do not change. The
        score then needs probabilities or logits.

    Raises
    ------
    ScoreError
        If ``shares`` are not numbers above 0 in column order.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, method=rs.Rank()).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
    >>> score = rs.Rank(shares=[500, 200, 20, 80])
    >>> rs.calibrate(probs, labels, method=score).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1, 2]]
    """

    shares: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        self._check_shares()

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that ``keys`` reads."""
        return ("rank", "prob") if self.shares is None else ("rank", "prob", "column")

    @property
    def key_features(self) -> tuple[str, ...]:
        """The features that the keys are, as far as they are features."""
        return ("rank", "prob") if self.shares is None else ("rank",)

    def keys(self, cells: Cells) -> Keys:
        """Return the rank, then minus the probability, divided by the share of the label if there are shares."""
        return cells.rank, -cells.prob if self.shares is None else -self._ratios(cells)

    def reach(self, bounds: Keys) -> Reach:
        """Return a ``Reach`` that limits the rank."""
        return Reach(rank=bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of each key."""
        return features.rank, (
            features.minus_prob if self.shares is None else self._range_of_minus_ratio(features.prob)
        )

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        rank, least = int(threshold[0]), -threshold[1]
        if least <= 0 and wording.has_probabilities and not wording.logarithms:
            return f"keeps {wording.most_likely(rank)}"
        condition = f"if its {wording.entry} is at least {self._limit(least, wording, 'its')}"
        if rank == 1:
            return f"keeps {wording.most_likely(1)} {condition}; else no label"
        return f"keeps {wording.most_likely(rank - 1)}, and a {ordinal(rank)} {condition}"

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in words about this label, "it"."""
        rank, least = int(threshold[0]), -threshold[1]
        if least <= 0 and wording.has_probabilities and not wording.logarithms:
            return f"it is {wording.among_most_likely(rank)}"
        bound = f"its {wording.entry} is at least {self._limit(least, wording, 'its')}"
        if rank == 1:
            return f"it is {wording.most_likely(1)} and {bound}"
        return f"it is {wording.among_most_likely(rank - 1)}, or it is the {ordinal(rank)} and {bound}"


@dataclass(frozen=True)
class TopK:
    """The nonconformity score is the rank. Every set contains the k most likely labels, with the same k for all rows.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> sets = rs.calibrate(probs, labels, method=rs.TopK()).predict(probs, alpha=0.1)
    >>> set(sets.sizes.tolist())
    {3}
    """

    features: ClassVar[tuple[str, ...]] = ("rank",)
    key_features: ClassVar[tuple[str, ...]] = ("rank",)

    def keys(self, cells: Cells) -> Keys:
        """Return the rank."""
        return (cells.rank,)

    def reach(self, bounds: Keys) -> Reach:
        """Return a ``Reach`` that limits the rank."""
        return Reach(rank=bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of the key."""
        return (features.rank,)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        return f"keeps {wording.most_likely(int(threshold[0]))}"

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in words about this label, "it"."""
        return f"it is {wording.among_most_likely(int(threshold[0]))}"
