"""crepes: its ConformalClassifier on arrays with hinge scores, without smoothing, its faster way."""

import numpy as np
from crepes import ConformalClassifier
from crepes.extras import hinge
from numpy.typing import NDArray

from peers import ALPHA

Data = tuple[NDArray[np.float32], NDArray[np.int64]]

PACKAGES = ("crepes", "numpy")
SCORES = ("THR",)


def load(probs: NDArray[np.float32], labels: NDArray[np.int64]) -> Data:
    return probs, labels


def calibrate(score: str, data: Data) -> ConformalClassifier:  # noqa: ARG001
    probs, labels = data
    return ConformalClassifier().fit(hinge(probs, np.arange(probs.shape[1]), labels))


def predict(rule: ConformalClassifier, data: Data) -> NDArray[np.int64]:
    return rule.predict_set(hinge(data[0]), confidence=1 - ALPHA, smoothing=False)


def p_values(rule: ConformalClassifier, data: Data) -> NDArray[np.float64]:
    return rule.predict_p(hinge(data[0]), smoothing=False)


def mean_size(sets: NDArray[np.int64]) -> float:
    return float(sets.sum(axis=1).mean())
