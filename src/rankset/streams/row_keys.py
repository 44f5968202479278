"""The keys of all labels of a single row, with few NumPy calls."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankset.core.calibration import Thresholds
from rankset.core.lexicographic import Keys
from rankset.core.one_row import RowCells, most_likely
from rankset.inputs.matrix import SUM_TO_ONE
from rankset.rules.one_row import KINDS, OneRow
from rankset.rules.spec import RuleSpec
from rankset.scores.application import keys_of
from rankset.scores.reach import Reach

Ints = NDArray[np.int64]


class RowKeys(OneRow):
    """A rule with one threshold, prepared for single rows. Rows that are in doubt go the general path."""

    @classmethod
    def of(cls, spec: RuleSpec, thresholds: Thresholds) -> Self | None:
        """Return it for a spec; None if it needs groups, ids or a ``transform``."""
        group = spec.shared_group
        if group is None or spec.traits.transforms or spec.with_ids or spec.kind not in KINDS:
            return None
        if spec.sharing is not None or (spec.kind not in SUM_TO_ONE and spec.traits.uses_mass):
            return None
        return cls(spec, group, thresholds, Reach())

    def keys(self, matrix: NDArray[Any]) -> tuple[float, Ints, Keys] | None:
        """Return the largest entry of a row (1, K), its columns, most likely first, and their keys; None: in doubt."""
        if matrix.shape != self._shape or (sums := self._sums.get(matrix.dtype)) is None:
            return None
        row = matrix[0] if self._kind != "logits" else self._probabilities(matrix)
        if row is None:
            return None
        ordered = row.copy()
        ordered.sort()
        if not self._is_clear(ordered, *sums):
            return None
        columns, masses = most_likely(row, ordered, self._limits, -math.inf)
        return ordered.item(-1), columns, keys_of(self._score, RowCells(self, row, columns, masses))
