"""What type checkers and editors know of the public names. `mypy` reads this file (`python3 run.py lint`).

``assert_type`` fails for ``Any``, so a name that type checkers do not know is an error here. Nothing in this file is
executed.
"""

from fractions import Fraction
from types import ModuleType
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import rankset as rs

Matrix = NDArray[np.float64]
Labels = NDArray[np.int64]


def rules(probs: Matrix, labels: Labels) -> None:
    """Rules and sets."""
    rule = rs.calibrate(probs, labels, score=rs.Aps(), condition=rs.PerLabel())
    assert_type(rule, rs.Rule)
    assert_type(rs.load("rule.rankset"), rs.Rule)
    assert_type(rule.at(Fraction(1, 10)), rs.LevelRule)
    sets = rule.predict(probs, alpha=0.1)
    assert_type(sets, rs.PredictionSets)
    assert_type(sets[:10], rs.PredictionSets)
    assert_type(sets[0], NDArray[Any])
    assert_type(sets.covers(labels), NDArray[np.bool_])
    assert_type(rs.evaluate(sets, labels), rs.Evaluation)
    assert_type(rule.smallest_alpha(), Fraction)
    assert_type(rs.Ragged.of([{"yes": 0.7, "no": 0.3}]).mark_absent(["yes"]), list[Any])
    assert_type(rs.report(rule, probs, labels, "report.html", ids=labels), rs.reports.Report)
    assert_type(rs.report_scores(probs, labels, probs, labels), rs.reports.Report)
    assert_type(rs.paper.Outputs.of("mine", probs, labels), rs.paper.Outputs)


def choosing(probs: Matrix, labels: Labels) -> None:
    """Names that are imported at first use: choosing and fitting scores."""
    assert_type(rs.auto(probs, labels, 0.1), rs.Rule)
    assert_type(rs.calibrate(probs, labels, method="auto", alpha=0.1), rs.Rule)
    assert_type(rs.calibrate(probs, labels, method=rs.Aps()), rs.Rule)
    assert_type(rs.choose(["rank", rs.Thr()], probs, labels), rs.Score)
    assert_type(rs.compare(probs, labels), rs.Comparison)
    comparisons = rs.compare(probs, labels, [0.1, 0.2], scores=[rs.Rank(), "auto"], metrics=["size"])
    assert_type(comparisons, rs.Comparisons)
    assert_type(comparisons[0.1], rs.Comparison)
    assert_type(rs.choose(rs.grid(rs.Raps, penalty=[0.01, 0.1]), probs, labels, 0.1), rs.Score)
    assert_type(rs.Temperature.fit(probs, labels), rs.Temperature)
    assert_type(rs.Recalibrated.fit(probs, labels), rs.Recalibrated)
    assert_type(rs.Marginals.fit(probs, labels, score="share"), rs.Marginals)
    assert_type(rs.auto(probs, labels, target=rs.Recall(), kind="marginals"), rs.Rule)
    assert_type(rs.compare(probs, labels, target="all", kind="marginals"), rs.Comparison)
    assert_type(rs.Tempered.fit(probs, labels, score=rs.Raps()), rs.Tempered)
    assert_type(rs.Seen.fit(labels, 3), rs.Seen)
    assert_type(rs.Average(thr=0.5), rs.Average)
    assert_type(rs.Chosen(rs.Thr(), "a reason").why, str)


def classifier(features: Matrix, labels: Labels) -> None:
    """Names that are imported at first use: scikit-learn."""
    method = rs.Choice((rs.Rank(), "thr"))
    rs.ConformalClassifier(method="auto")
    model = rs.ConformalClassifier(method=method, split=rs.Holdout(0.5))
    assert_type(model, rs.ConformalClassifier)
    assert_type(model.fit(features, labels), rs.ConformalClassifier)
    assert_type(model.report(features, labels, "report.html"), rs.reports.Report)
    assert_type(model.predict_set(features), rs.PredictionSets)
    assert_type(model.predict_p(features), Matrix)
    assert_type(rs.CrossConformal(5).folds, int)
    assert_type(rs.GivenSplit([0, 1]), rs.GivenSplit)
    assert_type(rs.Coverage(0.1)(model, features, labels), float)
    assert_type(rs.SetSize(0.1)(model, features), float)


def displays(rule: rs.Rule, sets: rs.PredictionSets, probs: Matrix, labels: Labels) -> None:
    """Names that are imported at first use: matplotlib."""
    assert_type(rs.RankDisplay.from_rule(rule), rs.RankDisplay)
    assert_type(rs.CoverageDisplay.from_rule(rule, probs, labels), rs.CoverageDisplay)
    assert_type(rs.SizeDisplay.from_rule(rule, probs, labels), rs.SizeDisplay)
    assert_type(rs.SizeHistogramDisplay.from_predictions(sets), rs.SizeHistogramDisplay)
    assert_type(rs.ClassCoverageDisplay.from_predictions(sets, labels), rs.ClassCoverageDisplay)
    assert_type(rs.CrossRule((rule, rule)).guarantee(0.1), float)


def modules(rule: rs.Rule) -> None:
    """Modules that are imported at first use."""
    assert_type(rs.torch.calibrate(len, []), rs.Rule)
    assert_type(rs.torch.predict(rule, len, [], 0.1), rs.PredictionSets)
    several: tuple[ModuleType, ...] = (rs.datasets, rs.engines, rs.mlflow, rs.paper, rs.reports, rs.torch)
    assert_type(several, tuple[ModuleType, ...])


def unknown_names() -> None:
    """Misspelled names are errors: mypy reports an ignore that is not needed."""
    rs.autoo  # type: ignore[attr-defined]  # noqa: B018
    rs.ConformalClassifer  # type: ignore[attr-defined]  # noqa: B018
