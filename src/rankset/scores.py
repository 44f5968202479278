"""Scores: how strange a label looks in its row, as keys that are compared like tuples (smaller is kept first).

A score is a small frozen value with one method, ``keys(cells)``; it sees cells and nothing else, so the same
formula serves calibration and prediction. Three optional members tell more about it:

* ``transform(probs) -> probs`` maps the rows first (a recalibration is a transform plus ``Thr``);
* ``needs_probs = True`` keeps it away from ``kind="scores"``;
* ``caveat``, a sentence shown with every rule that uses it.
"""

import sys
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rankset.cells import Cells, Floats
from rankset.errors import KindError, ScoreError
from rankset.order import Keys


@runtime_checkable
class Score(Protocol):
    """Anything with ``keys(cells)``: a tuple of arrays, most significant first, larger for stranger labels.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Gap:
    ...     '''How far the label lies below the row's best.'''
    ...     def keys(self, cells):
    ...         return (cells.top - cells.prob,)
    >>> isinstance(Gap(), Score)
    True
    """

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        """The keys of the given cells."""


@dataclass(frozen=True)
class Rank:
    """RANK of Luo & Zhou: the label's rank first, then its probability, the larger the better."""

    def keys(self, cells: Cells) -> Keys:
        return cells.rank, -cells.prob


@dataclass(frozen=True)
class TopK:
    """The label's rank alone: every set is the top k labels, for one k."""

    def keys(self, cells: Cells) -> Keys:
        return (cells.rank,)


@dataclass(frozen=True)
class Thr:
    """THR, also LAC (Sadinle et al. 2019): the label's probability, the larger the better."""

    def keys(self, cells: Cells) -> Keys:
        return (-cells.prob,)


@dataclass(frozen=True)
class Margin:
    """How far the label lies below its best rival."""

    def keys(self, cells: Cells) -> Keys:
        return (np.where(cells.rank == 1, cells.second, cells.top) - cells.prob,)


@dataclass(frozen=True)
class Aps:
    """APS (Romano et al. 2020): the mass of the labels ranked before, plus a random part of the label's own."""

    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _flag(self, "randomized")

    def keys(self, cells: Cells) -> Keys:
        if not self.randomized:
            return (cells.mass,)
        return (cells.before + cells.noise * (cells.mass - cells.before),)


@dataclass(frozen=True)
class Raps:
    """RAPS (Angelopoulos et al. 2021): APS plus ``penalty`` for every rank beyond the first ``free_ranks``."""

    penalty: float = 0.01
    free_ranks: int = 5
    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _number(self, "penalty")
        _count(self, "free_ranks")
        _flag(self, "randomized")

    def keys(self, cells: Cells) -> Keys:
        (mass,) = Aps(self.randomized).keys(cells)
        return (mass + self.penalty * np.maximum(cells.rank - self.free_ranks, 0),)


@dataclass(frozen=True)
class Saps:
    """SAPS (Huang et al. 2024): only the row's largest probability counts, then ``weight`` for every rank."""

    weight: float = 0.2
    randomized: bool = True
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _number(self, "weight")
        _flag(self, "randomized")

    def keys(self, cells: Cells) -> Keys:
        part = cells.noise if self.randomized else 1.0
        later = cells.top + (cells.rank - 2 + part) * self.weight
        return (np.where(cells.rank == 1, part * cells.top, later),)


@dataclass(frozen=True)
class TieBreak:
    """Any score, with its remaining ties between rows settled by each row's own draw.

    Identical rows share their draw; pass ``ids=`` to tell them apart, then no tie is left.
    """

    score: Score

    def __post_init__(self) -> None:
        checked_score(self.score)

    @property
    def needs_probs(self) -> bool:
        return needs_probs(self.score)

    @property
    def caveat(self) -> str | None:
        return caveat(self.score)

    def transform(self, probs: Floats) -> Floats:
        return transformed(self.score, probs)

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        return *self.score.keys(cells), cells.noise


BUILT_IN: tuple[type[Any], ...] = (Rank, TopK, Thr, Margin, Aps, Raps, Saps, TieBreak)
"""The scores a file may name."""


def checked_score(score: object) -> Score:
    """``score`` itself, if it is one."""
    if isinstance(score, type):
        raise KindError.class_instead_of_object("score", score)
    if not isinstance(score, Score):
        raise KindError.argument("score", "a score such as Rank() or Aps(), an object with keys(cells)", score)
    return score


def needs_probs(score: Score) -> bool:
    """Whether ``score`` makes sense for probabilities only."""
    return bool(getattr(score, "needs_probs", False))


def caveat(score: Score) -> str | None:
    """What users of ``score`` must be told, if anything."""
    return getattr(score, "caveat", None)


def transformed(score: Score, probs: Floats) -> Floats:
    """The rows as ``score`` wants to see them."""
    transform = getattr(score, "transform", None)
    if transform is None:
        return probs
    try:
        answer = np.ascontiguousarray(transform(probs), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ScoreError.transform(score, probs.shape, f"an error ({error})") from error
    if answer.shape != probs.shape:
        raise ScoreError.transform(score, probs.shape, answer.shape)
    return answer


def orders_by_rank(score: Score) -> bool:
    """Whether the first key of ``score`` is the rank."""
    return orders_by_rank(score.score) if isinstance(score, TieBreak) else isinstance(score, Rank | TopK)


def breaks_ties_by_prob(score: Score) -> bool:
    """Whether the second key of ``score`` is the probability."""
    return breaks_ties_by_prob(score.score) if isinstance(score, TieBreak) else isinstance(score, Rank)


def comparable(keys: object, shape: tuple[int, ...], score: Score, start: int) -> Keys:
    """What ``score`` returned, as int64 and float64 arrays of ``shape`` without NaN; ``start`` is the first row."""
    if not isinstance(keys, tuple) or not keys:
        raise ScoreError.keys("a tuple of arrays", type(keys).__name__)
    return tuple(_comparable(_shaped(key, shape), score, start) for key in keys)


def _shaped(key: object, shape: tuple[int, ...]) -> NDArray[Any]:
    try:
        array = np.asarray(key)
    except ValueError:
        raise ScoreError.keys("arrays of real numbers", "rows of different lengths") from None
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ScoreError.keys(f"arrays that broadcast to the cells' shape {shape}", f"shape {array.shape}") from None


def _comparable(key: NDArray[Any], score: Score, start: int) -> NDArray[Any]:
    if key.dtype.kind in "iub":
        if key.dtype == np.uint64 and key.max(initial=0) > np.iinfo(np.int64).max:
            raise ScoreError.keys("integers below 2**63", f"{key.max()}")
        return key.astype(np.int64, copy=False)
    if key.dtype.kind != "f":
        raise ScoreError.keys("arrays of real numbers", f"an array of {key.dtype}")
    if np.isnan(key).any():
        raise ScoreError.nan_key(score, start + int(np.isnan(key).any(axis=1).argmax()))
    return key.astype(np.float64, copy=False) + 0.0


def _number(score: object, name: str) -> None:
    value = getattr(score, name)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | np.number)
        or not 0 <= value <= sys.float_info.max
    ):
        raise ScoreError.parameter(type(score).__name__, name, "a finite number, at least 0", value)
    object.__setattr__(score, name, float(value))


def _count(score: object, name: str) -> None:
    value = getattr(score, name)
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ScoreError.parameter(type(score).__name__, name, "a whole number, at least 0", value)
    object.__setattr__(score, name, int(value))


def _flag(score: object, name: str) -> None:
    value = getattr(score, name)
    if not isinstance(value, bool | np.bool_):
        raise ScoreError.parameter(type(score).__name__, name, "True or False", value)
    object.__setattr__(score, name, bool(value))
