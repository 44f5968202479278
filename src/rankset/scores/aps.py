"""Scores by accumulated probability: ``Aps``, its variants ``Raps`` and ``Saps``, and ``Average``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.scores.key_ranges import FeatureRanges, Range
from rankset.scores.parameters import check_count, check_flag, check_number
from rankset.scores.reach import Limit, Reach


@dataclass(frozen=True)
class Aps:
    """APS (Romano et al. 2020): the mass of the labels ranked before, plus a random part of the label's own.

    Parameters
    ----------
    randomized : bool, default True
        False counts the label's own probability in full and uses no random numbers. Sets are then larger and cover
        more than 1 - alpha, much more with confident models, because their masses are close to 1.

    Raises
    ------
    ScoreError
        If ``randomized`` is not a boolean.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, score=rs.Aps()).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
    """

    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_flag(self, "randomized")

    @property
    def features(self) -> tuple[str, ...]:
        """Cell features that ``keys`` reads."""
        return ("before", "mass", "noise") if self.randomized else ("mass",)

    def keys(self, cells: Cells) -> Keys:
        """Mass before the label plus a random part of its own."""
        if not self.randomized:
            return (cells.mass,)
        before = cells.before
        return (before + cells.noise * (cells.mass - before),)

    def reach(self, bounds: Keys) -> Reach:
        """Mass before the label up to the threshold."""
        return Reach(before=bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Range of the key."""
        return (features.mass,)


@dataclass(frozen=True)
class Raps:
    """RAPS (Angelopoulos et al. 2021): APS plus a penalty for every rank beyond the first ``free_ranks``.

    Parameters
    ----------
    penalty : float, default 0.01
        Added for every rank beyond ``free_ranks``.
    free_ranks : int, default 5
        Number of ranks without a penalty.
    randomized : bool, default True
        As in ``Aps``.

    Raises
    ------
    ScoreError
        If ``penalty`` is not a finite number of at least 0, or ``free_ranks`` not a whole number of at least 0.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> score = rs.Raps(penalty=0.1, free_ranks=1)
    >>> rs.calibrate(probs, labels, score=score).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
    """

    penalty: float = 0.01
    free_ranks: int = 5
    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self, "penalty")
        check_count(self, "free_ranks")
        check_flag(self, "randomized")

    @property
    def features(self) -> tuple[str, ...]:
        """Cell features that ``keys`` reads."""
        return (*Aps(self.randomized).features, "rank")

    def keys(self, cells: Cells) -> Keys:
        """Key of APS plus the penalty of the rank."""
        (mass,) = Aps(self.randomized).keys(cells)
        return (mass + self.penalty * np.maximum(cells.rank - self.free_ranks, 0),)

    def reach(self, bounds: Keys) -> Reach:
        """Ranks whose penalty, and mass before the label, are within the threshold."""
        return Reach(rank=self.free_ranks + _steps(bounds[0], self.penalty), before=bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Range of the key."""
        low, high = features.mass
        return ((low, high + self.penalty * max(features.rank[1] - self.free_ranks, 0)),)


@dataclass(frozen=True)
class Saps:
    """SAPS (Huang et al. 2024): the largest probability of the row, then a constant weight for every further rank.

    Parameters
    ----------
    weight : float, default 0.2
        Added for every rank after the first.
    randomized : bool, default True
        False counts the last step in full and uses no random numbers.

    Raises
    ------
    ScoreError
        If ``weight`` is not a finite number of at least 0.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, score=rs.Saps()).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
    """

    weight: float = 0.2
    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self, "weight")
        check_flag(self, "randomized")

    @property
    def features(self) -> tuple[str, ...]:
        """Cell features that ``keys`` reads."""
        return ("noise", "rank", "top") if self.randomized else ("rank", "top")

    def keys(self, cells: Cells) -> Keys:
        """Part of the largest probability for rank 1; all of it plus weights for later ranks."""
        part = cells.noise if self.randomized else 1.0
        later = cells.top + (cells.rank - 2 + part) * self.weight
        return (np.where(cells.rank == 1, part * cells.top, later),)

    def reach(self, bounds: Keys) -> Reach:
        """Ranks whose weights are within the threshold."""
        return Reach(rank=2 + _steps(bounds[0], self.weight))

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Range of the key."""
        return ((0.0, features.prob[1] + (features.rank[1] - 1) * self.weight),)


@dataclass(frozen=True)
class Average:
    """Weighted sum of the scores of THR, APS and RANK (Luo & Zhou, arXiv 2407.10230).

    THR counts as one minus the probability, RANK as the rank divided by the number of classes.

    Parameters
    ----------
    thr, aps, rank : float, default 1.0
        Weights of the three scores.
    randomized : bool, default True
        As in ``Aps``.

    Raises
    ------
    ScoreError
        If a weight is not a finite number of at least 0.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> score = rs.Average(thr=1, aps=0, rank=1)
    >>> rs.calibrate(probs, labels, score=score).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
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
    def features(self) -> tuple[str, ...]:
        """Cell features that ``keys`` reads."""
        return (*Aps(self.randomized).features, "prob", "rank")

    def keys(self, cells: Cells) -> Keys:
        """Weighted sum of one minus the probability, the key of APS, and the rank divided by the number of classes."""
        (mass,) = Aps(self.randomized).keys(cells)
        n_columns = cells.rows.probs.shape[1]
        return (self.thr * (1 - cells.prob) + self.aps * mass + self.rank / n_columns * cells.rank,)

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Range of the key."""
        least, most = features.prob
        low, high = features.mass
        return ((self.thr * (1 - most) + self.aps * low, self.thr * (1 - least) + self.aps * high + self.rank),)


def _steps(bounds: NDArray[Any], step: float) -> Limit:
    """Return how many steps fit into ``bounds``, plus one for rounding."""
    return np.floor(bounds / step) + 1 if step > 0 else math.inf
