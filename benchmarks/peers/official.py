"""RANK the way its authors compute it, on torch: sort all classes of every row, score = rank minus probability.

Our own few lines after the paper's description, not a copy of the authors' code. A probability lies in [0, 1], so it
settles ties between equal ranks and nothing else.
"""

import math

import torch

from peers import ALPHA
from peers.tensors import Data, load, mean_size

__all__ = ["PACKAGES", "SCORES", "calibrate", "load", "mean_size", "predict"]

PACKAGES = ("torch",)
SCORES = ("RANK",)


def ranks(probs: torch.Tensor) -> torch.Tensor:
    """The rank of every label in its row, 1 the most likely."""
    order = torch.sort(probs, dim=1, descending=True).indices
    return torch.argsort(order, dim=1) + 1


def calibrate(score: str, data: Data) -> torch.Tensor:  # noqa: ARG001
    probs, labels = data
    column = labels[:, None]
    scores = (ranks(probs).gather(1, column) - probs.gather(1, column)).squeeze(1)
    k = math.ceil((len(scores) + 1) * (1 - ALPHA))
    return torch.kthvalue(scores, k).values if k <= len(scores) else torch.tensor(torch.inf)


def predict(rule: torch.Tensor, data: Data) -> torch.Tensor:
    probs, _ = data
    return ranks(probs) - probs <= rule
