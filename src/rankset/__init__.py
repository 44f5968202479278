"""Prediction sets with a finite-sample guarantee, from any classifier's scores.

rule = rankset.calibrate(probs, labels)        # rows the model has not seen
sets = rule.predict(new_probs, alpha=0.1)      # each contains its label with probability at least 0.9

Besides the names below there are, imported when first used:

auto                                   fits and chooses a score on some rows, calibrates on the others
compare, Comparison                    scores on the same random halves, as a table
choose, grid                           the best of several scores; scores for all combinations of parameters
Temperature, Recalibrated              scores on probabilities that were recalibrated first
Average, Seen, Chosen                  scores made of other scores
ConformalClassifier                    a scikit-learn classifier that trains, calibrates and predicts sets
Holdout, CrossConformal, GivenSplit    how it shares rows between training and calibration
Choice                                 lets it choose among scores, on rows of their own
Coverage, SetSize                      scorers for it
LevelRule, CrossRule                   a rule at one level; the rules of several folds as one
CoverageDisplay, ClassCoverageDisplay, RankDisplay, SizeDisplay, SizeHistogramDisplay    pictures, with matplotlib
engines, paper, report, torch          modules: Dask, Spark and folders; the paper; a page of results; PyTorch
"""

# ruff: noqa: E402 - an interruption while the rest is imported must end the command line quietly

from importlib import import_module
from typing import Any

from rankset.cli import starting as _starting

_starting()

from rankset.answers import CoverageBand, Estimate, RankProfile
from rankset.cells import Cells
from rankset.conditions import Condition, Cross, Marginal, PerLabel, PerRow
from rankset.conformal import Rule, calibrate, load
from rankset.errors import RanksetError, RanksetWarning
from rankset.metrics import Evaluation, evaluate
from rankset.probabilities import frequencies, softmax
from rankset.ragged import Ragged
from rankset.scores import Aps, Margin, Rank, Raps, Reach, Saps, Score, Thr, TieBreak, TopK
from rankset.sets import PredictionSets

__version__ = "0.1.0"

__all__ = [
    "Aps",
    "Cells",
    "Condition",
    "CoverageBand",
    "Cross",
    "Estimate",
    "Evaluation",
    "Margin",
    "Marginal",
    "PerLabel",
    "PerRow",
    "PredictionSets",
    "Ragged",
    "Rank",
    "RankProfile",
    "RanksetError",
    "RanksetWarning",
    "Raps",
    "Reach",
    "Rule",
    "Saps",
    "Score",
    "Thr",
    "TieBreak",
    "TopK",
    "calibrate",
    "evaluate",
    "frequencies",
    "load",
    "softmax",
]

OPTIONAL_ROOMS = ("engines", "paper", "report", "torch")
OPTIONAL_NAMES = {
    "Average": "scores",
    "Choice": "choice",
    "Chosen": "scores",
    "ClassCoverageDisplay": "displays",
    "Comparison": "choosing",
    "ConformalClassifier": "estimator",
    "Coverage": "estimator",
    "CoverageDisplay": "displays",
    "CrossConformal": "splits",
    "CrossRule": "cross",
    "GivenSplit": "splits",
    "Holdout": "splits",
    "LevelRule": "prediction",
    "RankDisplay": "displays",
    "Recalibrated": "recalibration",
    "Seen": "scores",
    "SetSize": "estimator",
    "SizeDisplay": "displays",
    "SizeHistogramDisplay": "displays",
    "Temperature": "recalibration",
    "auto": "automatic",
    "choose": "choosing",
    "compare": "choosing",
    "grid": "choosing",
}
"""Brought in when asked for: what scikit-learn and matplotlib need, and what chooses scores."""


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name in OPTIONAL_ROOMS:
        return import_module(f"rankset.{name}")
    if name in OPTIONAL_NAMES:
        return getattr(import_module(f"rankset.{OPTIONAL_NAMES[name]}"), name)
    raise AttributeError(f"module 'rankset' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *OPTIONAL_ROOMS, *OPTIONAL_NAMES, "__version__"])
