"""Binomial probabilities of many counts at once, by the continued fraction of the incomplete beta function."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TINY = 1e-300
PRECISION = 1e-14


def at_most(hits: Ints, n: Ints, share: ArrayLike) -> Floats:
    """Return the probability of at most ``hits`` covered rows among ``n``.

    Each row is covered with probability ``share``. Arrays are broadcast.

    >>> at_most(np.array([0, 1, 2]), np.array([2, 2, 2]), 0.5).tolist()
    [0.25, 0.75, 1.0]
    """
    hits, n, p = np.broadcast_arrays(hits, n, np.asarray(share, dtype=np.float64))
    chances = np.where(hits >= n, 1.0, 0.0)
    chances[(p <= 0) & (hits >= 0)] = 1.0
    open_ones = (hits >= 0) & (hits < n) & (p > 0) & (p < 1)
    chances[open_ones] = _at_most(hits[open_ones], n[open_ones], p[open_ones])
    return chances


def at_least(hits: Ints, n: Ints, share: ArrayLike) -> Floats:
    """Return the probability of at least ``hits`` covered rows among ``n``.

    >>> at_least(np.array([0, 1, 2]), np.array([2, 2, 2]), 0.5).tolist()
    [1.0, 0.75, 0.25]
    """
    return at_most(n - hits, n, 1 - np.asarray(share, dtype=np.float64))


def _at_most(hits: Ints, n: Ints, p: Floats) -> Floats:
    """The same for 0 <= hits < n and 0 < p < 1: the incomplete beta function at 1 - p with n - hits and hits + 1."""
    if len(hits) == 0:
        return np.empty(0)
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, int(n.max()) + 1)))))
    a, b, x = (n - hits).astype(np.float64), hits + 1.0, 1 - p
    front = np.exp(logs[n] - logs[n - hits - 1] - logs[hits] + a * np.log(x) + b * np.log(p))
    swap = x > (a + 1) / (a + b + 2)
    first, second = np.where(swap, b, a), np.where(swap, a, b)
    tail = front / first / _continued_fraction(np.where(swap, p, x), first, second)
    return np.where(swap, 1 - tail, tail)


def _continued_fraction(x: Floats, a: Floats, b: Floats) -> Floats:
    """The continued fraction by the modified Lentz method; those that have converged are left alone."""
    values, places = np.ones(len(x)), np.arange(len(x))
    value, c, d = np.ones(len(x)), np.ones(len(x)), np.zeros(len(x))
    for m in range(200 + 10 * math.isqrt(math.ceil(max(a.max(), b.max())))):
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        even = (m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2))
        for term in (odd, even):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value = value * c * d
        going = np.abs(c * d - 1) >= PRECISION
        values[places] = value
        if not going.any():
            break
        if going.mean() < 0.7:  # copies cost more than a few steps too many
            places = places[going]
            value, c, d, x, a, b = np.stack((value, c, d, x, a, b))[:, going]
    return values


def _away_from_zero(values: Floats) -> Floats:
    return np.where(np.abs(values) > TINY, values, TINY)
