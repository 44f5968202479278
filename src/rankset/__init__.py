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
engines, torch                         modules: Dask, Spark and folders of files; PyTorch
datasets, paper, report                modules: data to try; the experiments of the paper; a page of results
"""

# ruff: noqa: E402 - an interruption while the rest is imported must end the command line quietly

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankset.cli import handle_signals_while_importing as _handle_signals

_handle_signals()

from rankset.conditions import Condition, Marginal, PerGroup, PerLabel, PerLabelAndGroup
from rankset.core.cells import Cells
from rankset.errors import RanksetError, RanksetWarning
from rankset.evaluation.metrics import Evaluation, evaluate
from rankset.inputs.probabilities import frequencies, softmax
from rankset.inputs.ragged import Ragged
from rankset.rules.rule import Rule, calibrate, load
from rankset.rules.summaries import CoverageBand, Estimate, RankProfile
from rankset.scores import Aps, Margin, Rank, Raps, Reach, Saps, Score, Thr, TieBreak, TopK
from rankset.sets import PredictionSets

__version__ = "0.1.0"

__all__ = [
    "Aps",
    "Cells",
    "Condition",
    "CoverageBand",
    "Estimate",
    "Evaluation",
    "Margin",
    "Marginal",
    "PerGroup",
    "PerLabel",
    "PerLabelAndGroup",
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

if TYPE_CHECKING:
    from rankset import datasets as datasets
    from rankset import engines as engines
    from rankset import paper as paper
    from rankset import report as report
    from rankset.evaluation.auto import auto as auto
    from rankset.evaluation.comparison import (
        Comparison as Comparison,
    )
    from rankset.evaluation.comparison import (
        choose as choose,
    )
    from rankset.evaluation.comparison import (
        compare as compare,
    )
    from rankset.evaluation.comparison import (
        grid as grid,
    )
    from rankset.integrations import torch as torch
    from rankset.integrations.matplotlib import (
        ClassCoverageDisplay as ClassCoverageDisplay,
    )
    from rankset.integrations.matplotlib import (
        CoverageDisplay as CoverageDisplay,
    )
    from rankset.integrations.matplotlib import (
        RankDisplay as RankDisplay,
    )
    from rankset.integrations.matplotlib import (
        SizeDisplay as SizeDisplay,
    )
    from rankset.integrations.matplotlib import (
        SizeHistogramDisplay as SizeHistogramDisplay,
    )
    from rankset.integrations.sklearn.choice import Choice as Choice
    from rankset.integrations.sklearn.classifier import (
        ConformalClassifier as ConformalClassifier,
    )
    from rankset.integrations.sklearn.classifier import (
        Coverage as Coverage,
    )
    from rankset.integrations.sklearn.classifier import (
        SetSize as SetSize,
    )
    from rankset.integrations.sklearn.cross_rule import CrossRule as CrossRule
    from rankset.integrations.sklearn.splits import (
        CrossConformal as CrossConformal,
    )
    from rankset.integrations.sklearn.splits import (
        GivenSplit as GivenSplit,
    )
    from rankset.integrations.sklearn.splits import (
        Holdout as Holdout,
    )
    from rankset.rules.level_rule import LevelRule as LevelRule
    from rankset.scores import Average as Average
    from rankset.scores import Chosen as Chosen
    from rankset.scores import Seen as Seen
    from rankset.scores.fitted import Recalibrated as Recalibrated
    from rankset.scores.fitted import Temperature as Temperature

MODULES_ON_DEMAND = {
    "datasets": "rankset.datasets",
    "engines": "rankset.engines",
    "paper": "rankset.paper",
    "report": "rankset.report",
    "torch": "rankset.integrations.torch",
}
NAMES_ON_DEMAND = {
    "Average": "scores",
    "Choice": "integrations.sklearn.choice",
    "Chosen": "scores",
    "ClassCoverageDisplay": "integrations.matplotlib",
    "Comparison": "evaluation.comparison",
    "ConformalClassifier": "integrations.sklearn.classifier",
    "Coverage": "integrations.sklearn.classifier",
    "CoverageDisplay": "integrations.matplotlib",
    "CrossConformal": "integrations.sklearn.splits",
    "CrossRule": "integrations.sklearn.cross_rule",
    "GivenSplit": "integrations.sklearn.splits",
    "Holdout": "integrations.sklearn.splits",
    "LevelRule": "rules.level_rule",
    "RankDisplay": "integrations.matplotlib",
    "Recalibrated": "scores.fitted",
    "Seen": "scores",
    "SetSize": "integrations.sklearn.classifier",
    "SizeDisplay": "integrations.matplotlib",
    "SizeHistogramDisplay": "integrations.matplotlib",
    "Temperature": "scores.fitted",
    "auto": "evaluation.auto",
    "choose": "evaluation.comparison",
    "compare": "evaluation.comparison",
    "grid": "evaluation.comparison",
}
"""Imported at first use: what needs scikit-learn, matplotlib or torch, and what compares scores."""


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name in MODULES_ON_DEMAND:
        return import_module(MODULES_ON_DEMAND[name])
    if name in NAMES_ON_DEMAND:
        return getattr(import_module(f"rankset.{NAMES_ON_DEMAND[name]}"), name)
    raise AttributeError(f"module 'rankset' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *MODULES_ON_DEMAND, *NAMES_ON_DEMAND, "__version__"])
