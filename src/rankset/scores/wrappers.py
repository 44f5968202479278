"""Scores around a score: ``TieBreak`` adds a random tie-break, ``Chosen`` keeps why the score was chosen."""

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


class Wrapper:
    """Base of scores around a score: declares what the inner score declares."""

    score: Score

    @cached_property
    def _inner(self) -> Traits:
        return traits(self.score)

    @property
    def features(self) -> frozenset[str]:
        """Cell features that ``keys`` reads."""
        return self._inner.features

    @property
    def needs_probs(self) -> bool:
        """Whether the inner score needs probabilities."""
        return self._inner.needs_probs

    @property
    def key_features(self) -> tuple[str, ...]:
        """Features that the keys of the inner score are."""
        return self._inner.key_features

    @property
    def transforms(self) -> bool:
        """Whether the inner score has a ``transform``."""
        return self._inner.transforms

    @property
    def n_columns(self) -> int | None:
        """Number of classes the inner score was fitted for; None if any."""
        return self._inner.n_columns

    @property
    def caveat(self) -> str | None:
        """The caveat of the inner score; None if it has none."""
        return self._inner.caveat

    def transform(self, probs: NDArray[Any]) -> NDArray[Any]:
        """Rows as the inner score transforms them."""
        return transform_rows(self.score, probs) if self.transforms else probs

    def check_names(self, names: Sequence[object]) -> None:
        """Raise a ScoreError if the inner score was fitted for other class names."""
        check_names(self.score, names)


@dataclass(frozen=True)
class TieBreak(Wrapper):
    """Any score, with ties between rows broken by the random number of each row.

    The number depends on the seed and the row itself. Identical rows have the same number, so their ties remain;
    pass ``ids=`` to give them different ones.

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
    >>> rule = rs.calibrate(probs, labels, score=rs.TieBreak(rs.TopK()))
    >>> sorted(set(rule.predict(probs, alpha=0.1).sizes.tolist()))
    [2, 3]
    """

    score: Score

    def __post_init__(self) -> None:
        checked_score(self.score)

    @property
    def features(self) -> frozenset[str]:
        """Cell features that ``keys`` reads."""
        return self._inner.features | {"noise"}

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        """Keys of the inner score, then the random number of the row."""
        return *as_tuple(self.score.keys(cells)), cells.noise

    def reach(self, bounds: Keys) -> Reach:
        """Reach of the inner score."""
        return reach_of(self.score, bounds[:-1])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Range of each key."""
        return *ranges_of(self.score, features), (0.0, 1.0)


@dataclass(frozen=True, repr=False)
class Chosen(Wrapper):
    """A score together with the reason why it was chosen. ``rankset.auto`` returns rules with such scores.

    Parameters
    ----------
    score : Score
        The score that was chosen.
    why : str
        The reason, shown with the rule.

    Raises
    ------
    KindError
        If ``score`` is not a score, or ``why`` not a string.

    Examples
    --------
    >>> import rankset as rs
    >>> rs.Chosen(rs.Thr(), "smallest sets on last year's data")
    Thr(): smallest sets on last year's data
    """

    score: Score
    why: str

    def __post_init__(self) -> None:
        checked_score(self.score)
        if not isinstance(self.why, str):
            raise KindError.argument("why", "a string", self.why)

    def __repr__(self) -> str:
        return f"{self.score!r}: {self.why}"

    def keys(self, cells: Cells) -> Keys:
        """Keys of the inner score."""
        return self.score.keys(cells)

    def reach(self, bounds: Keys) -> Reach:
        """Reach of the inner score."""
        return reach_of(self.score, bounds)

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Range of each key."""
        return ranges_of(self.score, features)
