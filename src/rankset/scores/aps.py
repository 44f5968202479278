"""Scores by accumulated probability: ``Aps``, its variants ``Raps`` and ``Saps``, and ``Average``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.scores.key_ranges import FeatureRanges, Range
from rankset.scores.parameters import check_count, check_flag, check_number
from rankset.scores.reach import Limit, Reach
from rankset.scores.sum_wording import cut, sum_of_label
from rankset.scores.wording import Wording


@dataclass(frozen=True)
class Aps:
    """APS (Romano et al. 2020): adds up probabilities from the most likely label down to this label.

    The nonconformity score is the total probability of the labels ranked before this label, plus a random fraction of
    the probability of this label.

    Parameters
    ----------
    randomized : bool, default True
        If False, the full probability of this label is added, and no random numbers are used. The sets are then
        larger. Coverage is higher than 1 - alpha if many true labels have a sum of exactly 1, because these are ties.

    Raises
    ------
    ScoreError
        If ``randomized`` is not a boolean.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, method=rs.Aps()).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
    """

    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_flag(self, "randomized")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that ``keys`` reads."""
        return ("before", "mass", "noise") if self.randomized else ("mass",)

    def keys(self, cells: Cells) -> Keys:
        """Return the total probability before the label plus a random fraction of its own probability."""
        if not self.randomized:
            return (cells.mass,)
        before = cells.before
        return (before + cells.noise * (cells.mass - before),)

    def reach(self, bounds: Keys) -> Reach:
        """Return a ``Reach`` that limits the total probability of the labels ranked before the label."""
        return Reach(before=bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of the key."""
        return (features.mass,)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        return cut("their probabilities add up to", threshold[0], wording, randomized=self.randomized)

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in words about this label, "it"."""
        return sum_of_label("", threshold[0], wording, randomized=self.randomized)

    def can_be_empty(self, threshold: Sequence[float], n_columns: int | None) -> bool:  # noqa: ARG002
        """Return whether the most likely label can be left out."""
        return threshold[0] < 1


@dataclass(frozen=True)
class Raps:
    """RAPS (Angelopoulos et al. 2021): the score of APS plus a penalty for large ranks.

    Parameters
    ----------
    penalty : float, default 0.01
        Penalty per rank. ``penalty * max(rank - free_ranks, 0)`` is added to the score of a label.
    free_ranks : int, default 5
        Number of ranks without a penalty.
    randomized : bool, default True
        As in ``Aps``.

    Raises
    ------
    ScoreError
        If ``penalty`` is not a finite number >= 0, or if ``free_ranks`` is not an integer >= 0.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> score = rs.Raps(penalty=0.1, free_ranks=1)
    >>> rs.calibrate(probs, labels, method=score).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
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
        """Names of the features that ``keys`` reads."""
        return (*Aps(self.randomized).features, "rank")

    def keys(self, cells: Cells) -> Keys:
        """Return the score of APS plus the penalty for the rank."""
        (mass,) = Aps(self.randomized).keys(cells)
        return (mass + self.penalty * np.maximum(cells.rank - self.free_ranks, 0),)

    def reach(self, bounds: Keys) -> Reach:
        """Return a ``Reach`` that limits the rank and the total probability of the labels ranked before."""
        return Reach(rank=self.free_ranks + _steps(bounds[0], self.penalty), before=bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of the key."""
        low, high = features.mass
        return ((low, high + self.penalty * max(features.rank[1] - self.free_ranks, 0)),)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        price = f"{wording.number(self.penalty)} for every rank after {self.free_ranks:,}"
        return cut(f"their probabilities, plus {price}, add up to", threshold[0], wording, randomized=self.randomized)

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in words about this label, "it"."""
        price = f", plus {wording.number(self.penalty)} for every rank after {self.free_ranks:,} up to its own,"
        return sum_of_label(price, threshold[0], wording, randomized=self.randomized)

    def can_be_empty(self, threshold: Sequence[float], n_columns: int | None) -> bool:  # noqa: ARG002
        """Return whether the most likely label can be left out."""
        return threshold[0] < 1 + self.penalty * (self.free_ranks == 0)


@dataclass(frozen=True)
class Saps:
    """SAPS (Huang et al. 2024): the largest probability of the row, plus a constant weight for every further rank.

    Let u be the random number of the row. The score is ``u * top`` for the label with rank 1, and
    ``top + (rank - 2 + u) * weight`` for the other labels. Here ``top`` is the largest probability of the row.

    Parameters
    ----------
    weight : float, default 0.2
        Weight of each rank after the first.
    randomized : bool, default True
        If False, u is 1, and no random numbers are used.

    Raises
    ------
    ScoreError
        If ``weight`` is not a finite number >= 0.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, method=rs.Saps()).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
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
        """Names of the features that ``keys`` reads."""
        return ("noise", "rank", "top") if self.randomized else ("rank", "top")

    def keys(self, cells: Cells) -> Keys:
        """Return the score of SAPS."""
        part = cells.noise if self.randomized else 1.0
        later = cells.top + (cells.rank - 2 + part) * self.weight
        return (np.where(cells.rank == 1, part * cells.top, later),)

    def reach(self, bounds: Keys) -> Reach:
        """Return a ``Reach`` that limits the rank."""
        return Reach(rank=2 + _steps(bounds[0], self.weight))

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of the key."""
        return ((0.0, features.prob[1] + (features.rank[1] - 1) * self.weight),)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        price = f"{wording.number(self.weight)} for every rank after the first"
        return cut(
            f"the largest probability of the row, plus {price}, amounts to",
            threshold[0],
            wording,
            randomized=self.randomized,
        )

    def can_be_empty(self, threshold: Sequence[float], n_columns: int | None) -> bool:  # noqa: ARG002
        """Return whether the most likely label can be left out."""
        return threshold[0] < 1


@dataclass(frozen=True)
class Average:
    """Weighted sum of the scores THR, APS and RANK (Luo & Zhou, arXiv 2407.10230).

    In this sum, THR is 1 minus the probability, APS is the score of ``Aps``, and RANK is the rank divided by the number
    of classes.

    Parameters
    ----------
    thr, aps, rank : float, default 1.0
        Weights of the three scores.
    randomized : bool, default True
        As in ``Aps``.

    Raises
    ------
    ScoreError
        If a weight is not a finite number >= 0.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> score = rs.Average(thr=1, aps=0, rank=1)
    >>> rs.calibrate(probs, labels, method=score).predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
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
        """Names of the features that ``keys`` reads."""
        return (*Aps(self.randomized).features, "prob", "rank")

    def keys(self, cells: Cells) -> Keys:
        """Return the weighted sum of 1 - probability, the score of APS, and rank / number of classes."""
        (mass,) = Aps(self.randomized).keys(cells)
        n_columns = cells.rows.probs.shape[1]
        return (self.thr * (1 - cells.prob) + self.aps * mass + self.rank / n_columns * cells.rank,)

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of the key."""
        least, most = features.prob
        low, high = features.mass
        return ((self.thr * (1 - most) + self.aps * low, self.thr * (1 - least) + self.aps * high + self.rank),)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        thr, aps, rank = map(wording.number, (self.thr, self.aps, self.rank))
        return (
            f"keeps labels for which {thr} x (1 - {wording.entry}) + {aps} x (score of APS) + {rank} x (rank / number "
            f"of classes) is at most {wording.number(threshold[0])}"
        )


def _steps(bounds: NDArray[Any], step: float) -> Limit:
    """Return how many steps fit into ``bounds``, plus one for rounding."""
    return np.floor(bounds / step) + 1 if step > 0 else math.inf
