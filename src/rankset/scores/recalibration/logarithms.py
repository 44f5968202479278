"""Logarithms of probabilities, and sums of rows, with the same bits on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankset.core.exponential import exp_of_nonpositive
from rankset.core.logarithm import log_of_nonnegative

Floats = NDArray[np.float64]

LEAST_LOG = -60.0
ZERO_LOG = -14.0
"""Largest logarithm of an exact zero: below all others of its row, but not so low that it decides alone."""


def log_probabilities(probs: Floats) -> Floats:
    """Return logarithms, all finite; those of exact zeros lie below the smallest other one of their row."""
    answer = log_of_nonnegative(probs)
    zero = answer == -np.inf
    if zero.any():
        lowest = np.where(zero, np.inf, answer).min(axis=1, keepdims=True)
        answer = np.where(zero, np.minimum(lowest - 1, ZERO_LOG), answer)
    return np.maximum(answer, LEAST_LOG, out=answer)


def normalise(scores: Floats) -> Floats:
    """Return log-probabilities from unnormalised ones (log-softmax of each row)."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    shifted -= log_of_nonnegative(row_sums(exp_of_nonpositive(shifted)))
    return shifted


def row_sums(values: Floats) -> Floats:
    """Return the sums of rows (n, 1) of numbers from 0 to 1, as sums of integers, which do not depend on the order."""
    units = units_of(values.shape[1])
    whole = values * units
    np.rint(whole, out=whole)
    return whole.astype(np.int64).sum(axis=1, keepdims=True) / units


def units_of(n_columns: int) -> float:
    """Return how many units are 1 in sums of rows: so many that no sum of a row is too large for an integer."""
    return 2.0 ** min(52, 62 - n_columns.bit_length())
