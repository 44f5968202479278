"""Prediction sets with a finite-sample guarantee, from the outputs of any classifier.

rule = rankset.calibrate(probs, labels)        # rows that were not used to train the model
sets = rule.predict(new_probs, alpha=0.1)      # each set contains the true label with probability at least 0.9

The following names are imported at first use:

auto                                   fits and chooses a score on some rows, and calibrates on the other rows
ABSENT                                 the label of a row whose true label is not among its candidates
normalise_answers                      answers in one spelling, without case, spaces and punctuation at the end
compare, Comparison, Comparisons       compares scores on the same random splits; the table of results, one per alpha
choose, grid                           the best of several scores; a score for each combination of parameters
Temperature, Recalibrated              scores that use recalibrated probabilities
Wording                                words and numbers for a score of your own that describes its thresholds
Average, Seen, Tempered, Chosen        scores that are built from other scores
ConformalClassifier                    a scikit-learn classifier that trains, calibrates and predicts sets
Holdout, CrossConformal, GivenSplit    options of ConformalClassifier: which rows are for training or calibration
Choice                                 option of ConformalClassifier: chooses one of several scores
Coverage, SetSize                      scikit-learn scorers for ConformalClassifier
LevelRule, CrossRule                   a rule with a fixed alpha; one rule made from the rules of several folds
CoverageDisplay, ClassCoverageDisplay, RankDisplay, SizeDisplay, SizeHistogramDisplay    figures, with matplotlib
engines, torch                         modules: Dask, Spark and folders of files; PyTorch
report, report_scores                  writes an HTML report of a rule, or of several scores
datasets, paper, reports               modules: example data; experiments of the RANK paper; the parts of a report
"""

# ruff: noqa: E402 - an interruption while the rest is imported must end the command line quietly

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankset.cli import handle_signals_while_importing as _handle_signals

_handle_signals()

from rankset.conditions import Condition, Marginal, PerGroup, PerLabel, PerLabelAndGroup
from rankset.core.cells import Cells
from rankset.errors import RanksetError, RanksetWarning
from rankset.evaluation.evaluate import evaluate
from rankset.evaluation.evaluation import Evaluation
from rankset.inputs.probabilities import frequencies, softmax
from rankset.inputs.ragged import Ragged
from rankset.rules.calibrate import calibrate, load
from rankset.rules.rule import Rule
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

MODULES_ON_DEMAND = {
    "datasets": "rankset.datasets",
    "engines": "rankset.engines",
    "paper": "rankset.paper",
    "reports": "rankset.reports",
    "torch": "rankset.integrations.torch",
}
NAMES_ON_DEMAND = {
    "ABSENT": "inputs.absent",
    "Average": "scores",
    "Choice": "integrations.sklearn.choice",
    "Chosen": "scores",
    "ClassCoverageDisplay": "integrations.matplotlib.class_coverage_display",
    "Comparison": "evaluation.comparison",
    "Comparisons": "evaluation.comparisons",
    "ConformalClassifier": "integrations.sklearn.classifier",
    "Coverage": "integrations.sklearn.scorers",
    "CoverageDisplay": "integrations.matplotlib.coverage_display",
    "CrossConformal": "integrations.sklearn.splits",
    "CrossRule": "integrations.sklearn.cross_rule",
    "GivenSplit": "integrations.sklearn.splits",
    "Holdout": "integrations.sklearn.splits",
    "LevelRule": "rules.level_rule",
    "RankDisplay": "integrations.matplotlib.rank_display",
    "Recalibrated": "scores",
    "Seen": "scores",
    "SetSize": "integrations.sklearn.scorers",
    "SizeDisplay": "integrations.matplotlib.size_display",
    "SizeHistogramDisplay": "integrations.matplotlib.size_histogram_display",
    "Temperature": "scores",
    "Wording": "scores",
    "Tempered": "scores",
    "auto": "evaluation.auto",
    "choose": "evaluation.choose",
    "compare": "evaluation.compare",
    "grid": "evaluation.choose",
    "normalise_answers": "inputs.normalise",
    "report": "reports",
    "report_scores": "reports",
}
"""Modules of the names that are imported at first use. Many of them need scikit-learn or matplotlib."""

if TYPE_CHECKING:  # the same names for editors and type checkers; tests/test_project.py compares the two lists
    from rankset import datasets as datasets, engines as engines, paper as paper, reports as reports
    from rankset.evaluation.auto import auto as auto
    from rankset.evaluation.choose import choose as choose, grid as grid
    from rankset.evaluation.compare import compare as compare
    from rankset.evaluation.comparison import Comparison as Comparison
    from rankset.inputs.absent import ABSENT as ABSENT
    from rankset.inputs.normalise import normalise_answers as normalise_answers
    from rankset.evaluation.comparisons import Comparisons as Comparisons
    from rankset.integrations import torch as torch
    from rankset.integrations.matplotlib.class_coverage_display import ClassCoverageDisplay as ClassCoverageDisplay
    from rankset.integrations.matplotlib.coverage_display import CoverageDisplay as CoverageDisplay
    from rankset.integrations.matplotlib.rank_display import RankDisplay as RankDisplay
    from rankset.integrations.matplotlib.size_display import SizeDisplay as SizeDisplay
    from rankset.integrations.matplotlib.size_histogram_display import SizeHistogramDisplay as SizeHistogramDisplay
    from rankset.integrations.sklearn.choice import Choice as Choice
    from rankset.integrations.sklearn.classifier import ConformalClassifier as ConformalClassifier
    from rankset.integrations.sklearn.cross_rule import CrossRule as CrossRule
    from rankset.integrations.sklearn.scorers import Coverage as Coverage, SetSize as SetSize
    from rankset.integrations.sklearn.splits import CrossConformal as CrossConformal, GivenSplit as GivenSplit
    from rankset.integrations.sklearn.splits import Holdout as Holdout
    from rankset.reports import report as report, report_scores as report_scores
    from rankset.rules.level_rule import LevelRule as LevelRule
    from rankset.scores import Average as Average, Chosen as Chosen, Recalibrated as Recalibrated, Seen as Seen
    from rankset.scores import Temperature as Temperature, Tempered as Tempered, Wording as Wording
else:

    def __getattr__(name: str) -> Any:
        if name in MODULES_ON_DEMAND:
            return import_module(MODULES_ON_DEMAND[name])
        if name in NAMES_ON_DEMAND:
            return getattr(import_module(f"rankset.{NAMES_ON_DEMAND[name]}"), name)
        raise AttributeError(f"module 'rankset' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *MODULES_ON_DEMAND, *NAMES_ON_DEMAND, "__version__"])
