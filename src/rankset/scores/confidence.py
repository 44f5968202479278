"""Confidence scores: ``Entropy`` and ``TopTwo``. They say how sure a model is of a row, for ``rankset.triage``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.scores.key_ranges import FeatureRanges, Range
from rankset.scores.wording import Wording


@dataclass(frozen=True)
class Entropy:
    """Confidence by the entropy of a row: a smaller entropy of its probabilities means a more confident model.

    For ``rankset.triage``. In ``calibrate`` it would put all labels of a row into its set, or none.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> rs.triage(probs, labels, kind="logits", confidence=rs.Entropy()).accept(probs, error=0.05).share > 0.5
    True
    """

    features: ClassVar[tuple[str, ...]] = ("entropy",)
    needs_probs: ClassVar[bool] = True

    def keys(self, cells: Cells) -> Keys:
        """Return the entropy of the row."""
        return (cells.entropy,)

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of the key."""
        return ((-1.0, math.log(features.rank[1]) + 1.0),)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which rows are accepted, in words."""
        return f"keeps all labels of rows with an entropy of at most {wording.number(threshold[0])}; else no label"

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is kept, in words about this label, "it"."""
        return f"the entropy of its row is at most {wording.number(threshold[0])}"


@dataclass(frozen=True)
class TopTwo:
    """Confidence by the largest probability of a row; if it is equal in two rows, by the second largest.

    For ``rankset.triage``, with models whose largest probability is often the same number, such as 1. Of two rows with
    the same largest probability, the one with the smaller second largest probability counts as more confident.

    Examples
    --------
    >>> import rankset as rs
    >>> triage = rs.triage([[0.9, 0.1, 0.0], [0.9, 0.05, 0.05], [0.4, 0.3, 0.3]], [0, 0, 1], confidence=rs.TopTwo())
    >>> triage.n_wrong
    1
    """

    features: ClassVar[tuple[str, ...]] = ("prob", "second")

    def keys(self, cells: Cells) -> Keys:
        """Return minus the probability, then the second largest probability of the row."""
        return -cells.prob, cells.second

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible values of the keys."""
        low, high = features.prob
        return features.minus_prob, (-math.inf if features.rank[1] == 1 else low, high)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are kept, in words."""
        return f"keeps labels with a {wording.entry} {self._condition(threshold, wording)}"

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is kept, in words about this label, "it"."""
        return f"its {wording.entry} is {self._condition(threshold, wording)}"

    def _condition(self, threshold: Sequence[float], wording: Wording) -> str:
        least, most = wording.entry_number(-threshold[0]), wording.entry_number(threshold[1])
        return f"above {least}, or equal to it if the second largest of the row is at most {most}"
