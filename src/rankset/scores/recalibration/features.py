"""Features of the conditional logit model behind ``Recalibrated``."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankset.core.exponential import exp_of_nonpositive
from rankset.core.logarithm import log_of_nonnegative
from rankset.scores.recalibration.logarithms import ZERO_LOG, log_probabilities, normalise, row_sums
from rankset.scores.recalibration.row_blocks import fill_rows
from rankset.scores.recalibration.top_columns import top_columns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_RANKS = 100
"""All later ranks count as this one."""
LOG_RANKS = log_of_nonnegative(np.arange(1.0, MOST_RANKS + 1))
ENTROPY_CENTRE = 0.3
"""Subtracted from the entropy, which is given as a share of the largest possible."""


@dataclass(frozen=True)
class Features:
    """Features of rows of probabilities.

    ``log`` (n, K): log-probabilities after temperature scaling. ``top`` (n, T): the columns of the first ranks, all
    columns if they are at most ``MOST_RANKS``. ``entropy`` (n,): the centred entropy of each row.
    """

    log: Floats
    top: Ints
    entropy: Floats

    @classmethod
    def of(cls, probs: Floats, scale: float) -> Features:
        """Return the features of rows of probabilities raised to the power ``scale``."""
        log = normalise(scale * log_probabilities(probs))
        entropy = row_sums(-exp_of_nonpositive(log) * log)[:, 0] / math.log(max(2, probs.shape[1]))
        return cls(log, top_columns(probs, MOST_RANKS), entropy - ENTROPY_CENTRE)

    @classmethod
    def of_many(cls, probs: NDArray[np.floating], scale: float) -> Features:
        """Return the same for many rows, in small blocks and by several threads."""
        n_rows, n_columns = probs.shape
        tops = np.empty((n_rows, min(n_columns, MOST_RANKS)), dtype=np.int64)
        answer = cls(np.empty(probs.shape), tops, np.empty(n_rows))

        def fill(part: slice) -> None:
            found = cls.of(probs[part].astype(np.float64), scale)
            answer.log[part], answer.top[part], answer.entropy[part] = found.log, found.top, found.entropy

        fill_rows(fill, *probs.shape)
        return answer

    def weighted_sum(self, weights: Floats) -> Floats:
        """Return the sum of all features times their ``weights`` (n, K)."""
        by_log, by_rank, by_first = (
            (weights[place] + weights[place + 4] * self.entropy)[:, np.newaxis] for place in range(3)
        )
        scores = by_log * self.log
        flat, places = scores.reshape(-1), self._places
        at_top = flat[places] - by_rank * LOG_RANKS[: places.shape[1]]
        scores -= by_rank * LOG_RANKS[-1]
        flat[places] = at_top
        squares = np.maximum(self.log, ZERO_LOG)
        squares *= squares
        squares *= weights[3] / 10
        scores += squares
        flat[places[:, 0]] += by_first[:, 0]
        return scores

    @property
    def _places(self) -> Ints:
        """Where the columns ``top`` are in an array (n * K,)."""
        n_rows, n_columns = self.log.shape
        return np.arange(0, n_rows * n_columns, n_columns)[:, np.newaxis] + self.top

    def rows(self, rows: slice) -> Features:
        """Return the features of some of the rows."""
        return Features(self.log[rows], self.top[rows], self.entropy[rows])

    def stacked(self) -> Floats:
        """Return log-probability, minus log-rank, indicator of rank 1 and scaled square of all cells (n, 4, K)."""
        n_rows, n_columns = self.log.shape
        answer = np.empty((n_rows, 4, n_columns))
        rows = np.arange(n_rows)[:, np.newaxis]
        answer[:, 0] = self.log
        answer[:, 1] = -LOG_RANKS[-1]
        answer[rows, 1, self.top] = -LOG_RANKS[: self.top.shape[1]]
        answer[:, 2] = 0
        answer[rows[:, 0], 2, self.top[:, 0]] = 1
        answer[:, 3] = np.square(np.maximum(self.log, ZERO_LOG)) / 10
        return answer
