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
    """Penalised log-likelihood of weights, given features of rows and the columns of their labels."""

    features: Features
    columns: Ints

    def at(self, weights: Floats, factors: Floats) -> tuple[float, Floats]:
        """Return the penalised log-likelihood of weights, and the Newton step, given the class factors (K,)."""
        n_rows, n_columns = self.features.log.shape
        by_plain = weights[:4] + self.features.entropy[:, np.newaxis] * np.append(weights[4:], 0)
        logs, gaps, means, products = (np.empty((n_rows, *shape)) for shape in ((), (4,), (4,), (4, 4)))

        def fill(part: slice) -> None:
            plain = self.features.rows(part).stacked()
            rows, labels = np.arange(len(plain)), self.columns[part]
            probs = (by_plain[part, np.newaxis] @ plain)[:, 0] + factors
            probs -= probs.max(axis=1, keepdims=True)
            own = probs[rows, labels]
            np.exp(probs, out=probs)
            totals = probs.sum(axis=1, keepdims=True)
            probs /= totals
            logs[part] = own - np.log(totals[:, 0])
            weighted = plain * probs[:, np.newaxis]
            np.einsum("nfk->nf", weighted, out=means[part])
            gaps[part] = plain[rows, :, labels] - means[part]
            np.matmul(weighted, plain.transpose(0, 2, 1), out=products[part])

        fill_rows(fill, n_rows, 4 * n_columns)
        away = weights - PRIOR
        slope = self._all(gaps).sum(axis=0) - away
        return float(logs.sum() - np.square(away).sum() / 2), np.linalg.solve(self._curve(means, products), slope)

    def _curve(self, means: Floats, products: Floats) -> Floats:
        """Return minus the second derivative (7, 7), from means (n, 4) and mean products (n, 4, 4) of the features."""
        powers = self.features.entropy ** np.arange(3)[:, np.newaxis]
        once, by_entropy, by_square = (powers @ products.reshape(-1, 16)).reshape(3, 4, 4)
        curve = np.block([[once, by_entropy[:, :3]], [by_entropy[:3], by_square[:3, :3]]])
        every = self._all(means)
        return curve - every.T @ every + np.eye(len(PRIOR))

    def _all(self, plain: Floats) -> Floats:
        """Return numbers for all features (n, 7), from those for the plain ones (n, 4)."""
        return np.concatenate((plain, plain[:, :3] * self.features.entropy[:, np.newaxis]), axis=1)


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
