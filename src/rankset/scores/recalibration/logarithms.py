"""Logarithms of probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST_LOG = -60.0
ZERO_LOG = -14.0
"""Largest logarithm of an exact zero: below all others of its row, but not so low that it decides alone."""


def log_probabilities(probs: Floats) -> Floats:
    """Return logarithms, all finite; those of exact zeros lie below the smallest other one of their row."""
    with np.errstate(divide="ignore"):
        answer = np.log(probs)
    zero = answer == -np.inf
    if zero.any():
        lowest = np.where(zero, np.inf, answer).min(axis=1, keepdims=True)
        answer = np.where(zero, np.minimum(lowest - 1, ZERO_LOG), answer)
    return np.maximum(answer, LEAST_LOG, out=answer)


def normalise(scores: Floats) -> Floats:
    """Return log-probabilities from unnormalised ones (log-softmax of each row)."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return shifted
