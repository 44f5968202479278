"""MAPIE: SplitConformalClassifier around a fitted classifier that hands the matrix through, options as they come."""

import numpy as np
from mapie.classification import SplitConformalClassifier
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from peers import ALPHA

Data = tuple[NDArray[np.float32], NDArray[np.int64]]

PACKAGES = ("mapie", "scikit-learn", "numpy")
SCORES = {"APS": "aps", "THR": "lac", "RAPS": "raps"}
"""Its RAPS chooses the penalty itself, when it calibrates."""


class HandsThrough(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose features are the probabilities."""

    def __init__(self, n_classes: int = 2) -> None:
        self.n_classes = n_classes
        self.classes_ = np.arange(n_classes)
        self.n_features_in_ = n_classes
        self.is_fitted_ = True

    def fit(self, features: object, labels: object) -> "HandsThrough":  # noqa: ARG002
        return self

    def predict_proba(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        return features

    def predict(self, features: NDArray[np.float32]) -> NDArray[np.int64]:
        return features.argmax(axis=1)


def load(probs: NDArray[np.float32], labels: NDArray[np.int64]) -> Data:
    return probs, labels


def calibrate(score: str, data: Data) -> SplitConformalClassifier:
    model = SplitConformalClassifier(
        HandsThrough(data[0].shape[1]),
        confidence_level=1 - ALPHA,
        conformity_score=SCORES[score],
        prefit=True,
        random_state=0,
    )
    return model.conformalize(*data)


def predict(rule: SplitConformalClassifier, data: Data) -> NDArray[np.bool_]:
    return rule.predict_set(data[0])[1]


def mean_size(sets: NDArray[np.bool_]) -> float:
    return float(sets[:, :, 0].sum(axis=1).mean())
