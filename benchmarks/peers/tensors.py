"""Tensors for the two peers on torch, and the number of threads that suits them."""

import statistics
import time

import numpy as np
import torch
from numpy.typing import NDArray

Data = tuple[torch.Tensor, torch.Tensor]

ALL_THREADS = torch.get_num_threads()
SAMPLE_CELLS = 2_000_000


def load(probs: NDArray[np.float32], labels: NDArray[np.int64]) -> Data:
    """The same memory as tensors; one thread or all of them, whichever sorts these rows sooner."""
    tensor = torch.from_numpy(probs)
    sample = tensor[: max(1, SAMPLE_CELLS // tensor.shape[1])]
    torch.set_num_threads(min((1, ALL_THREADS), key=lambda threads: _seconds(sample, threads)))
    return tensor, torch.from_numpy(labels)


def mean_size(sets: torch.Tensor) -> float:
    return float(sets.sum(dim=1, dtype=torch.float64).mean())


def _seconds(sample: torch.Tensor, threads: int) -> float:
    """The median of five sorts after one."""
    torch.set_num_threads(threads)
    found = []
    for _ in range(6):
        start = time.perf_counter()
        torch.sort(sample, dim=1, descending=True)
        found.append(time.perf_counter() - start)
    return statistics.median(found[1:])
