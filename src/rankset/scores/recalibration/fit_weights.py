"""Fit of the feature weights in ``Recalibrated``, by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankset.scores.recalibration.features import Features
from rankset.scores.recalibration.row_blocks import fill_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PRIOR = np.array([1.0, 0, 0, 0, 0, 0, 0])
"""Weights that change nothing; the centre of the normal prior."""
MOST_STEPS = 30
MOST_HALVINGS = 20
LEAST_GAIN = 1e-4
"""The fit ends when a step increases the log-likelihood by less."""


@dataclass(frozen=True)
class Likelihood:
    """Penalised log-likelihood of weights, given features of rows and the columns of their labels.

    ``plain`` (n, 4, K): the features without those that are multiplied by the entropy. ``own`` (n, 4): those of the
    labels. ``entropy`` (n,): the centred entropy of each row.
    """

    plain: Floats
    own: Floats
    entropy: Floats
    columns: Ints

    @classmethod
    def of(cls, features: Features, columns: Ints) -> Likelihood:
        """Return the likelihood for labels in ``columns``."""
        plain = features.stacked()
        return cls(plain, plain[np.arange(len(columns)), :, columns], features.entropy, columns)

    def at(self, weights: Floats, factors: Floats) -> tuple[float, Floats]:
        """Return the penalised log-likelihood of weights, and the Newton step, given the class factors (K,)."""
        n_rows, _, n_columns = self.plain.shape
        by_plain = weights[:4] + self.entropy[:, np.newaxis] * np.append(weights[4:], 0)
        logs, means, products = np.empty(n_rows), np.empty((n_rows, 4)), np.empty((n_rows, 4, 4))

        def fill(part: slice) -> None:
            plain = self.plain[part]
            probs = (by_plain[part, np.newaxis] @ plain)[:, 0] + factors
            probs -= probs.max(axis=1, keepdims=True)
            own = probs[np.arange(len(probs)), self.columns[part]]
            np.exp(probs, out=probs)
            totals = probs.sum(axis=1, keepdims=True)
            probs /= totals
            logs[part] = own - np.log(totals[:, 0])
            weighted = plain * probs[:, np.newaxis]
            np.einsum("nfk->nf", weighted, out=means[part])
            np.matmul(weighted, plain.transpose(0, 2, 1), out=products[part])

        fill_rows(fill, n_rows, 4 * n_columns)
        away = weights - PRIOR
        return float(logs.sum() - np.square(away).sum() / 2), self._newton_step(away, means, products)

    def _newton_step(self, away: Floats, means: Floats, products: Floats) -> Floats:
        """Return the Newton step, from the means (n, 4) and mean products (n, 4, 4) of the plain features."""
        slope = self._all(self.own - means).sum(axis=0) - away
        powers = self.entropy ** np.arange(3)[:, np.newaxis]
        once, by_entropy, by_square = (powers @ products.reshape(-1, 16)).reshape(3, 4, 4)
        curve = np.block([[once, by_entropy[:, :3]], [by_entropy[:3], by_square[:3, :3]]])
        every = self._all(means)
        return np.linalg.solve(curve - every.T @ every + np.eye(len(away)), slope)

    def _all(self, plain: Floats) -> Floats:
        """Return numbers for all features (n, 7), from those for the plain ones (n, 4)."""
        return np.concatenate((plain, plain[:, :3] * self.entropy[:, np.newaxis]), axis=1)


def fit_weights(likelihood: Likelihood, factors: Floats, start: Floats) -> Floats:
    """Return the most likely weights for given class factors, by Newton's method with step halving."""
    weights = start
    best, step = likelihood.at(weights, factors)
    for _ in range(MOST_STEPS):
        for _halving in range(MOST_HALVINGS):
            found, next_step = likelihood.at(weights + step, factors)
            if found >= best:
                break
            step = step / 2
        else:
            break
        gain, weights, best, step = found - best, weights + step, found, next_step
        if gain < LEAST_GAIN:
            break
    return weights
