"""Fit of what the logits of all labels say about each label: a matrix W with a ridge penalty, where it pays."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankset.scores.label_dependence.exact_products import on_grid, product
from rankset.scores.label_dependence.fit_shared import fit_shared, sigmoid, weighted_logits

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

RIDGES = (300.0, 150.0, 75.0, 30.0, 10.0, 3.0)
"""Candidates for the penalty of squared entries of W."""
INTERCEPT_PENALTY = 10.0
"""Penalty of squared changes of the intercepts of labels."""
ENOUGH_GAIN = 2.0
"""W is used if it increases the log-likelihood of other rows by this many standard errors."""
FOLDS = 4
NEWTON_STEPS = 12
CONJUGATE_STEPS = 6
LEAST_CHANGE = 0.02
"""A fit ends when no entry changes by more than this."""
WORSE = 2
"""Smaller ridges are not tried after this number of them have decreased the likelihood."""


@dataclass(frozen=True)
class Rows:
    """Rows to fit on: standardised logits with a column of ones (n, K + 1), the other logits (n, K), and truths."""

    inputs: Floats
    offsets: Floats
    truths: Bools

    def rows(self, rows: Bools) -> Rows:
        """Return some of the rows."""
        return Rows(self.inputs[rows], self.offsets[rows], self.truths[rows])

    def logits(self, matrix: Floats) -> Floats:
        """Return the logits (n, K) with a matrix (K + 1, K)."""
        return self.offsets + product(self.inputs, matrix)

    def log_likelihood(self, matrix: Floats) -> Floats:
        """Return the log-likelihood of the truths of every row (n,)."""
        logits = self.logits(matrix)
        signed = np.where(self.truths, logits, -logits)
        return (np.minimum(signed, 0.0) - np.log1p(np.exp(-np.abs(signed)))).sum(axis=1)


def with_ones(inputs: Floats) -> Floats:
    """Return inputs with a column of ones."""
    return np.concatenate((inputs, np.ones((len(inputs), 1))), axis=1)


def fit_cross(rows: Rows, ridge: float, start: Floats | None = None) -> Floats:
    """Return the matrix (K + 1, K) of the largest penalised likelihood; its last row holds intercepts."""
    n_columns = rows.truths.shape[1]
    penalties = np.full((n_columns + 1, 1), ridge)
    penalties[-1] = INTERCEPT_PENALTY
    matrix = np.zeros((n_columns + 1, n_columns)) if start is None else start
    transposed = np.ascontiguousarray(rows.inputs.T)
    for _ in range(NEWTON_STEPS):
        probs = sigmoid(rows.logits(matrix))
        slope = product(transposed, rows.truths - probs) - penalties * matrix
        step = _conjugate_gradients(rows.inputs, transposed, probs * (1 - probs), penalties, slope)
        largest = np.abs(step).max()
        matrix = matrix + step * min(1.0, 1.0 / max(largest, LEAST_CHANGE))
        if largest < LEAST_CHANGE:
            break
    return matrix


def _conjugate_gradients(
    inputs: Floats, transposed: Floats, curvatures: Floats, penalties: Floats, slope: Floats
) -> Floats:
    """Return the solutions (K + 1, K) of the Newton equations of all labels, by conjugate gradients."""
    diagonal = product(np.ascontiguousarray(on_grid(transposed**2)), curvatures) + penalties
    step, rest = np.zeros_like(slope), slope.copy()
    scaled = rest / diagonal
    direction, size = scaled, (rest * scaled).sum(axis=0)
    for _ in range(CONJUGATE_STEPS):
        moved = product(transposed, curvatures * product(inputs, direction)) + penalties * direction
        lengths = (direction * moved).sum(axis=0)
        pace = np.where(lengths > 0, size / np.where(lengths > 0, lengths, 1.0), 0.0)
        step = step + pace * direction
        rest = rest - pace * moved
        scaled = rest / diagonal
        before, size = size, (rest * scaled).sum(axis=0)
        direction = scaled + np.where(before > 0, size / np.where(before > 0, before, 1.0), 0.0) * direction
    return step


def best_ridge(features: Floats, inputs: Floats, truths: Bools) -> float:
    """Return the ridge with the largest likelihood of rows that were not fitted on; inf if no W clearly increases it.

    ``features`` are those of ``row_features``, ``inputs`` (n, K + 1) standardised logits with a column of ones. Every
    fourth row is in the same fold.
    """
    folds = np.arange(len(truths)) % FOLDS
    trials = [_Fold.of(features, inputs, truths, folds != number, folds == number) for number in range(FOLDS)]
    best, most, worse, last = math.inf, 0.0, 0, -math.inf
    for ridge in RIDGES:
        gain = np.concatenate([trial.gain(ridge) for trial in trials])
        total = gain.sum()
        if total > most and total > ENOUGH_GAIN * math.sqrt(np.square(gain).sum()):
            best, most = ridge, total
        worse, last = worse + (total <= last), total
        if worse == WORSE:
            break
    return best


@dataclass
class _Fold:
    """Rows to fit on, rows to judge on with their log-likelihood without W, and the last fit."""

    known: Rows
    new: Rows
    plain: Floats
    matrix: Floats | None = None

    @classmethod
    def of(cls, features: Floats, inputs: Floats, truths: Bools, fit: Bools, check: Bools) -> _Fold:
        """Return a fold: weights and intercepts are fitted on the rows ``fit``, too."""
        weights, intercepts = fit_shared(features[:, fit], truths[fit])
        everything = Rows(inputs, weighted_logits(features, weights, intercepts), truths)
        new = everything.rows(check)
        return cls(everything.rows(fit), new, new.log_likelihood(np.zeros((inputs.shape[1], truths.shape[1]))))

    def gain(self, ridge: float) -> Floats:
        """Return by how much W increases the log-likelihood of every row to judge on (n,)."""
        self.matrix = fit_cross(self.known, ridge, self.matrix)
        return self.new.log_likelihood(self.matrix) - self.plain
