"""Features of the conditional logit model behind ``Recalibrated``."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankset.core import ranking
from rankset.scores.recalibration.logarithms import ZERO_LOG, log_probabilities, normalise

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_RANKS = 100
"""All later ranks count as this one."""
ENTROPY_CENTRE = 0.3
"""Subtracted from the entropy, which is given as a share of the largest possible."""


@dataclass(frozen=True)
class Features:
    """Features of rows of probabilities.

    ``log`` (n, K): log-probabilities after temperature scaling. ``log_rank`` (n, K): logarithms of ranks.
    ``first`` (n,): the column of rank 1. ``entropy`` (n,): the centred entropy of each row.
    """

    log: Floats
    log_rank: Floats
    first: Ints
    entropy: Floats

    @classmethod
    def of(cls, probs: Floats, scale: float) -> Features:
        """Return the features of rows of probabilities raised to the power ``scale``."""
        log = normalise(scale * log_probabilities(probs))
        entropy = -(np.exp(log) * log).sum(axis=1) / math.log(max(2, probs.shape[1]))
        log_rank, first = _log_ranks(probs)
        return cls(log, log_rank, first, entropy - ENTROPY_CENTRE)

    def weighted_sum(self, weights: Floats) -> Floats:
        """Return the sum of all features times their ``weights`` (n, K)."""
        by_log, by_rank, by_first = (
            (weights[place] + weights[place + 4] * self.entropy)[:, np.newaxis] for place in range(3)
        )
        scores = by_log * self.log
        scores -= by_rank * self.log_rank
        scores += weights[3] / 10 * np.square(np.maximum(self.log, ZERO_LOG))
        scores[np.arange(len(scores)), self.first] += by_first[:, 0]
        return scores

    def rows(self, rows: slice) -> Features:
        """Return the features of some of the rows."""
        return Features(self.log[rows], self.log_rank[rows], self.first[rows], self.entropy[rows])

    def stacked(self) -> Floats:
        """Return all features as one array (n, K, 7), for the fit of the weights."""
        is_first = np.zeros_like(self.log)
        is_first[np.arange(len(is_first)), self.first] = 1
        squared = np.square(np.maximum(self.log, ZERO_LOG)) / 10
        plain = np.stack((self.log, -self.log_rank, is_first), axis=2)
        return np.concatenate((plain, squared[:, :, np.newaxis], plain * self.entropy[:, None, None]), axis=2)


def _log_ranks(probs: Floats) -> tuple[Floats, Ints]:
    """Return the logarithm of every rank (n, K), of ranks up to ``MOST_RANKS``, and the column of rank 1 (n,)."""
    n_rows, n_columns = probs.shape
    found = ranking.likeliest(probs, MOST_RANKS, math.inf, None)
    columns, sizes = found.columns, found.sizes
    starts = sizes.cumsum() - sizes
    ranks = np.arange(len(columns)) - np.repeat(starts, sizes)
    table = np.log(np.arange(1, MOST_RANKS + 1))
    answer = np.full(probs.shape, table[min(n_columns, MOST_RANKS) - 1])
    answer.reshape(-1)[np.repeat(np.arange(n_rows) * n_columns, sizes) + columns] = table[
        np.minimum(ranks, MOST_RANKS - 1)
    ]
    return answer, columns[starts]
