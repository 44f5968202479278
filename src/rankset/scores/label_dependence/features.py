"""Features of labels in their rows, from which ``Marginals`` computes new probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankset.core.logarithm import log_of_nonnegative
from rankset.core.ranking import rank_columns
from rankset.scores.label_dependence.exact_products import on_grid

Floats = NDArray[np.float64]

LEAST = 1e-7
"""Probabilities below this, and above 1 minus this, are replaced by it: exact zeros and ones have no logits."""
SUM_UNITS = 2.0**40
"""Sums of probabilities are sums of integers in these units, so that they do not depend on the order of the columns."""
PRIOR = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""Weights of the features that leave probabilities as they are."""


def logits_of(probs: Floats) -> Floats:
    """Return the logits of probabilities, all finite.

    >>> logits_of(np.array([[0.5, 0.75]])).round(4)
    array([[0.    , 1.0986]])
    """
    inner = np.clip(probs, LEAST, 1 - LEAST)
    return log_of_nonnegative(inner) - log_of_nonnegative(1 - inner)


def standardised(logits: Floats, means: Floats, deviations: Floats) -> Floats:
    """Return logits minus means, divided by deviations, rounded so that products are exact."""
    return on_grid((logits - means) / deviations)


def _ranks(values: Floats) -> Floats:
    """Return one plus the number of larger entries of the row, for all entries: equal entries have the same rank.

    >>> _ranks(np.array([[0.1, 0.5, 0.2, 0.2]]))
    array([[4., 1., 2., 2.]])
    """
    order = rank_columns(values)
    ranked = np.take_along_axis(values, order, axis=1)
    places = np.broadcast_to(np.arange(1.0, values.shape[1] + 1), values.shape).copy()
    places[:, 1:][ranked[:, 1:] == ranked[:, :-1]] = 1.0
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, np.maximum.accumulate(places, axis=1), axis=1)
    return ranks


def row_features(probs: Floats) -> Floats:
    """Return the features of all labels (6, n, K): own logit, 1, log rank, gap, log sum, log share.

    The gap is that between the largest logit of the row and the label's own. The sum is that of the probabilities of
    the row, the share the label's part of it.
    """
    logits = logits_of(probs)
    inner = np.clip(probs, LEAST, 1 - LEAST)
    sums = np.rint(inner * SUM_UNITS).astype(np.int64).sum(axis=1, keepdims=True) / SUM_UNITS
    log_sums = log_of_nonnegative(sums)
    answer = np.empty((len(PRIOR), *probs.shape))
    answer[0] = logits
    answer[1] = 1.0
    answer[2] = log_of_nonnegative(_ranks(logits))
    answer[3] = logits.max(axis=1, keepdims=True, initial=-np.inf) - logits
    answer[4] = log_sums
    answer[5] = log_of_nonnegative(inner) - log_sums
    return answer
