"""Fit of class factors in ``Recalibrated``, in turns with its weights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankset.scores.recalibration.features import Features
from rankset.scores.recalibration.fit_weights import PRIOR, fit_weights

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_WEIGHT_CELLS = 2_000_000
"""Rows times classes to fit weights on, at most (but at least 200 rows)."""
SHRINKAGES = (math.inf, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
"""Candidates for the shrinkage of class factors; inf means no factors."""
TURNS = 3
ENOUGH_GAIN = 2.0
"""Class factors are used if they increase the log-likelihood by this many standard errors."""
LEAST_CHANGE = 1e-3


def fit_weights_and_factors(features: Features, columns: Ints, *, class_factors: bool) -> tuple[Floats, Floats]:
    """Return the weights (7,) and the logarithms of class factors (K,), which are 0 if factors do not help."""
    n_columns = features.log.shape[1]
    some = slice(0, max(200, min(2000, MOST_WEIGHT_CELLS // n_columns)))
    stacked, own = features.rows(some).stacked(), columns[some]
    factors = np.zeros(n_columns)
    weights = fit_weights(stacked, own, factors, PRIOR)
    if not class_factors:
        return weights, factors
    shrinkage = _best_shrinkage(features.weighted_sum(weights), columns)
    for _ in range(TURNS if shrinkage < math.inf else 0):
        before = factors
        factors = _fit_factors(features.weighted_sum(weights), columns, shrinkage)
        weights = fit_weights(stacked, own, factors, weights)
        if np.abs(factors - before).max() < LEAST_CHANGE:
            break
    return weights, factors


def _fit_factors(scores: Floats, columns: Ints, shrinkage: float, rounds: int = 12) -> Floats:
    """Return log-factors that bring expected class counts to the observed ones, shrunk towards 0."""
    n_columns = scores.shape[1]
    counts = np.bincount(columns, minlength=n_columns)
    factors = np.zeros(n_columns)
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    for _ in range(rounds):
        raised = np.exp(factors)
        totals = shifted @ raised
        unraised = (shifted / totals[:, np.newaxis]).sum(axis=0)  # expected counts, divided by the class's own factor
        new = np.log((counts + shrinkage) / (unraised + shrinkage))
        change = np.abs(new - factors).max()
        factors = new
        if change < LEAST_CHANGE:
            break
    return factors


def _best_shrinkage(scores: Floats, columns: Ints) -> float:
    """Return the shrinkage with the largest cross-validated likelihood; inf if factors do not clearly help."""
    if len(scores) < 2:
        return math.inf
    known = {shrinkage: _held_out_logs(scores, columns, shrinkage) for shrinkage in SHRINKAGES}
    best = max(known, key=lambda shrinkage: known[shrinkage].sum())
    gain = known[best] - known[math.inf]
    return best if gain.sum() > ENOUGH_GAIN * math.sqrt(np.square(gain).sum()) else math.inf


def _held_out_logs(scores: Floats, columns: Ints, shrinkage: float) -> Floats:
    """Return the log-probability of every row's label, with factors fitted on the other half of the rows (n,)."""
    half = len(scores) // 2
    parts = []
    for fit, check in ((slice(0, half), slice(half, None)), (slice(half, None), slice(0, half))):
        factors = 0.0 if shrinkage == math.inf else _fit_factors(scores[fit], columns[fit], shrinkage, rounds=5)
        parts.append(_label_logs(scores[check] + factors, columns[check]))
    return np.concatenate(parts)


def _label_logs(scores: Floats, columns: Ints) -> Floats:
    """Return the log-softmax of each row's label (n,), without computing that of the other labels."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted[np.arange(len(shifted)), columns] - np.log(np.exp(shifted).sum(axis=1))
