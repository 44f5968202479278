"""Fit of the power in temperature scaling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankset.scores.recalibration.logarithms import normalise

Floats = NDArray[np.float64]

MOST_CELLS = 2_000_000
"""Rows times classes to fit on, at most (but at least 200 rows)."""


def fit_scale(log: Floats, columns: NDArray[np.int64]) -> float:
    """Return the most likely power, by Newton's method with a normal prior around 1."""
    rows = slice(0, max(200, MOST_CELLS // log.shape[1]))
    log, own = log[rows], log[rows][np.arange(len(log[rows])), columns[rows]]
    scale = 1.0
    for _ in range(50):
        probs = np.exp(normalise(scale * log))
        mean = (probs * log).sum(axis=1)
        spread = (probs * np.square(log - mean[:, np.newaxis])).sum()
        step = ((own - mean).sum() - (scale - 1)) / (spread + 1)
        new = float(np.clip(scale + np.clip(step, -scale / 2, scale), 0.02, 50.0))
        if abs(new - scale) < 1e-6 * scale:
            break
        scale = new
    return scale
