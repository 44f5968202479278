"""Sets of scores that compare probabilities with one threshold: marks in a small matrix, not ordered before needed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import FLOATS
from rankset.core.calibration import Thresholds
from rankset.inputs.value_checks import surely_probs
from rankset.rules.batch import Batch
from rankset.rules.spec import RuleSpec
from rankset.scores.reach import Reach
from rankset.sets.forms import MarkedSets

MOST_ENTRIES = 1 << 20
"""Marked sets keep a copy of the rows to order their labels by, so larger matrices are listed at once."""


def smallest_prob(spec: RuleSpec, thresholds: Thresholds, reach: Reach) -> float | None:
    """Return the smallest probability of a label in a set; None if not the probability alone decides.

    ``reach`` is that of ``shared_reach``.
    """
    group = spec.shared_group
    if group is None or thresholds.everything[group].any() or spec.traits.transforms:
        return None
    if spec.traits.key_features != ("prob",) or len(thresholds.keys) > 1 or reach.prob != -thresholds.keys[0][group][0]:
        return None
    return math.nextafter(float(reach.prob), math.inf) if thresholds.strict else float(reach.prob)


class DirectMarks:
    """Marks of matrices that need nothing but a look at their values: arrays of probabilities, no groups, no ids."""

    def __init__(self, spec: RuleSpec, least: float) -> None:
        """Prepare the smallest probability of a label in a set in every precision."""
        self._n_columns = spec.n_columns
        self._cutoffs = {dtype: _in_precision(least, dtype) for dtype in FLOATS}

    def form(self, matrix: NDArray[Any]) -> MarkedSets | None:
        """Return the sets of rows; None if the matrix is large, has another shape or dtype, or may be wrong."""
        if matrix.ndim != 2 or matrix.shape[1] != self._n_columns or matrix.size > MOST_ENTRIES:
            return None
        cutoff = self._cutoffs.get(matrix.dtype)
        if cutoff is None:
            return None
        with np.errstate(all="ignore"):
            sure = surely_probs(matrix)
        return MarkedSets(np.array(matrix, order="C"), cutoff) if sure else None


def marked(batch: Batch, least: float) -> MarkedSets | None:
    """Return the labels with a probability of at least ``least``; None if the rows are too many, or padded."""
    n_rows, n_columns = batch.shape
    if n_rows * n_columns > MOST_ENTRIES or batch.padded or batch.wide:
        return None
    rows = batch.data.rows(slice(0, n_rows))
    return MarkedSets(rows.copy(), _in_precision(least, rows.dtype))


def _in_precision(least: float, dtype: np.dtype[Any]) -> np.floating[Any]:
    """Return the smallest number of ``dtype`` that is at least ``least``."""
    with np.errstate(all="ignore"):
        rounded = dtype.type(least)
        return rounded if float(rounded) >= least else np.nextafter(rounded, dtype.type(math.inf))
