"""TorchCP: SplitPredictor on a float32 tensor, its documented way around a model.

STUBS, for measuring only: TorchCP imports everything it can do at once, and torchsort (one loss) does not build here,
while its parts for graphs and language models want packages of their own. Empty modules stand in for those; nothing
that is timed touches them.
"""

import sys
import warnings
from types import ModuleType

import torch

from peers import ALPHA
from peers.tensors import Data, load, mean_size

for name in ("torchsort", "torchcp.graph", "torchcp.llm"):
    sys.modules[name] = ModuleType(name)
sys.modules["torchsort"].soft_rank = sys.modules["torchsort"].soft_sort = None  # type: ignore[attr-defined]

from torchcp.classification.predictor import SplitPredictor  # noqa: E402
from torchcp.classification.score import APS, LAC  # noqa: E402

warnings.filterwarnings("ignore", message=".*temperature.*")

__all__ = ["PACKAGES", "SCORES", "calibrate", "load", "mean_size", "predict"]

PACKAGES = ("torchcp", "torch")
SCORES = {"APS": APS, "THR": LAC}


def calibrate(score: str, data: Data) -> SplitPredictor:
    predictor = SplitPredictor(score_function=SCORES[score](score_type="identity"), alpha=ALPHA)
    predictor.calculate_threshold(*data)
    return predictor


def predict(rule: SplitPredictor, data: Data) -> torch.Tensor:
    return rule.predict_with_logits(data[0])
