"""rankset, by arrays; RANKSET_PLAIN=1 in the worker's variables keeps it from compiling."""

import hashlib

import numpy as np
from numpy.typing import NDArray

import rankset as rs
from peers import ALPHA
from rankset.core import kernels

Data = tuple[NDArray[np.float32], NDArray[np.int64]]

PACKAGES = ("rankset", "numpy", "numba")
SCORES: dict[str, rs.Score] = {"RANK": rs.Rank(), "APS": rs.Aps(), "THR": rs.Thr()}


def load(probs: NDArray[np.float32], labels: NDArray[np.int64]) -> Data:
    return probs, labels


def calibrate(score: str, data: Data) -> rs.Rule:
    return rs.calibrate(*data, method=SCORES[score])


def predict(rule: rs.Rule, data: Data) -> rs.PredictionSets:
    return rule.predict(data[0], alpha=ALPHA)


def mask(rule: rs.Rule, data: Data) -> NDArray[np.bool_]:
    """Sets as the matrix most other libraries answer with."""
    return predict(rule, data).mask


def mean_size(sets: rs.PredictionSets) -> float:
    return float(sets.sizes.mean())


def compiled(data: Data) -> bool:
    """Whether rows like these take the compiled path in this process."""
    return kernels.choose(*data[0].shape) is not None


def digest(rule: rs.Rule, data: Data) -> str:
    """A hash of calibration keys, sets at several levels and some p-values: equal only if all bits are."""
    found = hashlib.sha256(b"".join(key.tobytes() for key in rule.calibration.keys))
    for alpha in (0.01, ALPHA, 0.5):
        sets = rule.predict(data[0], alpha=alpha)
        found.update(sets.offsets.tobytes() + sets.codes.tobytes())
    found.update(rule.p_values(data[0][:50]).tobytes())
    return found.hexdigest()
