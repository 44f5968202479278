"""The scores of the literature: RANK, TopK, THR, Margin, APS, RAPS, SAPS and averages of them.

A score is a small frozen value with one method, ``keys(cells)``. It sees cells and nothing else, so the same formula
serves calibration and prediction. What else it declares is explained at ``rankset.Score``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.scores.base import FeatureRanges, Limit, Range, Reach
from rankset.scores.parameters import check_count, check_flag, check_number

Names = tuple[str, ...]


@dataclass(frozen=True)
class Rank:
    """RANK of Luo & Zhou: the label's rank first, then its probability, the larger the better."""

    features: ClassVar[Names] = ("rank", "prob")
    key_features: ClassVar[Names] = ("rank", "prob")

    def keys(self, cells: Cells) -> Keys:
        return cells.rank, -cells.prob

    def reach(self, bounds: Keys) -> Reach:
        return Reach(rank=bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        return features.rank, features.minus_prob


@dataclass(frozen=True)
class TopK:
    """The label's rank alone: every set is the top k labels, for one k."""

    features: ClassVar[Names] = ("rank",)
    key_features: ClassVar[Names] = ("rank",)

    def keys(self, cells: Cells) -> Keys:
        return (cells.rank,)

    def reach(self, bounds: Keys) -> Reach:
        return Reach(rank=bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        return (features.rank,)


@dataclass(frozen=True)
class Thr:
    """THR, also LAC (Sadinle et al. 2019): the label's probability, the larger the better."""

    features: ClassVar[Names] = ("prob",)
    key_features: ClassVar[Names] = ("prob",)

    def keys(self, cells: Cells) -> Keys:
        return (-cells.prob,)

    def reach(self, bounds: Keys) -> Reach:
        return Reach(prob=-bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        return (features.minus_prob,)


@dataclass(frozen=True)
class Margin:
    """How far the label lies below its best rival.

    Differences of probabilities vanish among unlikely labels: with many classes prefer it on logits,
    ``kind="decision"``.
    """

    features: ClassVar[Names] = ("prob", "rank", "second", "top")

    def keys(self, cells: Cells) -> Keys:
        return (np.where(cells.rank == 1, cells.second, cells.top) - cells.prob,)

    def reach(self, bounds: Keys) -> Reach:
        return Reach(behind=bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        low, high = features.prob
        alone = features.rank[1] == 1  # a single label has no rival, and a key of -inf
        return ((-math.inf if alone else low - high, high - low),)


@dataclass(frozen=True)
class Aps:
    """APS (Romano et al. 2020): the mass of the labels ranked before, plus a random part of the label's own.

    ``randomized=False`` counts the label's own mass in full and draws nothing: sets are larger and cover more than
    asked, much more with confident models, whose masses crowd near 1.
    """

    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_flag(self, "randomized")

    @property
    def features(self) -> Names:
        return ("before", "mass", "noise") if self.randomized else ("mass",)

    def keys(self, cells: Cells) -> Keys:
        if not self.randomized:
            return (cells.mass,)
        before = cells.before
        return (before + cells.noise * (cells.mass - before),)

    def reach(self, bounds: Keys) -> Reach:
        return Reach(before=bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        return (features.mass,)


@dataclass(frozen=True)
class Raps:
    """RAPS (Angelopoulos et al. 2021): APS plus ``penalty`` for every rank beyond the first ``free_ranks``."""

    penalty: float = 0.01
    free_ranks: int = 5
    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self, "penalty")
        check_count(self, "free_ranks")
        check_flag(self, "randomized")

    @property
    def features(self) -> Names:
        return (*Aps(self.randomized).features, "rank")

    def keys(self, cells: Cells) -> Keys:
        (mass,) = Aps(self.randomized).keys(cells)
        return (mass + self.penalty * np.maximum(cells.rank - self.free_ranks, 0),)

    def reach(self, bounds: Keys) -> Reach:
        return Reach(rank=self.free_ranks + _steps(bounds[0], self.penalty), before=bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        low, high = features.mass
        return ((low, high + self.penalty * max(features.rank[1] - self.free_ranks, 0)),)


@dataclass(frozen=True)
class Saps:
    """SAPS (Huang et al. 2024): only the row's largest probability counts, then ``weight`` for every rank."""

    weight: float = 0.2
    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self, "weight")
        check_flag(self, "randomized")

    @property
    def features(self) -> Names:
        return ("noise", "rank", "top") if self.randomized else ("rank", "top")

    def keys(self, cells: Cells) -> Keys:
        part = cells.noise if self.randomized else 1.0
        later = cells.top + (cells.rank - 2 + part) * self.weight
        return (np.where(cells.rank == 1, part * cells.top, later),)

    def reach(self, bounds: Keys) -> Reach:
        return Reach(rank=2 + _steps(bounds[0], self.weight))

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        return ((0.0, features.prob[1] + (features.rank[1] - 1) * self.weight),)


@dataclass(frozen=True)
class Average:
    """Weighted averages of the scores of THR, APS and RANK (Luo & Zhou, arXiv 2407.10230).

    Of one minus the probability, of the mass ranked before with a random part of the label's own (all of it with
    ``randomized=False``), and of the rank as a share of the number of classes.
    """

    thr: float = 1.0
    aps: float = 1.0
    rank: float = 1.0
    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("thr", "aps", "rank"):
            check_number(self, name)
        check_flag(self, "randomized")

    @property
    def features(self) -> Names:
        return ("before", "mass", "prob", "rank", *(("noise",) if self.randomized else ()))

    def keys(self, cells: Cells) -> Keys:
        before = cells.before
        part = cells.noise if self.randomized else 1.0
        mass = before + part * (cells.mass - before)
        n_columns = cells.rows.probs.shape[1]
        return (self.thr * (1 - cells.prob) + self.aps * mass + self.rank / n_columns * cells.rank,)

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        least, most = features.prob
        low, high = features.mass
        return ((self.thr * (1 - most) + self.aps * low, self.thr * (1 - least) + self.aps * high + self.rank),)


def _steps(bounds: NDArray[Any], step: float) -> Limit:
    """How many steps fit into ``bounds``, and one more for rounding."""
    return np.floor(bounds / step) + 1 if step > 0 else math.inf
