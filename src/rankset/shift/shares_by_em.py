"""The most likely shares of classes in new rows, by EM (Saerens, Latinne and Decaestecker, 2002)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_ROUNDS = 500
SMALL_CHANGE = 1e-7
LEAST_SHARE = 1e-300


def most_likely_shares(ratios: Floats, start: Floats) -> Floats:
    """Return the shares (K,) with the largest likelihood, the product over rows of sum of shares * ``ratios`` (m, K).

    ``ratios`` are probabilities divided by the shares of classes among the rows they were fitted on. Each round makes
    two steps of EM, and goes on in their direction as long as this is more likely (SQUAREM).
    """
    shares = start
    for _ in range(MOST_ROUNDS):
        one = em_step(ratios, shares)
        two = em_step(ratios, one)
        if np.abs(two - shares).sum() < SMALL_CHANGE:
            return two
        shares = _further(ratios, shares, one, two)
    return shares


def em_step(ratios: Floats, shares: Floats) -> Floats:
    """Return the mean probabilities of classes, if their shares were these (K,)."""
    found: Floats = shares * (ratios.T @ (1 / (ratios @ shares))) / len(ratios)
    return found / found.sum()


def _further(ratios: Floats, shares: Floats, one: Floats, two: Floats) -> Floats:
    """Return shares in the direction of two steps, or the second step if these are not more likely."""
    first, bend = one - shares, (two - one) - (one - shares)
    length = np.sqrt(np.square(first).sum() / max(float(np.square(bend).sum()), LEAST_SHARE))
    if length <= 1:
        return two
    tried = shares + 2 * length * first + length**2 * bend
    tried = em_step(ratios, np.maximum(tried, two * 1e-3))
    return tried if _likelihood(ratios, tried) >= _likelihood(ratios, two) else two


def _likelihood(ratios: Floats, shares: Floats) -> float:
    return float(np.log(ratios @ shares).sum())
