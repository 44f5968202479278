"""No library: the largest entry of the matrix, by one thread per core. Nothing that looks at every entry is faster."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

Data = NDArray[np.float32]

PACKAGES = ("numpy",)
SCORES = ("read",)
THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
POOL = ThreadPoolExecutor(THREADS)


def load(probs: NDArray[np.float32], labels: NDArray[np.int64]) -> Data:  # noqa: ARG001
    return probs


def calibrate(score: str, data: Data) -> float:  # noqa: ARG001
    return float(max(POOL.map(np.max, np.array_split(data.reshape(-1), THREADS))))


def predict(rule: float, data: Data) -> float:  # noqa: ARG001
    return rule


def mean_size(sets: float) -> float:  # noqa: ARG001
    return float("nan")
