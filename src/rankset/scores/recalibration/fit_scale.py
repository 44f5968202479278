"""Fit of the power in temperature scaling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankset.scores.recalibration.logarithms import log_probabilities
from rankset.scores.recalibration.row_blocks import fill_rows

Floats = NDArray[np.float64]

MOST_CELLS = 2_000_000
"""Rows times classes to fit on, at most (but at least 200 rows)."""


def fit_scale(probs: NDArray[np.floating], columns: NDArray[np.int64]) -> float:
    """Return the most likely power of ``probs`` (n, K), by Newton's method with a normal prior around 1."""
    rows = slice(0, max(200, MOST_CELLS // probs.shape[1]))
    log = _logs(probs[rows])
    own = log[np.arange(len(log)), columns[rows]]
    scale = 1.0
    for _ in range(50):
        means, spreads = _moments(log, scale)
        step = ((own - means).sum() - (scale - 1)) / (spreads.sum() + 1)
        new = float(np.clip(scale + np.clip(step, -scale / 2, scale), 0.02, 50.0))
        if abs(new - scale) < 1e-6 * scale:
            break
        scale = new
    return scale


def _logs(probs: NDArray[np.floating]) -> Floats:
    """Return the logarithms of probabilities (n, K)."""
    answer = np.empty(probs.shape)

    def fill(part: slice) -> None:
        answer[part] = log_probabilities(probs[part].astype(np.float64))

    fill_rows(fill, *probs.shape)
    return answer


def _moments(log: Floats, scale: float) -> tuple[Floats, Floats]:
    """Return mean and variance of the logarithms of each row (n,), under the probabilities with this power."""
    means, spreads = np.empty(len(log)), np.empty(len(log))

    def fill(part: slice) -> None:
        logs = log[part]
        probs = scale * logs
        probs -= probs.max(axis=1, keepdims=True)
        np.exp(probs, out=probs)
        probs /= probs.sum(axis=1, keepdims=True)
        means[part] = np.einsum("ij,ij->i", probs, logs)
        squares = logs - means[part, np.newaxis]
        squares *= squares
        spreads[part] = np.einsum("ij,ij->i", probs, squares)

    fill_rows(fill, *log.shape)
    return means, spreads
