"""rankset, by arrays; RANKSET_PLAIN=1 in the worker's variables keeps it from compiling.

Otherwise compiled code is loaded before anything is measured, if rankset has a function for that.
"""

import hashlib
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rankset as rs
from peers import ALPHA, FREE_RANKS, PENALTY
from rankset.core import kernels

Data = tuple[NDArray[np.float32], NDArray[np.int64]]

PACKAGES = ("rankset", "numpy", "numba")
SCORES: dict[str, Any] = {
    "RANK": rs.Rank(),
    "APS": rs.Aps(),
    "THR": rs.Thr(),
    "RAPS": rs.Raps(PENALTY, FREE_RANKS),
    "auto": "auto",
}


def warm_up() -> float | None:
    """Load compiled code, and return the seconds that takes; None if there is nothing to load."""
    function: Callable[[], object] | None = getattr(rs, "warm_up", None)
    if function is None or os.environ.get("RANKSET_PLAIN") == "1":
        return None
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


WARM_UP = warm_up()


def load(probs: NDArray[np.float32], labels: NDArray[np.int64]) -> Data:
    return probs, labels


def calibrate(score: str, data: Data) -> rs.Rule:
    return rs.auto(*data, alpha=ALPHA) if score == "auto" else rs.calibrate(*data, method=SCORES[score])


def predict(rule: rs.Rule, data: Data) -> rs.PredictionSets:
    return rule.predict(data[0], alpha=ALPHA)


def mask(rule: rs.Rule, data: Data) -> NDArray[np.bool_]:
    """Sets as the matrix most other libraries answer with."""
    return predict(rule, data).mask


def p_values(rule: rs.Rule, data: Data) -> NDArray[np.float64]:
    return rule.p_values(data[0])


def ways(rule: rs.Rule, data: Data) -> dict[str, Callable[[], object]]:
    """How a service may ask for one row: a question made beforehand, its labels as well, or everything in one call."""
    row = data[0]
    ask: Any = rule.at(ALPHA)
    call = ask if callable(ask) else ask.predict
    return {"asked": lambda: call(row), "labels": lambda: call(row)[0], "predict": lambda: rule.predict(row, ALPHA)}


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
