"""Displays of rules with targets: several labels per row, and costs."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator

import rankset as rs
from rankset.core import coverage_law
from rankset.errors import InputError, LabelError, RuleError
from refusals import refused

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

PROBS, LABELS = rs.datasets.load("goemotions")
CLASSES = rs.datasets.SEVERAL_LABELS["goemotions"].classes
CAL, NEW = slice(0, 1000), slice(1000, 2500)
ALPHAS = [0.05, 0.1, 0.3]


def calibrated(target, **options):
    return rs.calibrate(PROBS[CAL], LABELS[CAL], target=target, kind="marginals", classes=CLASSES, **options)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.mark.parametrize("target", ["recall", "all", "any", "missed:1"])
def test_curves_are_those_of_the_sets_at_every_alpha(target):
    rule = calibrated(target)
    display = rs.CoverageDisplay.from_rule(rule, PROBS[NEW], LABELS[NEW], alphas=ALPHAS)
    size = rs.SizeDisplay.from_rule(rule, PROBS[NEW], LABELS[NEW], alphas=ALPHAS)
    for place, alpha in enumerate(ALPHAS):
        found = rs.evaluate(rule.predict(PROBS[NEW], alpha), LABELS[NEW])
        assert display.coverage[place] == pytest.approx(found.observed)
        assert size.coverage[place] == pytest.approx(found.observed)
        assert size.mean_sizes[place] == pytest.approx(found.mean_size)
        for name, values in display.others.items():
            assert values[place] == pytest.approx(getattr(found, name.replace(" ", "_")))
    known = {"recall": "recall", "all": "all labels", "any": "any label", "missed:1": "at most 1 missed"}
    assert display.measure == known[target]
    assert set(display.others) == {"recall", "all labels"} - {display.measure}
    assert display.ax_.get_title() == f"{display.measure} against alpha"
    assert size.ax_.get_xlabel() == f"{display.measure} seen"


@pytest.mark.parametrize("target", ["all", "recall"])
def test_the_band_is_open_above_where_scores_tie(target):
    rule = rs.calibrate(PROBS[CAL], LABELS[CAL], target=target, method="topk", kind="marginals")
    display = rs.CoverageDisplay.from_rule(rule, PROBS[NEW], LABELS[NEW], alphas=[0.2])
    found = rs.evaluate(rule.predict(PROBS[NEW], 0.2), LABELS[NEW])
    assert (display.band[0][0], display.band[1][0]) == found.expected
    assert display.band[1][0] == 1


def test_the_band_is_what_evaluate_expects():
    for target in ("recall", "all"):
        rule = calibrated(target)
        low, high = rs.CoverageDisplay.from_rule(rule, PROBS[NEW], LABELS[NEW], alphas=ALPHAS).band
        expected = [rs.evaluate(rule.predict(PROBS[NEW], alpha), LABELS[NEW]).expected for alpha in ALPHAS]
        assert list(zip(low.tolist(), high.tolist(), strict=True)) == expected
        inner = rule.coverage_band(ALPHAS[1])
        assert low[1] < inner.low < inner.high < high[1]
    assert inner.outer is False
    assert calibrated("recall").coverage_band(0.1).outer
    p_values = calibrated("recall").p_values(PROBS[NEW])
    options = {"alphas": ALPHAS, "n_calibration": calibrated("recall").n, "target": "recall"}
    drawn = rs.CoverageDisplay.from_predictions(p_values, LABELS[NEW], **options)
    same = rs.CoverageDisplay.from_rule(calibrated("recall"), PROBS[NEW], LABELS[NEW], alphas=ALPHAS)
    np.testing.assert_array_equal(drawn.band, same.band)
    each = calibrated("recall", condition=rs.PerLabel())
    assert rs.CoverageDisplay.from_rule(each, PROBS[NEW], LABELS[NEW], alphas=[0.3]).band is None


def test_rows_without_labels_are_set_aside():
    labels = LABELS[NEW].copy()
    labels[:500] = 0
    rule = calibrated("recall")
    some = rs.CoverageDisplay.from_rule(rule, PROBS[NEW], labels, alphas=ALPHAS)
    rest = rs.CoverageDisplay.from_rule(rule, PROBS[NEW][500:], labels[500:], alphas=ALPHAS)
    assert some.coverage.tolist() == rest.coverage.tolist()
    assert some.band[0].tolist() == rest.band[0].tolist()
    with refused(InputError.no_rows_to_evaluate()):
        rs.CoverageDisplay.from_rule(rule, PROBS[NEW][:500], labels[:500])


def test_costs_are_drawn_as_they_are_promised():
    probs, labels = rs.datasets.load("marketing")
    rule = rs.calibrate(probs[:130], labels[:130], target=rs.Cost({0: 1, 1: 4, 2: 1, 3: 2}))
    display = rs.CoverageDisplay.from_rule(rule, probs[130:], labels[130:], alphas=[0.1])
    missed = ~rule.predict(probs[130:], 0.1).covers(labels[130:])
    assert display.coverage[0] == pytest.approx(1 - (np.array([1, 4, 1, 2])[labels[130:]] * missed / 4).mean())
    assert display.measure == "1 − cost"
    assert not display.others


def test_recall_of_every_label_has_its_exact_interval():
    sets = calibrated("recall").predict(PROBS[NEW], 0.1)
    display = rs.ClassCoverageDisplay.from_predictions(sets, LABELS[NEW], max_classes=10)
    found = {one.name: one for one in rs.evaluate(sets, LABELS[NEW]).labels}
    assert [share.coverage for share in display.classes] == sorted(one.recall for one in found.values())[:10]
    for share, interval in zip(display.classes, display.intervals, strict=True):
        rows = LABELS[NEW][:, CLASSES.index(share.name)] == 1
        hits = sets.mask[rows, CLASSES.index(share.name)]
        assert (share.n, share.coverage) == (rows.sum(), hits.mean())
        assert interval == coverage_law.binomial_interval(int(hits.sum()), int(rows.sum()), 0.9)
    assert display.of_classes == len(found)
    assert (display.measure, display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("recall", "recall", "label (rows)")
    assert "recall by label" in display.ax_.get_title()
    own = rs.PredictionSets.from_mask(sets.mask, CLASSES)
    again = rs.ClassCoverageDisplay.from_predictions(own, LABELS[NEW], 0.1, max_classes=10, target="recall")
    assert [(share.name, share.coverage) for share in again.classes] == [
        (share.name, share.coverage) for share in display.classes
    ]


def test_estimators_are_drawn():
    pass_on = FrozenEstimator(Outputs())
    model = rs.ConformalClassifier(pass_on, target="all", classes=CLASSES).fit(PROBS[CAL], LABELS[CAL])
    display = rs.CoverageDisplay.from_estimator(model, PROBS[NEW], LABELS[NEW])
    same = rs.CoverageDisplay.from_rule(model.rule_, PROBS[NEW], LABELS[NEW])
    assert display.coverage.tolist() == same.coverage.tolist()
    assert display.band[0].tolist() == same.band[0].tolist()
    size = rs.SizeDisplay.from_estimator(model, PROBS[NEW], LABELS[NEW])
    assert size.measure == "all labels"


class Outputs(ClassifierMixin, BaseEstimator):
    """A model whose rows are its outputs."""

    def fit(self, rows, labels):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, rows):
        return rows


def test_what_cannot_be_drawn_is_told():
    rule = calibrated("recall", method="rank")
    with refused(RuleError.ranks_of_target(rs.Recall())):
        rs.RankDisplay.from_rule(rule)
    with refused(LabelError):
        rs.CoverageDisplay.from_rule(rule, PROBS[NEW], LABELS[NEW].argmax(axis=1))
    with refused(LabelError):
        rs.CoverageDisplay.from_predictions(rule.p_values(PROBS[NEW]), LABELS[NEW])
