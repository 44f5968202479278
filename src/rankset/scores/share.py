"""``Share``: the label's part of the labels that a row is expected to have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.scores.key_ranges import FeatureRanges, Range
from rankset.scores.reach import Reach
from rankset.scores.wording import Wording


@dataclass(frozen=True)
class Share:
    """The nonconformity score is minus p / (1 + total - p): p is the probability, total the sum of all of the row.

    For rows that can have several labels, with ``kind="marginals"`` and the target ``Recall()``. If a label is true,
    1 + total - p is the number of labels that the row is then expected to have, so the score is about the share of
    the row's labels that is missed without this label. A label counts less in rows with many labels.

    Examples
    --------
    >>> import rankset as rs
    >>> probs = [[0.9, 0.8, 0.1], [0.7, 0.2, 0.6], [0.4, 0.9, 0.3], [0.1, 0.3, 0.8]]
    >>> labels = [[0, 1], [0, 2], [1], [2]]
    >>> rule = rs.calibrate(probs, labels, target="recall", method=rs.Share(), kind="marginals")
    >>> rule.predict(probs, alpha=0.3).sizes.tolist()
    [2, 1, 1, 1]
    """

    features: ClassVar[tuple[str, ...]] = ("prob", "total")
    needs_probs: ClassVar[bool] = True
    takes_marginals: ClassVar[bool] = True

    def keys(self, cells: Cells) -> Keys:
        """Return minus the probability, divided by 1 plus the probabilities of all other labels."""
        return (-cells.prob / (1.0 + (cells.total - cells.prob)),)

    def reach(self, bounds: Keys) -> Reach:
        """Return a ``Reach`` that limits the probability: the other labels have probabilities of at least 0."""
        return Reach(prob=-bounds[0])

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:
        """Return the lowest and highest possible value of the key."""
        return (features.minus_prob,)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are in a set, in words."""
        return f"keeps labels with {self._condition(threshold, wording)}"

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is in the set, in words about this label, "it"."""
        return f"it has {self._condition(threshold, wording)}"

    def _condition(self, threshold: Sequence[float], wording: Wording) -> str:
        number = wording.number(-threshold[0])
        return f"a {wording.entry} of at least {number} times (1 + the sum of those of the other labels)"

    def can_be_empty(self, threshold: Sequence[float], n_columns: int | None) -> bool:  # noqa: ARG002
        """Return whether all probabilities of a row can be too small."""
        return threshold[0] < 0
