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
    for display in (rs.CoverageDisplay, rs.SizeDisplay):
        with refused(RuleError.curve_of_target(rs.CertainLabels())):
            display.from_rule(calibrated("certain"), PROBS[NEW], LABELS[NEW])
    with refused(LabelError):
        rs.CoverageDisplay.from_predictions(rule.p_values(PROBS[NEW]), LABELS[NEW])


def test_costs_of_named_classes_are_drawn():
    logits, labels = rs.datasets.load("carer")
    names = rs.datasets.DATASETS["carer"].classes
    cost = {"fear": 10}
    named = rs.calibrate(logits[:500], labels[:500], kind="logits", classes=names, target=rs.Cost(cost, others=1))
    plain = rs.calibrate(logits[:500], labels[:500], kind="logits", target=rs.Cost({names.index("fear"): 10}, others=1))
    for display in (rs.CoverageDisplay, rs.SizeDisplay):
        one, two = (display.from_rule(rule, logits[500:], labels[500:], alphas=ALPHAS) for rule in (named, plain))
        assert one.coverage.tolist() == two.coverage.tolist()


def labels_of(ax):
    return ax.get_legend_handles_labels()[1]


def test_no_target_is_drawn_where_none_is_promised():
    probs, labels = rs.datasets.load("marketing")
    cost = rs.calibrate(probs[:130], labels[:130], target=rs.Cost({0: 1}, others=3)).predict(probs[130:], 0.1)
    certain = calibrated("certain").predict(PROBS[NEW], 0.1)
    precise = rs.precise(PROBS[CAL], LABELS[CAL], error=0.3).predict(PROBS[NEW])
    for sets, truth in ((cost, labels[130:]), (certain, LABELS[NEW]), (precise, LABELS[NEW])):
        display = rs.ClassCoverageDisplay.from_predictions(sets, truth)
        assert labels_of(display.ax_) == ["90% interval"]
        assert display.ax_.get_xlabel() == f"{display.measure} (not promised)"
    usual = rs.ClassCoverageDisplay.from_predictions(calibrated("recall").predict(PROBS[NEW], 0.1), LABELS[NEW])
    assert "target: 0.9" in labels_of(usual.ax_)


def test_a_threshold_per_label_promises_nothing_about_all_labels_together():
    rule = calibrated("recall", condition=rs.PerLabel())
    display = rs.CoverageDisplay.from_rule(rule, PROBS[NEW], LABELS[NEW], alphas=[0.3, 0.4])
    assert labels_of(display.ax_) == ["recall seen", "all labels seen"]
    assert display.ax_.get_title() == "recall against alpha (not promised)"
    one, two = display.ax_.lines
    assert "-" not in (one.get_linestyle(), two.get_linestyle())
    assert one._dash_pattern != two._dash_pattern
    pass_on = FrozenEstimator(Outputs())
    model = rs.ConformalClassifier(pass_on, target="recall", condition=rs.PerLabel()).fit(PROBS[CAL], LABELS[CAL])
    assert not rs.CoverageDisplay.from_estimator(model, PROBS[NEW], LABELS[NEW]).promised


def test_lines_that_are_not_promised_can_be_told_apart():
    display = rs.CoverageDisplay.from_rule(calibrated("missed:1"), PROBS[NEW], LABELS[NEW], alphas=ALPHAS)
    lines = {line.get_label(): line for line in display.ax_.lines}
    recall, complete = lines["recall seen"], lines["all labels seen"]
    assert recall._dash_pattern != complete._dash_pattern
