"""Lowest and highest possible values of keys. Loading a rule file with keys outside these ranges raises an error."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankset.core.arrays import SUM_TOLERANCE
from rankset.scores.base import Score
from rankset.scores.declarations import declared, traits

Range = tuple[float, float]
"""Lowest and highest possible value."""


@dataclass(frozen=True)
class FeatureRanges:
    """Ranges of features. The method ``ranges(features)`` of a score computes the ranges of its keys from these."""

    prob: Range
    mass: Range
    rank: Range

    @classmethod
    def of(cls, score: Score, kind: str, n_columns: int) -> FeatureRanges:
        """Return the ranges for rows of ``kind`` with ``n_columns`` classes, after the transform of ``score``."""
        most = 1 + SUM_TOLERANCE
        prob = (-math.inf, math.inf) if kind == "decision" else (0.0, most)
        return cls((-math.inf, 0.0) if traits(score).transforms else prob, (0.0, most), (1.0, float(n_columns)))

    @property
    def minus_prob(self) -> Range:
        """Range of minus the probability."""
        low, high = self.prob
        return -high, -low


def ranges_of(score: Score, features: FeatureRanges) -> tuple[Range, ...]:
    """Return the range of each key of ``score``; () if it declares none."""
    own = declared(score, "ranges")
    return () if own is None else own(features)
