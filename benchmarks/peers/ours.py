"""rankset, by arrays; RANKSET_PLAIN=1 in the worker's variables keeps it from compiling."""

import hashlib

import numpy as np
from numpy.typing import NDArray

import rankset as rs
from peers import ALPHA

Data = tuple[NDArray[np.float32], NDArray[np.int64]]

PACKAGES = ("rankset", "numpy", "numba")
SCORES: dict[str, rs.Score] = {"RANK": rs.Rank(), "APS": rs.Aps(), "THR": rs.Thr()}


def load(probs: NDArray[np.float32], labels: NDArray[np.int64]) -> Data:
    return probs, labels


def calibrate(score: str, data: Data) -> rs.Rule:
    return rs.calibrate(*data, score=SCORES[score])


def predict(rule: rs.Rule, data: Data) -> rs.PredictionSets:
    return rule.predict(data[0], alpha=ALPHA)


def mask(rule: rs.Rule, data: Data) -> NDArray[np.bool_]:
    """Sets as the matrix most other libraries answer with."""
    return predict(rule, data).mask


def mean_size(sets: rs.PredictionSets) -> float:
    return float(sets.sizes.mean())


def digest(rule: rs.Rule, data: Data) -> str:
    """A hash of sets at several levels and of some p-values: equal for two paths only if the bits are."""
    found = hashlib.sha256()
    for alpha in (0.01, ALPHA, 0.5):
        sets = rule.predict(data[0], alpha=alpha)
        found.update(sets.offsets.tobytes() + sets.codes.tobytes())
    found.update(rule.p_values(data[0][:50]).tobytes())
    return found.hexdigest()
