"""The fit of ``Marginals``: weights, intercepts and, where it pays, a matrix of what labels say about each other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankset.scores.label_dependence.exact_products import rounded_columns
from rankset.scores.label_dependence.features import row_features, standardised
from rankset.scores.label_dependence.fit_cross import Rows, best_ridge, fit_cross, with_ones
from rankset.scores.label_dependence.fit_shared import fit_shared, weighted_logits

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MOST_CELLS = 500_000
"""Rows times labels to fit on, at most (but at least 200 rows) …"""
MOST_ROWS = 20_000
"""… and at most so many rows."""
MOST_PRODUCTS = 100_000_000
"""The matrix is fitted on so many rows that their number times the squared number of labels is at most this."""
MOST_COLUMNS = 256
"""With more labels no matrix is fitted."""
FEWEST_ROWS = 8
"""With fewer rows no matrix is fitted: each of four folds needs rows."""
SMALLEST_DEVIATION = 1e-6


@dataclass(frozen=True)
class Fitted:
    """Fitted numbers: weights (6,), intercepts (K,), and means (K,), deviations (K,) and a matrix (K, K), or nothing.

    Column k of the matrix belongs to label k.
    """

    weights: Floats
    intercepts: Floats
    means: Floats
    deviations: Floats
    matrix: Floats


def fit(probs: Floats, truths: Bools) -> Fitted:
    """Return the numbers fitted on rows of probabilities (n, K) and whether each label is true (n, K)."""
    n_columns = probs.shape[1]
    some = slice(0, min(MOST_ROWS, max(200, MOST_CELLS // n_columns)))
    features, truths = row_features(probs[some].astype(np.float64)), truths[some]
    weights, intercepts = fit_shared(features, truths)
    nothing = np.zeros(0)
    if not 1 < n_columns <= MOST_COLUMNS or len(truths) < FEWEST_ROWS:
        return Fitted(weights, intercepts, nothing, nothing, nothing)
    some = slice(0, MOST_PRODUCTS // n_columns**2)
    features, truths = features[:, some], truths[some]
    means, spread = features[0].mean(axis=0), features[0].std(axis=0)
    deviations = np.where(spread > SMALLEST_DEVIATION, spread, 1.0)
    inputs = with_ones(standardised(features[0], means, deviations))
    ridge = best_ridge(features, inputs, truths)
    if ridge == math.inf:
        return Fitted(weights, intercepts, nothing, nothing, nothing)
    matrix = fit_cross(Rows(inputs, weighted_logits(features, weights, intercepts), truths), ridge)
    crossed = rounded_columns(matrix[:-1], n_columns)
    return Fitted(weights, intercepts + matrix[-1], means, deviations, crossed)
