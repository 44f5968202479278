"""How much estimated shares of classes move with each row, to first order (infinitesimal jackknife).

The most likely shares s solve mean over new rows of u = 1 for every class with s > 0, where u of a row and class is its
ratio divided by sum of s * ratios of the row. So a change of the mean of u by d moves s by A⁻¹ d, where A is the mean
of the products of u of two classes. New rows change the mean of u directly. Labelled rows change it through the biases
and the scale of the recalibration and through the shares among labelled rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ALMOST_NONE = 0.01
"""Classes with fewer expected new rows than this have no standard error of this kind."""
STABLE = 1e-10


@dataclass(frozen=True)
class Moves:
    """How much rows move the factors: labelled rows (n, K), new rows (m, K)."""

    labelled: Floats
    new: Floats

    @property
    def errors(self) -> Floats:
        """Standard errors (K,)."""
        return np.sqrt(np.square(self.labelled).sum(axis=0) + np.square(self.new).sum(axis=0))

    def minus(self, other: Moves) -> Moves:
        """Return how much rows move the difference of two estimates."""
        return Moves(self.labelled - other.labelled, self.new - other.new)


def moves_of_factors(ratios: Floats, shares: Floats, logs: Floats, fit: Floats, counted: Floats) -> Moves:
    """Return how much rows move factors, the ``shares`` (K,) divided by those of labelled rows.

    ``ratios`` (m, K) are probabilities of new rows divided by shares of labelled rows, ``logs`` (m, K) their logarithms
    before recalibration. ``fit`` (n, K + 1) is how much labelled rows move scale and biases, ``counted`` (n, K) how
    much they move the logarithms of the shares of labelled rows.
    """
    m = len(ratios)
    kept = shares * m > ALMOST_NONE
    units = ratios / (ratios @ shares)[:, np.newaxis]
    own = units[:, kept]
    products = own.T @ units / m
    inner = products[:, kept]
    inverse = np.linalg.inv(inner + STABLE * np.trace(inner) * np.eye(len(inner)))
    by_bias = -products * shares
    by_bias[np.arange(len(own.T)), np.flatnonzero(kept)] += own.mean(axis=0)
    means = np.einsum("ij,ij->i", units * shares, logs)
    by_scale = np.einsum("ij,ij->j", own, logs[:, kept] - means[:, np.newaxis]) / m
    change = (fit[:, 1:] - counted) @ by_bias.T + fit[:, :1] * by_scale
    labelled, new = np.zeros((len(fit), len(shares))), np.zeros(ratios.shape)
    labelled[:, kept] = change @ inverse
    new[:, kept] = (own - own.mean(axis=0)) @ inverse / m
    return Moves(labelled, new)
