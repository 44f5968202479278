"""Fit of the feature weights in ``Recalibrated``, by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankset.scores.recalibration.logarithms import normalise

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PRIOR = np.array([1.0, 0, 0, 0, 0, 0, 0])
"""Weights that change nothing; the centre of the normal prior."""
MOST_STEPS = 30
MOST_HALVINGS = 20
LEAST_GAIN = 1e-4
"""The fit ends when a step increases the log-likelihood by less."""


@dataclass(frozen=True)
class Likelihood:
    """Penalised log-likelihood of weights, given features (n, K, 7), label columns (n,) and class factors (K,)."""

    features: Floats
    columns: Ints
    factors: Floats

    @property
    def _flat(self) -> Floats:
        return self.features.reshape(-1, self.features.shape[2])

    def value(self, weights: Floats) -> tuple[float, Floats]:
        """Return the penalised log-likelihood, and the log-probabilities (n, K)."""
        n, n_columns, _ = self.features.shape
        log = normalise((self._flat @ weights).reshape(n, n_columns) + self.factors)
        likelihood = log[np.arange(n), self.columns].sum() - np.square(weights - PRIOR).sum() / 2
        return float(likelihood), log

    def newton_step(self, weights: Floats, log: Floats) -> Floats:
        """Return the Newton step at ``weights``, whose log-probabilities are ``log``."""
        n, _, n_features = self.features.shape
        probs, flat = np.exp(log), self._flat
        own = self.features[np.arange(n), self.columns]
        means = np.einsum("nk,nkf->nf", probs, self.features)
        slope = (own - means).sum(axis=0) - (weights - PRIOR)
        curve = (flat * probs.reshape(-1, 1)).T @ flat - means.T @ means + np.eye(n_features)
        return np.linalg.solve(curve, slope)


def fit_weights(features: Floats, columns: Ints, factors: Floats, start: Floats) -> Floats:
    """Return the most likely weights for given class factors, by Newton's method with step halving."""
    likelihood = Likelihood(features, columns, factors)
    weights = start
    best, log = likelihood.value(weights)
    for _ in range(MOST_STEPS):
        step = likelihood.newton_step(weights, log)
        for _halving in range(MOST_HALVINGS):
            found, new_log = likelihood.value(weights + step)
            if found >= best:
                break
            step = step / 2
        else:
            break
        gain, weights, best, log = found - best, weights + step, found, new_log
        if gain < LEAST_GAIN:
            break
    return weights
