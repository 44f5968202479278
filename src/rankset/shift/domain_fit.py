"""A logistic regression that tells rows of two sources apart, cross-fitted, and what it says about weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankset.scores.logistic import fit_logistic

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

CONSTANT = 1e-9
"""Features that vary less than this are taken as constant."""
PENALTY = 1.0
"""Penalty of the weight of a feature, in units of its standard deviation."""
FREE = 1e-9
"""Penalty of the constant: nearly none."""
MOST_LOG = 50.0
HALF_NORMAL = math.sqrt(2 / math.pi)
"""Mean of the absolute value of a normal number with standard deviation 1."""


@dataclass(frozen=True)
class LogRatio:
    """Logarithm of the ratio of two densities, linear in the features of a row."""

    constant: float
    weights: tuple[float, ...]

    @classmethod
    def fit(cls, features: Floats, is_target: Bools) -> LogRatio:
        """Fit it to rows of both sources (n, d); their numbers of rows are divided out."""
        centre, spread = features.mean(axis=0), features.std(axis=0)
        scale = np.where(spread > CONSTANT, spread, np.inf)
        columns = np.concatenate((np.ones((len(features), 1)), (features - centre) / scale), axis=1)
        penalties = np.full(columns.shape[1], PENALTY)
        penalties[0] = FREE
        found = fit_logistic(columns, is_target, penalties)
        weights = found[1:] / scale
        odds = np.count_nonzero(is_target) / np.count_nonzero(~is_target)
        return cls(float(found[0] - weights @ centre - math.log(odds)), tuple(map(float, weights)))

    def logs(self, features: Floats) -> Floats:
        """Return the logarithm for each row (n,), column by column, so that no row depends on the others."""
        total = np.full(len(features), self.constant)
        for weight, values in zip(self.weights, features.T, strict=True):
            total += weight * values
        return total

    def ratios(self, features: Floats, clip: float) -> Floats:
        """Return the ratio for each row (n,), at most ``clip``."""
        return np.minimum(np.exp(np.minimum(self.logs(features), MOST_LOG)), clip)


def fold_numbers(is_target: Bools, folds: int, seed: int) -> Ints:
    """Return the fold of each row (n,): random, and each source is divided evenly."""
    rng = np.random.default_rng(seed)
    answer = np.empty(len(is_target), dtype=np.int64)
    for own in (~is_target, is_target):
        answer[own] = rng.permutation(np.count_nonzero(own)) % folds
    return answer


def fit_folds(features: Floats, is_target: Bools, numbers: Ints) -> list[LogRatio]:
    """Return for each fold the fit to the rows of all other folds."""
    return [
        LogRatio.fit(features[numbers != fold], is_target[numbers != fold]) for fold in range(int(numbers.max()) + 1)
    ]


def left_out_logs(fits: list[LogRatio], features: Floats, numbers: Ints) -> Floats:
    """Return for each row the logarithm of its ratio, by the fit that did not see its fold."""
    answer = np.empty(len(features))
    for fold, fit in enumerate(fits):
        answer[numbers == fold] = fit.logs(features[numbers == fold])
    return answer


def area_under_curve(source: Floats, target: Floats) -> tuple[float, float]:
    """Return how often a target row has the larger number, ties count half, and the standard error (DeLong).

    >>> area_under_curve(np.array([0.0, 1.0]), np.array([1.0, 2.0]))[0]
    0.875
    """
    below, above = _ranks_among(target, source), 1 - _ranks_among(source, target)
    variance = below.var() / max(1, len(below) - 1) + above.var() / max(1, len(above) - 1)
    return float(below.mean()), math.sqrt(variance)


def _ranks_among(values: Floats, others: Floats) -> Floats:
    """Return which share of ``others`` is below each value; equal ones count half."""
    ordered = np.sort(others)
    return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / (2 * len(others))


def chance_loss(fits: list[LogRatio], features: Floats, clip: float) -> float:
    """Return an estimate of E|estimated - true weight| / 2 by chance: how much weights vary with the rows of the fit.

    The standard deviation of each weight is estimated by leaving out folds (jackknife).
    """
    weights = np.array([ratios / ratios.mean() for ratios in (fit.ratios(features, clip) for fit in fits)])
    errors = np.sqrt((len(fits) - 1) * weights.var(axis=0))
    return float(errors.mean() * HALF_NORMAL / 2)
