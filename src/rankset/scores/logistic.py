"""Logistic regression with a penalty, by Newton's method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_STEPS = 50
SMALL_STEP = 1e-8
LEAST_CURVATURE = 1e-9
MOST_HALVINGS = 30


def fit_logistic(features: Floats, right: NDArray[np.bool_], penalties: Floats) -> Floats:
    """Return the weights with the largest penalised likelihood of ``right`` (n,), given ``features`` (n, d).

    ``penalties`` (d,) are positive, so there is one best answer. Each step that does not improve is halved.
    """
    weights = np.zeros(features.shape[1])
    loss = _loss(features, right, penalties, weights)
    for _ in range(MOST_STEPS):
        chances = _chances(features @ weights)
        slope = features.T @ (right - chances) - penalties * weights
        spread = chances * (1 - chances) + LEAST_CURVATURE
        step = np.linalg.solve((features * spread[:, np.newaxis]).T @ features + np.diag(penalties), slope)
        for _ in range(MOST_HALVINGS):
            tried = _loss(features, right, penalties, weights + step)
            if tried <= loss:
                break
            step /= 2
        else:
            return weights
        weights, loss = weights + step, tried
        if np.abs(step).max(initial=0.0) < SMALL_STEP:
            break
    return weights


def _loss(features: Floats, right: NDArray[np.bool_], penalties: Floats, weights: Floats) -> float:
    """Return minus the penalised log-likelihood."""
    values = features @ weights
    likelihood = np.logaddexp(0.0, np.where(right, -values, values)).sum()
    return float(likelihood + 0.5 * (penalties * weights**2).sum())


def _chances(values: Floats) -> Floats:
    """Return 1 / (1 + exp(-values)), without overflow."""
    return np.exp(-np.logaddexp(0.0, -values))
