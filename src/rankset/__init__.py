"""Prediction sets with a finite-sample guarantee, from the outputs of any classifier.

rule = rankset.calibrate(probs, labels)        # rows that were not used to train the model
sets = rule.predict(new_probs, alpha=0.1)      # each set contains the true label with probability at least 0.9

The public names, by what they are for. ``help(rankset.auto)`` explains one of them.

Calibrate and predict
calibrate, load                        make a rule from rows with known labels; read a rule from a file
auto                                   fits and chooses a score on some rows, and calibrates on the other rows
Rule, LevelRule                        a calibrated rule, which predicts sets at any alpha; a rule with a fixed alpha
PredictionSets                         sets of labels, one per row
Estimate, CoverageBand, RankProfile    results of methods of a rule: expected size, range of coverage, ranks
softmax, frequencies, Ragged           inputs: probabilities of logits; of sampled answers; rows of different lengths
ABSENT                                 the label of a row whose true label is not among its candidates
normalise_answers                      answers in one spelling, without case, spaces and punctuation at the end
warm_up                                loads and compiles the loops of rankset[fast] before the first call needs them

Evaluate and choose
evaluate, Evaluation                   compares sets with the true labels; the results
compare, Comparison, Comparisons       compares scores on the same random splits; the table of results, one per alpha
ConditionComparison                    the table and the picture of several conditions, of compare
report, report_scores                  writes an HTML report of a rule, or of several scores
choose, grid                           the best of several scores; a score for each combination of parameters

Scores (argument ``method``) and conditions
Rank, Thr, Aps, Raps, Saps             the scores of the RANK paper and THR (LAC), also by name: method="aps"
TopK, Margin, TieBreak                 other scores: by rank alone; by the distance to the best rival; with random ties
Temperature, Recalibrated              scores that use recalibrated probabilities
Average, Seen, Tempered, Chosen        scores that are built from other scores
RankLimited, ClassOffsets              scores for many classes: with limits of ranks; with numbers of classes
FuzzyClasses                           a score for rare classes, which learn from other rare classes
Score, Cells, Reach                    how to write a score: the protocol; the features of labels; limits of sets
Wording                                words and numbers for a score of your own that describes its thresholds
Marginal, PerLabel, PerGroup, PerLabelAndGroup    conditions: groups for which coverage must hold separately
Pooled, Balanced                       conditions whose groups share rows: few rows per class; all classes count alike
LabelShift                             a condition for new rows with other shares of classes

Stream                                 rows that keep coming: a level that follows the labels, and alarms
Adaptive, Fixed, Decaying, Experts     how the level of a stream follows what was missed
Alarms, Alarm, Learned                 what the alarms of a stream say; what an update of a stream did
exchangeable, Exchangeability          do these rows look like the calibration rows?
report_stream                          writes an HTML report of a stream: misses, sizes, level and alarms over time

cluster_labels                         clusters of classes with similar scores, for PerLabel
Condition                              how to write a condition: the protocol

Targets (argument ``target``): several labels per row, and costs
OneLabel                               the default: the one true label is in the set
Recall, AllLabels, AnyLabel            several labels per row: a share of them, all of them, or one of them
AtMostMissed, Cost                     all but a few of them; labels that are more expensive to miss
CertainLabels, bounds, LabelBounds     labels that are true; what is certain and what is possible
precise, PreciseRule                   sets with a bounded share of false labels
Share, Marginals                       the score for Recall; a score on probabilities that are fitted together
Target, TrueLabels                     how to write a target: the protocol; what it gets
LabelsEvaluation                       what evaluate returns if rows can have several labels
rows_needed                            how many calibration rows a promise needs

Decisions: which answers may be accepted without a person
triage, Triage                         how sure a model was of right and wrong answers; decides about new rows
Decisions, Gate, TriageCurve           what is accepted in a batch; one threshold for a stream; shares against errors
DecisionsEvaluation                    what evaluate returns for decisions
Entropy, TopTwo, Correctness           confidence scores: by entropy; by the two largest probabilities; fitted

scikit-learn (needs pip install 'rankset[sklearn]')
ConformalClassifier                    a scikit-learn classifier that trains, calibrates and predicts sets
Holdout, CrossConformal, GivenSplit    options of ConformalClassifier: which rows are for training or calibration
Choice                                 option of ConformalClassifier: chooses one of several scores
CrossRule                              one rule made from the rules of several folds
Coverage, SetSize                      scikit-learn scorers for ConformalClassifier

Figures (needs pip install 'rankset[plots]')
CoverageDisplay, ClassCoverageDisplay  coverage against alpha; coverage of every class
SizeDisplay, SizeHistogramDisplay      set size against coverage; number of sets of each size
RankDisplay                            ranks of true labels
TriageDisplay                          share of accepted rows against their errors
StreamDisplay                          coverage, set size, level and alarms of a stream over time

Modules and errors
engines, torch                         Dask, Spark and folders of files; PyTorch
mlflow                                 a rule as an MLflow model
serving                                what rankset serve remembers: predictions, labels, and a new rule from them
shift                                  weights for new rows from another source, estimated from their outputs
datasets, paper, reports               example data; experiments of the RANK paper; the parts of a report
errors                                 all exceptions
RanksetError, RanksetWarning           base class of all errors; warnings
"""

from typing import TYPE_CHECKING, Any

from rankset.cli import handle_signals_while_importing as _handle_signals

_handle_signals()

__version__ = "0.2.0"

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
    "mlflow": "rankset.integrations.mlflow",
    "paper": "rankset.paper",
    "reports": "rankset.reports",
    "serving": "rankset.serving",
    "shift": "rankset.shift",
    "torch": "rankset.integrations.torch",
}
NAMES_ON_DEMAND = {
    "ABSENT": "inputs.absent",
    "AllLabels": "targets",
    "AnyLabel": "targets",
    "Aps": "scores",
    "AtMostMissed": "targets",
    "Average": "scores",
    "Balanced": "conditions",
    "LabelShift": "conditions",
    "Adaptive": "streams",
    "Alarm": "streams",
    "Alarms": "streams",
    "Decaying": "streams",
    "Exchangeability": "streams",
    "Experts": "streams",
    "Fixed": "streams",
    "Learned": "streams",
    "Stream": "streams",
    "exchangeable": "streams",
    "Cells": "core.cells",
    "CertainLabels": "targets",
    "Choice": "integrations.sklearn.choice",
    "Chosen": "scores",
    "ClassCoverageDisplay": "integrations.matplotlib.class_coverage_display",
    "ClassOffsets": "scores",
    "Comparison": "evaluation.comparison",
    "Comparisons": "evaluation.comparisons",
    "Condition": "conditions",
    "ConditionComparison": "evaluation.condition_comparison",
    "ConformalClassifier": "integrations.sklearn.classifier",
    "Correctness": "scores",
    "Cost": "targets",
    "Coverage": "integrations.sklearn.scorers",
    "CoverageBand": "rules.summaries",
    "CoverageDisplay": "integrations.matplotlib.coverage_display",
    "CrossConformal": "integrations.sklearn.splits",
    "CrossRule": "integrations.sklearn.cross_rule",
    "Decisions": "decisions.decisions",
    "DecisionsEvaluation": "evaluation.decided",
    "Entropy": "scores",
    "Estimate": "rules.summaries",
    "Evaluation": "evaluation.evaluation",
    "FuzzyClasses": "scores",
    "Gate": "decisions.gate",
    "GivenSplit": "integrations.sklearn.splits",
    "Holdout": "integrations.sklearn.splits",
    "LabelBounds": "evaluation.bounds",
    "LabelsEvaluation": "evaluation.several_labels",
    "LevelRule": "rules.level_rule",
    "Margin": "scores",
    "Marginal": "conditions",
    "Marginals": "scores",
    "OneLabel": "targets",
    "PerGroup": "conditions",
    "PerLabel": "conditions",
    "PerLabelAndGroup": "conditions",
    "Pooled": "conditions",
    "PreciseRule": "evaluation.precise_rule",
    "PredictionSets": "sets",
    "Ragged": "inputs.ragged",
    "Rank": "scores",
    "RankDisplay": "integrations.matplotlib.rank_display",
    "RankLimited": "scores",
    "RankProfile": "rules.summaries",
    "RanksetError": "errors",
    "RanksetWarning": "errors",
    "Raps": "scores",
    "Reach": "scores",
    "Recalibrated": "scores",
    "Recall": "targets",
    "Rule": "rules.rule",
    "Saps": "scores",
    "Score": "scores",
    "Seen": "scores",
    "SetSize": "integrations.sklearn.scorers",
    "Share": "scores",
    "SizeDisplay": "integrations.matplotlib.size_display",
    "SizeHistogramDisplay": "integrations.matplotlib.size_histogram_display",
    "StreamDisplay": "integrations.matplotlib.stream_display",
    "Target": "targets",
    "Temperature": "scores",
    "Tempered": "scores",
    "Thr": "scores",
    "TieBreak": "scores",
    "TopK": "scores",
    "TopTwo": "scores",
    "Triage": "decisions.triage",
    "TriageCurve": "decisions.curve",
    "TriageDisplay": "integrations.matplotlib.triage_display",
    "TrueLabels": "targets",
    "Wording": "scores",
    "auto": "evaluation.auto",
    "bounds": "evaluation.bounds",
    "calibrate": "evaluation.calibrate",
    "choose": "evaluation.choose",
    "cluster_labels": "evaluation.cluster_labels",
    "compare": "evaluation.compare",
    "evaluate": "evaluation.evaluate",
    "frequencies": "inputs.probabilities",
    "grid": "evaluation.choose",
    "load": "rules.load",
    "normalise_answers": "inputs.normalise",
    "precise": "evaluation.precise",
    "report": "reports",
    "report_scores": "reports",
    "report_stream": "reports",
    "rows_needed": "rules.rows_needed",
    "softmax": "inputs.probabilities",
    "triage": "decisions.triage",
    "warm_up": "core.kernels",
}
"""Modules of the public names, which are imported at first use. Some of them need scikit-learn or matplotlib."""
PACKAGES = (
    "conditions",
    "core",
    "decisions",
    "errors",
    "evaluation",
    "graphs",
    "inputs",
    "integrations",
    "io",
    "rules",
    "scores",
    "sets",
    "streams",
    "targets",
)
"""Packages that are imported at first use as well, but are not listed among the public names."""
NEED_SKLEARN = ("ConformalClassifier", "Coverage", "SetSize")
"""Names that cannot be imported without scikit-learn. Then ``dir`` and ``help`` leave them out."""

if TYPE_CHECKING:  # the same names for editors and type checkers; tests/test_project.py compares the two lists
    from rankset import datasets as datasets, engines as engines, paper as paper, reports as reports
    from rankset import serving as serving, shift as shift
    from rankset.conditions import (
        Balanced as Balanced,
        Condition as Condition,
        LabelShift as LabelShift,
        Marginal as Marginal,
    )
    from rankset.conditions import PerGroup as PerGroup, PerLabel as PerLabel
    from rankset.conditions import PerLabelAndGroup as PerLabelAndGroup, Pooled as Pooled
    from rankset.core.cells import Cells as Cells
    from rankset.core.kernels import warm_up as warm_up
    from rankset.decisions.curve import TriageCurve as TriageCurve
    from rankset.decisions.decisions import Decisions as Decisions
    from rankset.decisions.gate import Gate as Gate
    from rankset.decisions.triage import Triage as Triage, triage as triage
    from rankset.errors import RanksetError as RanksetError, RanksetWarning as RanksetWarning
    from rankset.evaluation.auto import auto as auto
    from rankset.evaluation.bounds import LabelBounds as LabelBounds, bounds as bounds
    from rankset.evaluation.calibrate import calibrate as calibrate
    from rankset.evaluation.choose import choose as choose, grid as grid
    from rankset.evaluation.cluster_labels import cluster_labels as cluster_labels
    from rankset.evaluation.compare import compare as compare
    from rankset.evaluation.comparison import Comparison as Comparison
    from rankset.evaluation.comparisons import Comparisons as Comparisons
    from rankset.evaluation.condition_comparison import ConditionComparison as ConditionComparison
    from rankset.evaluation.decided import DecisionsEvaluation as DecisionsEvaluation
    from rankset.evaluation.evaluate import evaluate as evaluate
    from rankset.evaluation.evaluation import Evaluation as Evaluation
    from rankset.evaluation.precise import precise as precise
    from rankset.evaluation.precise_rule import PreciseRule as PreciseRule
    from rankset.evaluation.several_labels import LabelsEvaluation as LabelsEvaluation
    from rankset.inputs.absent import ABSENT as ABSENT
    from rankset.inputs.normalise import normalise_answers as normalise_answers
    from rankset.inputs.probabilities import frequencies as frequencies, softmax as softmax
    from rankset.inputs.ragged import Ragged as Ragged
    from rankset.integrations import mlflow as mlflow, torch as torch
    from rankset.integrations.matplotlib.class_coverage_display import ClassCoverageDisplay as ClassCoverageDisplay
    from rankset.integrations.matplotlib.coverage_display import CoverageDisplay as CoverageDisplay
    from rankset.integrations.matplotlib.rank_display import RankDisplay as RankDisplay
    from rankset.integrations.matplotlib.size_display import SizeDisplay as SizeDisplay
    from rankset.integrations.matplotlib.size_histogram_display import SizeHistogramDisplay as SizeHistogramDisplay
    from rankset.integrations.matplotlib.stream_display import StreamDisplay as StreamDisplay
    from rankset.integrations.matplotlib.triage_display import TriageDisplay as TriageDisplay
    from rankset.integrations.sklearn.choice import Choice as Choice
    from rankset.integrations.sklearn.classifier import ConformalClassifier as ConformalClassifier
    from rankset.integrations.sklearn.cross_rule import CrossRule as CrossRule
    from rankset.integrations.sklearn.scorers import Coverage as Coverage, SetSize as SetSize
    from rankset.integrations.sklearn.splits import CrossConformal as CrossConformal, GivenSplit as GivenSplit
    from rankset.integrations.sklearn.splits import Holdout as Holdout
    from rankset.reports import report as report, report_scores as report_scores, report_stream as report_stream
    from rankset.rules.level_rule import LevelRule as LevelRule
    from rankset.rules.load import load as load
    from rankset.rules.rows_needed import rows_needed as rows_needed
    from rankset.rules.rule import Rule as Rule
    from rankset.rules.summaries import CoverageBand as CoverageBand, Estimate as Estimate, RankProfile as RankProfile
    from rankset.scores import Aps as Aps, Average as Average, Chosen as Chosen, Margin as Margin
    from rankset.scores import ClassOffsets as ClassOffsets, Correctness as Correctness, Entropy as Entropy
    from rankset.scores import FuzzyClasses as FuzzyClasses, Marginals as Marginals, Rank as Rank
    from rankset.scores import RankLimited as RankLimited
    from rankset.scores import Raps as Raps, Reach as Reach, Recalibrated as Recalibrated, Saps as Saps, Score as Score
    from rankset.scores import Seen as Seen, Share as Share, Temperature as Temperature, Tempered as Tempered
    from rankset.scores import Thr as Thr, TieBreak as TieBreak, TopK as TopK, TopTwo as TopTwo, Wording as Wording
    from rankset.sets import PredictionSets as PredictionSets
    from rankset.streams import Adaptive as Adaptive, Alarm as Alarm, Alarms as Alarms, Decaying as Decaying
    from rankset.streams import Exchangeability as Exchangeability, Experts as Experts, Fixed as Fixed
    from rankset.streams import Learned as Learned, Stream as Stream, exchangeable as exchangeable
    from rankset.targets import AllLabels as AllLabels, AnyLabel as AnyLabel, AtMostMissed as AtMostMissed
    from rankset.targets import (
        CertainLabels as CertainLabels,
        Cost as Cost,
        OneLabel as OneLabel,
        Recall as Recall,
        Target as Target,
    )
    from rankset.targets import TrueLabels as TrueLabels
else:

    def __getattr__(name: str) -> Any:
        if name not in MODULES_ON_DEMAND and name not in NAMES_ON_DEMAND and name not in PACKAGES:
            raise AttributeError(f"module 'rankset' has no attribute {name!r}")
        from rankset.errors import import_with_extra

        if name in NAMES_ON_DEMAND:
            module = import_with_extra(f"rankset.{NAMES_ON_DEMAND[name]}", f"rankset.{name}")
            globals()[name] = getattr(module, name)
            return globals()[name]
        return import_with_extra(MODULES_ON_DEMAND.get(name, f"rankset.{name}"), f"rankset.{name}")


def __dir__() -> list[str]:
    from importlib.util import find_spec

    names = [*MODULES_ON_DEMAND, *NAMES_ON_DEMAND]
    usable = [name for name in names if name not in NEED_SKLEARN or find_spec("sklearn") is not None]
    return sorted([*usable, "__version__"])
