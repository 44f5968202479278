"""Models that know little but how common classes are, and data for them: where a wrong split shows first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin


class Frequencies(ClassifierMixin, BaseEstimator):
    """The shares of the classes in training, plus a little noise made from the row."""

    def __init__(self, noise: float = 0.01) -> None:
        self.noise = noise

    def fit(self, X: Any, y: Any) -> Frequencies:
        """Counts the classes."""
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Nearly the same for all rows."""
        rows = np.asarray(X, dtype=float)[:, :1]
        drawn = np.abs(np.sin(1e4 * (rows + 1) * (1 + np.arange(len(self.classes_)))))
        mixed = self.shares_ + self.noise * drawn
        return mixed / mixed.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most common class, mostly."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def blobs(
    rng: np.random.Generator, n: int, n_classes: int, n_features: int = 5
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows of equally common classes, normal around centres that are normal themselves, and their classes."""
    centres = np.random.default_rng(n_classes).normal(size=(n_classes, n_features))
    labels = rng.integers(0, n_classes, n)
    return centres[labels] + rng.normal(size=(n, n_features)), labels
