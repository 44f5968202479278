"""Probabilities with a temperature and a bias for every class, fitted on labelled rows.

Shares of classes are estimated from probabilities, and these must be right on average for every class: a temperature
alone is not enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankset.scores.recalibration.logarithms import normalise

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PENALTY = 1.0
"""Penalty of the square of a bias, and of the distance of the scale from 1, halved."""
MOST_STEPS = 50
MOST_HALVINGS = 20
SMALL_STEP = 1e-8


@dataclass(frozen=True)
class Biases:
    """Probabilities to the power ``scale``, times exp(bias) of the class, divided by the sum of the row."""

    scale: float
    biases: Floats

    @classmethod
    def fit_logs(cls, logs: Floats, columns: Ints) -> Biases:
        """Fit both by Newton's method to logarithms of probabilities (n, K) and the columns of the labels."""
        found = cls(1.0, np.zeros(logs.shape[1]))
        value = found._value(logs, columns)
        for _ in range(MOST_STEPS):
            slope = found.slopes(logs, columns).sum(axis=0) - found._pull()
            step = found._solved(logs, slope)
            for _ in range(MOST_HALVINGS):
                tried = cls(max(0.02, found.scale + float(step[0])), found.biases + step[1:])
                new = tried._value(logs, columns)
                if new >= value:
                    break
                step /= 2
            else:
                return found
            found, value = tried, new
            if np.abs(step).max() < SMALL_STEP:
                break
        return found

    def probabilities(self, logs: Floats) -> Floats:
        """Return recalibrated probabilities (n, K) of logarithms of probabilities."""
        return np.exp(normalise(self.scale * logs + self.biases))

    def slopes(self, logs: Floats, columns: Ints) -> Floats:
        """Return how the log-likelihood of each row grows with the scale and the biases (n, K + 1)."""
        probs, rows = self.probabilities(logs), np.arange(len(logs))
        answer = np.empty((len(logs), 1 + logs.shape[1]))
        answer[:, 0] = logs[rows, columns] - np.einsum("ij,ij->i", probs, logs)
        answer[:, 1:] = -probs
        answer[rows, 1 + columns] += 1
        return answer

    def moves(self, logs: Floats, columns: Ints) -> Floats:
        """Return how much each row moves the fit, scale first (n, K + 1)."""
        return self._solved(logs, self.slopes(logs, columns).T).T

    def _solved(self, logs: Floats, slopes: Floats) -> Floats:
        """Return the inverse of the matrix of second derivatives, times ``slopes``."""
        probs = self.probabilities(logs)
        centred = logs - np.einsum("ij,ij->i", probs, logs)[:, np.newaxis]
        second = np.empty((1 + logs.shape[1],) * 2)
        second[1:, 1:] = np.diag(probs.sum(axis=0)) - probs.T @ probs
        second[0, 1:] = second[1:, 0] = np.einsum("ij,ij->j", probs, centred)
        second[0, 0] = np.einsum("ij,ij,ij->", probs, centred, centred)
        second[np.diag_indices_from(second)] += PENALTY
        return np.linalg.solve(second, slopes).astype(np.float64, copy=False)

    def _pull(self) -> Floats:
        """Return the slope of the penalty."""
        return PENALTY * np.concatenate(([self.scale - 1], self.biases))

    def _value(self, logs: Floats, columns: Ints) -> float:
        """Return the penalised log-likelihood."""
        own = normalise(self.scale * logs + self.biases)[np.arange(len(logs)), columns]
        return float(own.sum() - 0.5 * PENALTY * ((self.scale - 1) ** 2 + np.square(self.biases).sum()))
