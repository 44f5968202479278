"""``Precision``: what ``rankset.precise`` promises. Its thresholds are tested, not calibrated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rankset.errors import RuleError
from rankset.targets.base import Chosen, TrueLabels


@dataclass(frozen=True)
class Precision:
    """The target of sets of ``rankset.precise``: the expected share of false labels in a set is bounded.

    ``calibrate`` cannot keep this promise, because the share of false labels can rise and fall as sets grow.
    """

    forbids_more_labels: ClassVar[bool] = True
    promise: ClassVar[str] = "the expected share of true labels in a set is at least {}, where an empty set counts as 1"

    def entries(self, labels: TrueLabels) -> Chosen:  # noqa: ARG002
        """Raise an error: this target has no entries."""
        raise RuleError.precise_only()
