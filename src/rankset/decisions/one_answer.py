"""A single row at a gate, with few NumPy calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.calibration import Thresholds
from rankset.core.one_row import RowCells
from rankset.inputs.vocabulary import Names
from rankset.rules.one_row import KINDS, OneRow
from rankset.rules.spec import RuleSpec
from rankset.scores.application import compared_keys
from rankset.scores.reach import Reach

ANSWER = Names(("answer",))
"""The only class of rows that have one confidence each."""


class OneAnswer(OneRow):
    """A gate, prepared for single rows. Rows that are in doubt, and everything unusual, go the general path."""

    @classmethod
    def of(cls, spec: RuleSpec, thresholds: Thresholds) -> OneAnswer | None:
        """Return the gate of a spec with one threshold; None if it needs groups, ids or a ``transform``."""
        group = spec.shared_group
        if group is None or spec.traits.transforms or spec.with_ids or spec.kind not in KINDS or spec.classes == ANSWER:
            return None
        return cls(spec, group, thresholds, Reach())

    def accepts(self, row: NDArray[Any]) -> bool | None:
        """Return whether a row, (K,) or (1, K), is accepted; None if it must be checked on the general path."""
        matrix = row[np.newaxis] if row.ndim == 1 else row
        if matrix.shape != self._shape or (sums := self._sums.get(matrix.dtype)) is None:
            return None
        entries = matrix[0] if self._kind != "logits" else self._probabilities(matrix)
        if entries is None:
            return None
        ordered = entries.copy()
        ordered.sort()
        if not self._is_clear(ordered, *sums):
            return None
        cells = RowCells(self, entries, np.array([entries.argmax()]), None)
        return bool(self._threshold.keep(compared_keys(self._score, cells))[0])
