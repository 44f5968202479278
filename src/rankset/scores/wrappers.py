"""Scores around a score: ties settled by a draw (``TieBreak``), a score and why it was chosen (``Chosen``)."""

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
from rankset.scores.base import FeatureRanges, Range, Reach, Score, Traits, checked_score, ranges, reach, traits


class Wrapper:
    """What scores around a score share: by default they declare what the inner one does."""

    score: Score

    @cached_property
    def _inner(self) -> Traits:
        return traits(self.score)

    @property
    def features(self) -> frozenset[str]:
        return self._inner.features

    @property
    def needs_probs(self) -> bool:
        return self._inner.needs_probs

    @property
    def key_features(self) -> tuple[str, ...]:
        return self._inner.key_features

    @property
    def transforms(self) -> bool:
        return self._inner.transforms

    @property
    def n_columns(self) -> int | None:
        return self._inner.n_columns

    @property
    def caveat(self) -> str | None:
        return self._inner.caveat

    def transform(self, probs: NDArray[Any]) -> NDArray[Any]:
        return transform_rows(self.score, probs) if self.transforms else probs

    def check_names(self, names: Sequence[object]) -> None:
        if hasattr(self.score, "check_names"):
            self.score.check_names(names)


@dataclass(frozen=True)
class TieBreak(Wrapper):
    """Any score, with its remaining ties between rows settled by each row's own draw.

    Identical rows share their draw; pass ``ids=`` to tell them apart, then no tie is left.
    """

    score: Score

    def __post_init__(self) -> None:
        checked_score(self.score)

    @property
    def features(self) -> frozenset[str]:
        return self._inner.features | {"noise"}

    def keys(self, cells: Cells) -> tuple[NDArray[Any], ...]:
        return *as_tuple(self.score.keys(cells)), cells.noise

    def reach(self, bounds: Keys) -> Reach:
        return reach(self.score, bounds[:-1])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        return *ranges(self.score, features), (0.0, 1.0)


@dataclass(frozen=True, repr=False)
class Chosen(Wrapper):
    """A score, and in words how it was chosen."""

    score: Score
    why: str

    def __post_init__(self) -> None:
        checked_score(self.score)
        if not isinstance(self.why, str):
            raise KindError.argument("why", "a text", self.why)

    def __repr__(self) -> str:
        return f"{self.score!r}: {self.why}"

    def keys(self, cells: Cells) -> Keys:
        return self.score.keys(cells)

    def reach(self, bounds: Keys) -> Reach:
        return reach(self.score, bounds)

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        return ranges(self.score, features)
