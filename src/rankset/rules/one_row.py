"""The set of a single row, of a rule with one threshold, with few NumPy calls.

This is the same prediction as ``rules.select``, for the rows that services ask for: one at a time. What does not depend
on the row is settled once. Rows that are in doubt, and everything unusual, are left to the general path.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import FLOATS, certain_deviation
from rankset.core.calibration import Thresholds
from rankset.core.noise import NoiseSeed, RowDraws
from rankset.core.one_row import RowCells, RowLimits, most_likely
from rankset.core.rows import Rows
from rankset.inputs.matrix import SUM_TO_ONE
from rankset.inputs.probabilities import from_kind
from rankset.rules.batch import refuse_to_draw
from rankset.rules.select import cutoffs
from rankset.rules.spec import RuleSpec
from rankset.scores.application import compared_keys
from rankset.scores.reach import Reach

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
Array = NDArray[Any]

ROUNDING = 1e-9
"""Limits are wider by this, because scores of a user's own may round differently than we do."""
MOST = 2.0
"""No probability is larger, whatever its row sums to within the tolerance."""
KINDS = ("probs", "logits", "decision", "marginals")


def codes_of_one(spec: RuleSpec, thresholds: Thresholds, reach: Reach) -> Callable[[Array], Codes | None]:
    """Return the function that returns the columns of the set of a single row, a matrix (1, K), most likely first.

    It returns None for a matrix of another shape or dtype, for values that may be wrong, and always if the rule needs
    what is not settled beforehand: groups, ids, a ``transform``, or a warning.
    """
    group = spec.shared_group
    if group is None or thresholds.everything[group].any() or spec.traits.transforms or spec.with_ids:
        return _leave
    if spec.below and thresholds.nothing is not None and thresholds.nothing[group].any():
        return _leave
    if spec.kind not in KINDS or (spec.kind not in SUM_TO_ONE and spec.traits.uses_mass):
        return _leave
    return OneRow(spec, group, thresholds, reach).codes


def _leave(_matrix: Array) -> None:
    """Leave a row to the general path."""


class OneRow:
    """A rule for one alpha, prepared for single rows."""

    def __init__(self, spec: RuleSpec, group: Ints, thresholds: Thresholds, reach: Reach) -> None:
        """Prepare what does not depend on the row; ``group`` is the group of all cells, and ``reach`` its reach."""
        self._kind, self._score, self._reach = spec.kind, spec.score, reach
        self._threshold = thresholds.of_group(group)
        n_columns = spec.n_columns
        self._shape = (1, n_columns)
        self._limits = RowLimits(int(max(1, min(reach.rank, n_columns))), _most_mass(spec, reach))
        self._sums = {dtype: (np.ones(n_columns, dtype), certain_deviation(n_columns, dtype)) for dtype in FLOATS}
        least = float(reach.prob)
        self._least = least - ROUNDING * (1 + abs(least)) if math.isfinite(least) else least
        draws = RowDraws(n_columns, NoiseSeed.of(spec.seed))
        self.draw = draws.draw if spec.traits.uses_noise else partial(refuse_to_draw, spec.score)

    def codes(self, matrix: Array) -> Codes | None:
        """Do what ``codes_of_one`` says."""
        if matrix.shape != self._shape or (sums := self._sums.get(matrix.dtype)) is None:
            return None
        row = matrix[0] if self._kind != "logits" else self._probabilities(matrix)
        if row is None:
            return None
        ordered = row.copy()
        ordered.sort()  # NaN comes last
        if not self._is_clear(ordered, *sums):
            return None
        columns, masses = most_likely(row, ordered, self._limits, self._cutoff(row))
        cells = RowCells(self, row, columns, masses)
        kept = self._threshold.keep(compared_keys(self._score, cells))
        codes = columns.astype(np.int32)
        return codes if np.count_nonzero(kept) == len(codes) else codes[kept]

    def _probabilities(self, matrix: Array) -> Array | None:
        """Return the softmax of a row of logits; None if they look like probabilities or may be wrong."""
        low, high = float(matrix.min()), float(matrix.max())
        if low >= 0 or not math.isfinite(high):
            return None
        row: Array = from_kind(matrix.astype(np.float64), "logits")[0]
        return row

    def _is_clear(self, ordered: Array, ones: Array, tolerance: float) -> bool:
        """Return whether the entries of a row, in ascending order, are certainly valid."""
        if self._kind == "probs":
            possible = ordered.item(0) >= 0 and ordered.item(-1) <= MOST  # so that no sum overflows
            return possible and abs(float(ordered.dot(ones)) - 1.0) < tolerance
        if self._kind == "marginals":
            return bool(ordered.item(0) >= 0 and ordered.item(-1) <= 1)
        return self._kind == "logits" or math.isfinite(ordered.item(-1))

    def _cutoff(self, row: Array) -> float:
        """Return the smallest entry that can be in the set by its size alone."""
        if self._reach.behind == math.inf:
            return self._least
        found = cutoffs(self._reach, self.rows(row))
        return -math.inf if found is None else float(found[0])

    def rows(self, row: Array) -> Rows:
        """Return the row as a block, for features that few scores use."""
        return Rows(row[np.newaxis], lambda: np.array([self.draw(row)]), self._kind in SUM_TO_ONE, summed=True)


def _most_mass(spec: RuleSpec, reach: Reach) -> float:
    """Return the largest mass before a label of a set; infinite where entries cannot be added up."""
    return float(reach.before) + ROUNDING if spec.kind in SUM_TO_ONE else math.inf
