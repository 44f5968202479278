"""Fit of class factors in ``Recalibrated``, in turns with its weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankset.scores.recalibration.features import Features
from rankset.scores.recalibration.fit_weights import PRIOR, Likelihood, fit_weights
from rankset.scores.recalibration.row_blocks import fill_rows, small_blocks

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
    likelihood = Likelihood(features.rows(some), columns[some])
    factors = np.zeros(n_columns)
    weights = fit_weights(likelihood, factors, PRIOR)
    if not class_factors:
        return weights, factors
    powers = Powers.of(features, weights, columns)
    shrinkage = _best_shrinkage(powers)
    for turn in range(TURNS if shrinkage < math.inf else 0):
        before = factors
        if turn:
            powers = Powers.of(features, weights, columns)
        factors = _fit_factors(powers, (shrinkage,))[:, 0]
        weights = fit_weights(likelihood, factors, weights)
        if np.abs(factors - before).max() < LEAST_CHANGE:
            break
    return weights, factors


@dataclass(frozen=True)
class Powers:
    """The exponentials of scores, those of each row divided by the largest, and what belongs to the labels.

    ``values`` (n, K): the exponentials. ``own`` (n,): the logarithms of the labels' exponentials. ``columns`` (n,): the
    columns of the labels.
    """

    values: Floats
    own: Floats
    columns: Ints

    @classmethod
    def of(cls, features: Features, weights: Floats, columns: Ints) -> Powers:
        """Return the exponentials of the scores that ``weights`` give."""
        n_rows, n_columns = features.log.shape
        values, own = np.empty((n_rows, n_columns)), np.empty(n_rows)

        def fill(part: slice) -> None:
            scores = features.rows(part).weighted_sum(weights)
            scores -= scores.max(axis=1, keepdims=True)
            own[part] = scores[np.arange(len(scores)), columns[part]]
            np.exp(scores, out=values[part])

        fill_rows(fill, n_rows, n_columns)
        return cls(values, own, columns)

    def rows(self, rows: slice) -> Powers:
        """Return some of the rows."""
        return Powers(self.values[rows], self.own[rows], self.columns[rows])

    def expected_counts(self, raised: Floats) -> Floats:
        """Return the expected count of each class, divided by its own factor, for factors ``raised`` (K, factors)."""
        answer = np.zeros(raised.shape)
        for rows in small_blocks(*self.values.shape):
            values = self.values[rows]
            answer += values.T @ (1 / (values @ raised))
        return answer

    def label_logs(self, factors: Floats) -> Floats:
        """Return the log-probability of every label (n, factors), for log-factors of classes (K, factors)."""
        raised = np.exp(factors)
        totals = np.concatenate([self.values[rows] @ raised for rows in small_blocks(*self.values.shape)])
        return self.own[:, np.newaxis] + factors[self.columns] - np.log(totals)


def _fit_factors(powers: Powers, shrinkages: tuple[float, ...], rounds: int = 12) -> Floats:
    """Return log-factors that bring expected class counts to the observed ones, shrunk towards 0 (K, shrinkage)."""
    n_columns = powers.values.shape[1]
    counts, shrunk = np.bincount(powers.columns, minlength=n_columns)[:, np.newaxis], np.array(shrinkages)
    factors = np.zeros((n_columns, len(shrinkages)))
    moving = np.arange(len(shrinkages))
    for _ in range(rounds):
        unraised = powers.expected_counts(np.exp(factors[:, moving]))
        new = np.log((counts + shrunk[moving]) / (unraised + shrunk[moving]))
        changes = np.abs(new - factors[:, moving]).max(axis=0)
        factors[:, moving] = new
        moving = moving[changes >= LEAST_CHANGE]
        if not len(moving):
            break
    return factors


def _best_shrinkage(powers: Powers) -> float:
    """Return the shrinkage with the largest cross-validated likelihood; inf if factors do not clearly help."""
    n_rows = len(powers.own)
    if n_rows < 2:
        return math.inf
    first, second = slice(0, n_rows // 2), slice(n_rows // 2, None)
    halves = ((first, second), (second, first))
    logs = np.concatenate([_held_out_logs(powers.rows(fit), powers.rows(check)) for fit, check in halves])
    best = int(logs.sum(axis=0).argmax())
    gain = logs[:, best] - logs[:, 0]
    return SHRINKAGES[best] if gain.sum() > ENOUGH_GAIN * math.sqrt(np.square(gain).sum()) else math.inf


def _held_out_logs(fit: Powers, check: Powers) -> Floats:
    """Return the log-probability of every label in ``check``, with factors fitted on ``fit`` (n, shrinkage)."""
    fitted = _fit_factors(fit, SHRINKAGES[1:], rounds=5)
    return check.label_logs(np.concatenate((np.zeros((len(fitted), 1)), fitted), axis=1))
