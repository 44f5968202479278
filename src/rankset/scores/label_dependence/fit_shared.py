"""Fit of the weights that all labels share and of an intercept for each label, by a few Newton steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankset.core.exponential import exp_of_nonpositive
from rankset.scores.label_dependence.features import PRIOR

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

WEIGHT_PENALTY = 1.0
"""Penalty of the squared distance of shared weights from those that change nothing."""
INTERCEPT_PENALTY = 3.0
"""Penalty of squared intercepts of labels."""
STEPS = 25
LEAST_CHANGE = 1e-4
LARGEST_STEP = 4.0
"""Steps are shortened so that no logit changes by more than this."""


def sigmoid(logits: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)), without overflow."""
    small = exp_of_nonpositive(-np.abs(logits))
    return np.where(logits >= 0, 1.0, small) / (1.0 + small)


def weighted_logits(features: Floats, weights: Floats, intercepts: Floats) -> Floats:
    """Return the logits (n, K) that weights of features (6, n, K) and intercepts of labels (K,) give."""
    answer = intercepts + weights[0] * features[0]
    for weight, feature in zip(weights[1:], features[1:], strict=True):
        answer += weight * feature
    return answer


def fit_shared(features: Floats, truths: Bools) -> tuple[Floats, Floats]:
    """Return the shared weights (6,) and the intercepts (K,) of the largest penalised likelihood."""
    prior = np.array(PRIOR)
    weights, intercepts = prior.copy(), np.zeros(truths.shape[1])
    for _ in range(STEPS):
        probs = sigmoid(weighted_logits(features, weights, intercepts))
        step, by_label = _newton_step(features, truths - probs, probs * (1 - probs), weights - prior, intercepts)
        change = np.abs(weighted_logits(features, step, by_label)).max()
        scale = min(1.0, LARGEST_STEP / max(change, LEAST_CHANGE))
        weights, intercepts = weights + scale * step, intercepts + scale * by_label
        if change < LEAST_CHANGE:
            break
    return weights, intercepts


def _newton_step(
    features: Floats, residuals: Floats, curvatures: Floats, moved: Floats, intercepts: Floats
) -> tuple[Floats, Floats]:
    """Return one Newton step for the weights and for the intercepts, whose part of the Hessian is diagonal."""
    count = len(features)
    slope = np.array([(feature * residuals).sum() for feature in features]) - WEIGHT_PENALTY * moved
    by_label = residuals.sum(axis=0) - INTERCEPT_PENALTY * intercepts
    own = curvatures.sum(axis=0) + INTERCEPT_PENALTY
    shared, mixed = np.empty((count, count)), np.empty((count, len(own)))
    for i in range(count):
        curved = features[i] * curvatures
        mixed[i] = curved.sum(axis=0)
        for j in range(i + 1):
            shared[i, j] = shared[j, i] = (curved * features[j]).sum()
    shared[np.diag_indices(count)] += WEIGHT_PENALTY
    without = shared - (mixed[:, np.newaxis] * mixed / own).sum(axis=2)
    step = np.linalg.solve(without, slope - (mixed * (by_label / own)).sum(axis=1))
    return step, (by_label - (mixed * step[:, np.newaxis]).sum(axis=0)) / own
