"""Scores that use another score: ``TieBreak`` adds a random tie-break, ``Chosen`` stores why a score was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.errors import KindError
from rankset.scores.application import as_tuple, transform_rows
from rankset.scores.base import Score, checked_score
from rankset.scores.declarations import Traits, check_names, traits
from rankset.scores.key_ranges import FeatureRanges, Range, ranges_of
from rankset.scores.reach import Reach, reach_of
from rankset.scores.wording import Wording, can_be_empty, describe_label, describe_threshold, ordinal


class Wrapper:
    """Base of scores that use another score: has the same optional attributes as the inner score."""

    score: Score

    @cached_property
    def _inner(self) -> Traits:
        return traits(self.score)

    def can_be_empty(self, threshold: Sequence[float], n_columns: int | None) -> bool:
        """Return whether the inner score can leave out the most likely label."""
        return can_be_empty(self.score, threshold, n_columns)

    @property
    def features(self) -> frozenset[str]:
        """Names of the features that ``keys`` reads."""
        return self._inner.features

    @property
    def needs_probs(self) -> bool:
        """Whether the inner score needs probabilities."""
        return self._inner.needs_probs

    @property
    def takes_marginals(self) -> bool:
        """Whether the inner score can be used with probabilities of single labels."""
        return self._inner.takes_marginals

    @property
    def key_features(self) -> tuple[str, ...]:
        """The ``key_features`` of the inner score."""
        return self._inner.key_features

    @property
    def transforms(self) -> bool:
        """Whether the inner score has a ``transform``."""
        return self._inner.transforms

    @property
    def n_columns(self) -> int | None:
        """Number of classes in the fit of the inner score, or None if any number of classes is allowed."""
        return self._inner.n_columns

    @property
    def caveat(self) -> str | None:
        """The caveat of the inner score, or None."""
        return self._inner.caveat

    def transform(self, probs: NDArray[Any]) -> NDArray[Any]:
        """Return the rows after the ``transform`` of the inner score."""
        return self._transformed(probs)

    def _transformed(self, probs: NDArray[Any]) -> NDArray[Any]:
        return transform_rows(self.score, probs) if self._inner.transforms else probs

    def check_names(self, names: Sequence[object]) -> None:
        """Raise a ScoreError if the inner score was fitted with different class names."""
        check_names(self.score, names)


@dataclass(frozen=True)
class TieBreak(Wrapper):
    """Add a random tie-break to any score.

    If labels of two rows have the same score, a random number of each row decides which label is more unusual. The
    random number depends on the seed and on the values in the row. Identical rows have the same random number, so they
    remain tied. Pass ``ids=`` to ``calibrate`` and ``predict`` to give identical rows different random numbers.

    Parameters
    ----------
    score : Score
        The score whose ties are broken.

    Raises
    ------
    KindError
        If ``score`` is not a score.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs, labels, method=rs.TieBreak(rs.TopK()))
    >>> sorted(set(rule.predict(probs, alpha=0.1).sizes.tolist()))
    [2, 3]
    """

    score: Score

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", checked_score(self.score))

    @property
    def features(self) -> frozenset[str]:
        """Names of the features that ``keys`` reads."""
        return self._inner.features | {"noise"}

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        """Return the keys of the inner score, then the random number of the row."""
        return *as_tuple(self.score.keys(cells)), cells.noise

    def reach(self, bounds: Keys) -> Reach:
        """Return the ``Reach`` of the inner score."""
        return reach_of(self.score, bounds[:-1])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of each key."""
        return *ranges_of(self.score, features), (0.0, 1.0)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        draw = wording.number(threshold[-1])
        if self._inner.key_features == ("rank",) and len(threshold) == 2:
            rank = int(threshold[0])
            others = "keeps" if rank == 1 else f"keeps {wording.most_likely(rank - 1)}, and"
            last = wording.most_likely(1) if rank == 1 else f"a {ordinal(rank)}"
            return f"{others} {last} if the random number of the row, between 0 and 1, is at most {draw}"
        inner = describe_threshold(self.score, threshold[:-1], wording)
        return (
            f"{inner}. A label exactly at this limit is kept only if the random number of its row, between 0 and 1, "
            f"is at most {draw}"
        )

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in words about this label, "it"."""
        bound = f"the random number of its row, between 0 and 1, is at most {wording.number(threshold[-1])}"
        if self._inner.key_features != ("rank",) or len(threshold) != 2:
            return f"{describe_label(self.score, threshold[:-1], wording)}; exactly at this limit, only if {bound}"
        rank = int(threshold[0])
        if rank == 1:
            return f"it is {wording.most_likely(1)} and {bound}"
        return f"it is {wording.among_most_likely(rank - 1)}, or it is the {ordinal(rank)} and {bound}"


@dataclass(frozen=True, repr=False)
class Chosen(Wrapper):
    """A score together with the reason why it was chosen. Rules from ``rankset.auto`` have a score of this type.

    Parameters
    ----------
    score : Score
        The score that was chosen.
    why : str
        The reason, shown with the rule.

    Raises
    ------
    KindError
        If ``score`` is not a score, or if ``why`` is not a string.

    Examples
    --------
    >>> import rankset as rs
    >>> rs.Chosen(rs.Thr(), "smallest sets on last year's data")
    Thr(): smallest sets on last year's data
    """

    score: Score
    why: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", checked_score(self.score))
        if not isinstance(self.why, str):
            raise KindError.argument("why", "a string", self.why)

    def __repr__(self) -> str:
        return f"{self.score!r}: {self.why}"

    def keys(self, cells: Cells) -> Keys:
        """Return the keys of the inner score."""
        return self.score.keys(cells)

    def reach(self, bounds: Keys) -> Reach:
        """Return the ``Reach`` of the inner score."""
        return reach_of(self.score, bounds)

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of each key."""
        return ranges_of(self.score, features)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in the words of the inner score."""
        return describe_threshold(self.score, threshold, wording)

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in the words of the inner score."""
        return describe_label(self.score, threshold, wording)
