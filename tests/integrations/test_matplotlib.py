"""Pictures show the numbers the library gives elsewhere."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

import rankset as rs

mpl.use("agg")
import matplotlib.pyplot as plt

from rankset.errors import InputError, KindError, LabelError, LevelError, RuleError
from refusals import like, refused

RNG = np.random.default_rng(2)
K = 6
PROBS = RNG.dirichlet(np.full(K, 0.4), 600)
LABELS = np.array([RNG.choice(K, p=row) for row in PROBS])
NAMES = np.array(["ant", "bee", "cat", "dog", "eel", "fox"])
CAL, NEW = slice(0, 300), slice(300, 600)
RULE = rs.calibrate(PROBS[CAL], NAMES[LABELS[CAL]], classes=NAMES)
SETS = RULE.predict(PROBS[NEW], 0.1)
TRUTH = NAMES[LABELS[NEW]]


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_ranks():
    display = rs.RankDisplay.from_rule(RULE, 0.1)
    profile = RULE.rank_profile(0.1)
    assert display.counts.tolist() == profile.counts.tolist()
    assert display.r_star == profile.r_star
    heights = [bar.get_height() for bar in display.ax_.patches]
    assert heights == profile.distribution[: len(heights)].tolist()
    assert [line.get_xdata()[0] for line in display.ax_.lines if line.get_label().startswith("r*")] == [profile.r_star]
    same = rs.RankDisplay.from_predictions(PROBS[CAL], NAMES[LABELS[CAL]], classes=NAMES)
    assert same.counts.tolist() == display.counts.tolist()


def test_ranks_of_one_group():
    rule = rs.calibrate(PROBS, LABELS, condition=rs.PerLabel())
    display = rs.RankDisplay.from_rule(rule, 0.1, label=2)
    assert display.counts.sum() == (LABELS == 2).sum()


def test_coverage_and_size_are_those_of_the_sets_at_every_level():
    coverage = rs.CoverageDisplay.from_rule(RULE, PROBS[NEW], TRUTH)
    size = rs.SizeDisplay.from_rule(RULE, PROBS[NEW], TRUTH)
    for place, alpha in enumerate(coverage.alphas):
        seen = rs.evaluate(RULE.predict(PROBS[NEW], alpha), TRUTH)
        assert coverage.coverage[place] == size.coverage[place] == seen.coverage
        assert size.mean_sizes[place] == pytest.approx(seen.mean_size, rel=1e-12)
        assert (coverage.band[0][place], coverage.band[1][place]) == seen.expected
    drawn = {line.get_label(): line for line in coverage.ax_.lines}
    assert drawn["seen"].get_ydata().tolist() == coverage.coverage.tolist()
    assert size.ax_.get_legend().get_texts()[0].get_text() == "Rank"


def test_no_band_where_thresholds_are_several():
    rule = rs.calibrate(PROBS[CAL], LABELS[CAL], condition=rs.PerLabel())
    assert rs.CoverageDisplay.from_rule(rule, PROBS[NEW], LABELS[NEW]).band is None
    assert rs.CoverageDisplay.from_predictions(rule.p_values(PROBS[NEW]), LABELS[NEW]).band is None


@pytest.mark.parametrize("split", [rs.Holdout(0.5), rs.CrossConformal(3)], ids=repr)
def test_estimators(split):
    logs = np.log(PROBS + 1e-9)
    model = rs.ConformalClassifier(GaussianNB(), split=split, random_state=0).fit(logs[CAL], LABELS[CAL])
    coverage = rs.CoverageDisplay.from_estimator(model, logs[NEW], LABELS[NEW])
    assert (coverage.band is None) == isinstance(split, rs.CrossConformal)
    assert coverage.coverage[9] == model.predict_set(logs[NEW], 0.1).covers(LABELS[NEW]).mean()
    size = rs.SizeDisplay.from_estimator(model, logs[NEW], LABELS[NEW], label="mine")
    assert size.mean_sizes[9] == model.predict_set(logs[NEW], 0.1).sizes.mean()


def test_set_sizes():
    display = rs.SizeHistogramDisplay.from_predictions(SETS, color="C4")
    assert display.counts.tolist() == np.bincount(SETS.sizes).tolist()
    bars = {round(bar.get_x() + bar.get_width() / 2): bar for bar in display.ax_.patches}
    assert bars[SETS.sizes.max()].get_height() == (SETS.sizes == SETS.sizes.max()).mean()
    assert bars[1].get_facecolor()[:3] == mpl.colors.to_rgb("C4")
    assert f"{SETS.sizes.mean():.3g}" in display.ax_.get_legend().get_texts()[0].get_text()


def test_classes():
    display = rs.ClassCoverageDisplay.from_predictions(SETS, TRUTH)
    expected = {share.name: share for share in rs.evaluate(SETS, TRUTH).classes}
    assert {share.name: share for share in display.classes} == expected
    assert [share.coverage for share in display.classes] == sorted(share.coverage for share in display.classes)
    assert all(
        low <= share.coverage <= high for share, (low, high) in zip(display.classes, display.intervals, strict=True)
    )
    ticks = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert ticks == [f"{share.name}  ({share.n})" for share in display.classes]
    two = rs.ClassCoverageDisplay.from_predictions(SETS, TRUTH, max_classes=2)
    assert two.classes == display.classes[:2]


def test_classes_in_their_own_order():
    display = rs.ClassCoverageDisplay.from_predictions(SETS, TRUTH, sort=False)
    expected = rs.evaluate(SETS, TRUTH).classes
    assert display.classes == expected
    sorted_display = rs.ClassCoverageDisplay.from_predictions(SETS, TRUTH)
    assert display.classes != sorted_display.classes
    intervals = dict(zip(sorted_display.classes, sorted_display.intervals, strict=True))
    assert display.intervals == tuple(intervals[share] for share in expected)
    ticks = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert ticks == [f"{share.name}  ({share.n})" for share in expected]
    for most in range(1, len(expected)):
        some = rs.ClassCoverageDisplay.from_predictions(SETS, TRUTH, max_classes=most, sort=False).classes
        lowest = sorted_display.classes[:most]
        assert some == tuple(share for share in expected if share in lowest)


def test_axes_may_be_given_and_drawn_on_again():
    figure, (left, right) = plt.subplots(1, 2)
    display = rs.RankDisplay.from_rule(RULE, ax=left)
    assert (display.ax_, display.figure_) == (left, figure)
    assert display.plot(right).ax_ is right
    for score in (rs.Rank(), rs.Aps()):
        rule = rs.calibrate(PROBS[CAL], LABELS[CAL], score=score)
        rs.SizeDisplay.from_rule(rule, PROBS[NEW], LABELS[NEW], ax=left)
    assert {"Rank", "Aps"} <= {text.get_text() for text in left.get_legend().get_texts()}


@pytest.mark.parametrize(
    ("ask", "refusal"),
    [
        (
            lambda: rs.SizeHistogramDisplay.from_predictions([[1]]),
            KindError.argument("sets", "PredictionSets, the result of Rule.predict", "list"),
        ),
        (lambda: rs.SizeHistogramDisplay.from_predictions(SETS[:0]), InputError.no_rows_to_evaluate()),
        (lambda: rs.CoverageDisplay.from_predictions(np.empty((0, 3)), []), InputError.no_rows_to_evaluate()),
        (lambda: rs.CoverageDisplay.from_predictions([[0.1, 0.2]], [2]), LabelError.one_based("labels", 0, 2)),
        (
            lambda: rs.CoverageDisplay.from_predictions([0.1, 0.2], [0, 1]),
            like(InputError, what="p_values", received="shape (2,)", expected="have shape (n, K)"),
        ),
        (
            lambda: rs.CoverageDisplay.from_predictions([[0.1, 0.2]], [0], alphas=[10]),
            LevelError.out_of_range(10, "Did you mean 0.1?"),
        ),
        (
            lambda: rs.RankDisplay.from_rule(rs.calibrate(PROBS, LABELS, score=rs.Aps())),
            like(RuleError, what="rank_profile", received="the score Aps(randomized=True)"),
        ),
        (lambda: rs.CoverageDisplay.from_predictions([[np.nan, 0.2]], [0]), InputError.p_value(0, 0, np.nan)),
        (lambda: rs.CoverageDisplay.from_predictions([[0.2, 1.2]], [0]), InputError.p_value(0, 1, 1.2)),
        (
            lambda: rs.CoverageDisplay.from_predictions([[0.1, 0.2]], [0], alphas=[]),
            KindError.argument("alphas", "a list of at least one value", []),
        ),
        (
            lambda: rs.CoverageDisplay.from_predictions([[0.1, 0.2]], [0], n_calibration=-1),
            KindError.argument("n_calibration", "an integer of at least 1", -1),
        ),
        (
            lambda: rs.CoverageDisplay.from_estimator(RULE, PROBS, LABELS),
            like(
                KindError,
                what="estimator",
                received="Rule(Rank(), Marginal(), kind='probs', 6 classes, calibrated on 300 rows)",
                expected="be a fitted ConformalClassifier (use from_rule for a Rule)",
            ),
        ),
        (
            lambda: rs.ClassCoverageDisplay.from_predictions(SETS, TRUTH, max_classes=0),
            KindError.argument("max_classes", "an integer of at least 1", 0),
        ),
        (
            lambda: rs.ClassCoverageDisplay.from_predictions(SETS, TRUTH, sort="coverage"),
            KindError.argument("sort", "True or False", "coverage"),
        ),
        (lambda: rs.ClassCoverageDisplay.from_predictions(SETS, TRUTH[:5]), InputError.length("labels", 300, 5)),
    ],
)
def test_what_cannot_be_drawn_is_told(ask, refusal):
    with refused(refusal):
        ask()


def test_several_curves_share_an_axis():
    _, (left, right) = plt.subplots(1, 2)
    for score in (rs.Thr(), rs.TopK()):
        rule = rs.calibrate(PROBS[CAL], LABELS[CAL], score=score)
        rs.CoverageDisplay.from_rule(rule, PROBS[NEW], LABELS[NEW], ax=left, label=repr(score))
        size = rs.SizeDisplay.from_rule(rule, PROBS[NEW], LABELS[NEW], ax=right)
        assert right.get_ylim()[1] >= size.mean_sizes.max()
    told = [text.get_text() for text in left.get_legend().get_texts()]
    assert told == ["asked: 1 − alpha", "Thr()", "sampling variation, 90% at each alpha", "TopK()"]
    colors = {line.get_color() for line in left.lines}
    assert len(colors) == 3


@pytest.mark.parametrize("display", [rs.CoverageDisplay, rs.SizeDisplay])
def test_labels_of_named_classes_may_be_column_numbers_as_in_calibrate(display):
    probs, labels = rs.datasets.load("marketing")
    names = np.array(["Z", "Y", "X", "W"])
    rule = rs.calibrate(probs[:130], labels[:130], classes=names)
    by_number = display.from_rule(rule, probs[130:], labels[130:])
    by_name = display.from_rule(rule, probs[130:], names[labels[130:]])
    assert by_number.coverage.tolist() == by_name.coverage.tolist()


def test_odd_names_are_drawn_as_they_are(tmp_path):
    names = ["$x_{$", "costs $5 or $6", "\ud800", "two\nlines", "a long name that goes on and on and ends in 17", "<b>"]
    sets = rs.PredictionSets.from_mask(np.eye(6, dtype=bool), classes=names, alpha=0.1)
    display = rs.ClassCoverageDisplay.from_predictions(sets, np.array(names, dtype=object))
    ticks = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert any("ends in 17" in tick for tick in ticks)
    assert any("two lines" in tick for tick in ticks)
    display.figure_.savefig(tmp_path / "odd.png")


def test_some_of_many_classes_are_told_to_be_some():
    names = [f"class {k}" for k in range(100)]
    sets = rs.PredictionSets.from_mask(np.eye(100, dtype=bool), classes=names, alpha=0.1)
    display = rs.ClassCoverageDisplay.from_predictions(sets, names)
    assert "the lowest 30 of 100" in display.ax_.get_title()
    assert display.figure_.get_figheight() > 6


def test_without_matplotlib_it_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = sys.modules['matplotlib.pyplot'] = None; import rankset as rs\n"
        "try: rs.RankDisplay.from_predictions([[0.7, 0.3]] * 9, [0] * 9)\n"
        "except ImportError as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert "pip install 'rankset[plots]'" in told


def test_the_legend_of_class_coverage_names_the_target_and_covers_no_point():
    logits, labels = rs.datasets.load("carer")
    rule = rs.calibrate(logits[:700], labels[:700], kind="logits", condition=rs.PerLabel())
    ax = rs.ClassCoverageDisplay.from_predictions(rule.predict(logits[700:1300], 0.1), labels[700:1300]).ax_
    assert ax.get_legend().get_texts()[0].get_text() == "target: 0.9"
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1
    assert ax.title.get_window_extent().y0 >= ax.get_legend().get_window_extent().y1 - 4
    plt.close(ax.figure)


def test_no_band_where_no_coverage_is_proven():
    rows, y = load_digits(return_X_y=True)
    split = rs.Holdout(0.5, stratify=True)
    with pytest.warns(rs.RanksetWarning, match="stratified"):
        model = rs.ConformalClassifier(GaussianNB(), split=split, random_state=0).fit(rows[::2], y[::2])
    assert rs.CoverageDisplay.from_estimator(model, rows[1::2], y[1::2]).band is None
    assert rs.CoverageDisplay.from_rule(model.rule_, model.predict_proba(rows[1::2]), y[1::2]).band is None
