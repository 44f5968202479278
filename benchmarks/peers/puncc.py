"""puncc: its APS and LAC around IdPredictor, made for predictions that are there already."""

from functools import partial

import numpy as np
from deel.puncc.api.prediction import IdPredictor
from deel.puncc.classification import APS, LAC, RAPS
from numpy.typing import NDArray

from peers import ALPHA, FREE_RANKS, PENALTY

Data = tuple[NDArray[np.float32], NDArray[np.int64]]

PACKAGES = ("puncc", "numpy")
SCORES = {"APS": APS, "THR": LAC, "RAPS": partial(RAPS, lambd=PENALTY, k_reg=FREE_RANKS)}


def load(probs: NDArray[np.float32], labels: NDArray[np.int64]) -> Data:
    return probs, labels


def calibrate(score: str, data: Data) -> APS | LAC | RAPS:
    probs, labels = data
    rule = SCORES[score](IdPredictor(), train=False)
    rule.fit(X_calib=probs, y_calib=labels)
    return rule


def predict(rule: APS | LAC | RAPS, data: Data) -> list[list[int]]:
    return rule.predict(data[0], alpha=ALPHA)[1]


def mean_size(sets: list[list[int]]) -> float:
    return float(np.mean([len(labels) for labels in sets]))
