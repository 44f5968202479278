"""TorchCP: SplitPredictor on a float32 tensor, its documented way around a model.

STUBS, for measuring only: TorchCP imports everything it can do at once, and torchsort (one loss) does not build here,
while its parts for graphs and language models want packages of their own. Empty modules stand in for those; nothing
that is timed touches them.
"""

import sys
import warnings
from functools import partial
from types import ModuleType

import torch

from peers import ALPHA, FREE_RANKS, PENALTY
from peers.tensors import Data, load, mean_size

for name in ("torchsort", "torchcp.graph", "torchcp.llm"):
    sys.modules[name] = ModuleType(name)
sys.modules["torchsort"].soft_rank = sys.modules["torchsort"].soft_sort = None  # type: ignore[attr-defined]

from torchcp.classification.predictor import SplitPredictor  # noqa: E402
from torchcp.classification.score import APS, LAC, RAPS  # noqa: E402

warnings.filterwarnings("ignore", message=".*temperature.*")

__all__ = ["PACKAGES", "SCORES", "calibrate", "load", "mean_size", "p_values", "predict"]

PACKAGES = ("torchcp", "torch")
SCORES = {"APS": APS, "THR": LAC, "RAPS": partial(RAPS, penalty=PENALTY, kreg=FREE_RANKS)}


def calibrate(score: str, data: Data) -> SplitPredictor:
    score_function = SCORES[score](score_type="identity")
    predictor = SplitPredictor(score_function, model=torch.nn.Identity(), alpha=ALPHA, device="cpu")
    predictor.calculate_threshold(*data)
    return predictor


def predict(rule: SplitPredictor, data: Data) -> torch.Tensor:
    return rule.predict_with_logits(data[0])


def p_values(rule: SplitPredictor, data: Data) -> torch.Tensor:
    return rule.predict_p(data[0])
