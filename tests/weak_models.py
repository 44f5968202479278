"""Models that know little but how common classes are, and data for them: where a wrong split shows."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Frequencies(ClassifierMixin, BaseEstimator):
    """The shares of the classes in training, plus a little noise made from the row."""

    def __init__(self, noise=0.01):
        self.noise = noise

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict_proba(self, X):
        rows = np.asarray(X, dtype=float)[:, :1]
        drawn = np.abs(np.sin(1e4 * (rows + 1) * (1 + np.arange(len(self.classes_)))))
        mixed = self.shares_ + self.noise * drawn
        return mixed / mixed.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def blobs(rng, n, n_classes, apart=1.0, n_features=5):
    """Rows of equally common classes around centres that lie ``apart`` from each other, and their classes."""
    centres = np.random.default_rng(n_classes).normal(size=(n_classes, n_features))
    labels = rng.integers(0, n_classes, n)
    return apart * centres[labels] + rng.normal(size=(n, n_features)), labels
