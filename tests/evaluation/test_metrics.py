"""Evaluations, beside numbers worked out by hand and by SciPy."""

from fractions import Fraction
from html import unescape

import numpy as np
import pytest
from scipy import stats

import rankset as rs
from rankset.core import coverage_law
from rankset.errors import PYTHON, LevelError, MetricError
from rankset.errors.fields import render_text
from rankset.evaluation.advice import BOTH, TOO_HIGH, TOO_LOW
from rankset.evaluation.evaluation_remarks import EMPTY_REMARK
from rankset.evaluation.metrics import EMPTY_APART, METRICS, sscv
from refusals import refused

MASK = np.array([[1, 0, 0], [0, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 1, 1]], dtype=bool)
LABELS = [0, 1, 0, 0, 1, 2]


@pytest.fixture
def told():
    return rs.evaluate(rs.PredictionSets.from_mask(MASK), LABELS, alpha=0.25, groups=["a", "a", "b", "b", "b", "b"])


def test_coverage_size_and_rates_are_averages_over_rows(told):
    assert told.coverage == 3 / 6
    assert told.mean_size == 9 / 6
    assert told.size_counts.tolist() == [1, 2, 2, 1]
    assert (told.empty_rate, told.singleton_rate, told.singleton_hits) == (1 / 6, 2 / 6, 1 / 2)


def test_sscv_is_the_largest_gap_in_any_stratum(told):
    assert told.sscv == pytest.approx(max(abs(1 / 3 - 0.75), abs(2 / 3 - 0.75)))
    assert told.sscv_empty_apart == pytest.approx(0.75)


def test_sscv_strata_are_those_of_the_paper_and_none_drops_a_row():
    sizes = np.array([0, 1, 2, 3, 4, 10, 11, 100, 101, 1000, 1001, 99999])
    for size, stratum in zip(sizes, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5], strict=True):
        strata = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
        covered = strata != stratum
        assert sscv(covered, sizes, 0.1) == pytest.approx(0.9), size
    assert sscv(np.array([False, True]), np.array([0, 1]), 0.1) == pytest.approx(0.4)
    assert sscv(np.array([False, True]), np.array([0, 1]), 0.1, strata=EMPTY_APART) == pytest.approx(0.9)


def test_classes_and_groups_are_told_apart(told):
    assert [(share.name, share.n, share.coverage) for share in told.classes] == [(0, 3, 2 / 3), (1, 2, 0), (2, 1, 1)]
    assert told.worst_class.name == 1
    assert told.macro_coverage == pytest.approx((2 / 3 + 0 + 1) / 3)
    assert told.class_gap == pytest.approx((abs(2 / 3 - 0.75) + 0.75 + 0.25) / 3)
    assert [(share.name, share.n, share.coverage, share.mean_size) for share in told.groups] == [
        ("a", 2, 0.5, 0.5),
        ("b", 4, 0.5, 2.0),
    ]


def test_the_interval_is_clopper_pearson(told):
    expected = stats.binomtest(3, 6).proportion_ci(confidence_level=0.9, method="exact")
    assert told.interval == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert told.expected is None


def test_the_expected_range_is_the_beta_binomial_law_of_the_calibration():
    rng = np.random.default_rng(0)
    probs, labels = rng.dirichlet(np.ones(4), 150), rng.integers(0, 4, 150)
    rule = rs.calibrate(probs[:99], labels[:99])
    told = rs.evaluate(rule.predict(probs[99:], 0.1), labels[99:], confidence=0.8)
    law = stats.betabinom(51, 90, 10)
    assert told.expected == (law.ppf(0.1) / 51, law.ppf(0.9) / 51)
    other = rs.evaluate(rule.predict(probs[99:], 0.1), labels[99:], alpha=0.2)
    assert other.expected is None


def outcome(labels):
    """The evaluation of sets of a good model with these labels for the sets."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 400)
    probs = rng.dirichlet(np.ones(4), 400) * 0.5 + 0.5 * np.eye(4)[truth]
    rule = rs.calibrate(probs[:200], np.where(rng.random(200) < 0.8, truth[:200], (truth[:200] + 1) % 4))
    return rs.evaluate(rule.predict(probs[200:], 0.1), labels(truth[200:]))


@pytest.mark.parametrize(
    ("labels", "side", "questions", "others"),
    [
        (lambda truth: np.roll(truth, 1), "too low", TOO_LOW, TOO_HIGH),
        (lambda truth: truth, "too high", TOO_HIGH, TOO_LOW),
    ],
    ids=["too low", "too high"],
)
def test_coverage_outside_its_range_tells_what_to_check(labels, side, questions, others):
    told = outcome(labels)
    for text in (repr(told), unescape(told._repr_html_())):
        assert "OUTSIDE" in text
        assert f"Coverage is {side}. Chance alone does this in at most 0.05 of cases. Check:" in text
        assert all(question in text for question in (*questions, *BOTH))
        assert not any(question in text for question in others)


def test_coverage_inside_its_range_needs_no_advice():
    rng = np.random.default_rng(1)
    told = outcome(lambda truth: np.where(rng.random(200) < 0.8, truth, (truth + 1) % 4))
    assert "inside" in repr(told)
    assert "Check" not in repr(told)


def test_metrics_that_do_not_exist_are_named_with_those_that_do(told):
    with refused(MetricError.unknown("average size", tuple(METRICS))) as caught:
        told["average size"]
    assert isinstance(caught.value, KeyError)
    assert "'class gap'" in str(caught.value)
    with pytest.raises(KeyError):
        told[3]


def test_too_few_calibration_rows_leave_no_doubt():
    rule = rs.calibrate([[0.9, 0.1]] * 3, [0, 0, 1])
    with pytest.warns(rs.RanksetWarning, match="at least 9 calibration rows are needed for alpha=0.1, got 3"):
        sets = rule.predict([[0.9, 0.1]], 0.1)
    assert rs.evaluate(sets, [1]).expected == (1.0, 1.0)


def test_the_repr_reads_like_a_report(told):
    assert repr(told).splitlines() == [
        "Evaluation of 6 rows at alpha=0.25",
        "Coverage",
        "  coverage             0.5000  target 0.75; 90% interval from these rows 0.1532 to 0.8468",
        "  SSCV                 0.4167  largest gap to 0.75: sets of size 0–1 (3 rows, coverage 0.3333)",
        "  SSCV*                0.7500  the same with empty sets apart: sets of size 0 (1 rows, coverage 0.0000)",
        "Set size",
        "  size                 1.5000  mean; number of sets by size 0: 1, 1: 2, 2: 2, 3: 1",
        f"  singletons           0.3333  {METRICS['singletons'].explanation}",
        f"  singleton accuracy   0.5000  {METRICS['singleton accuracy'].explanation}",
        f"  empty                0.1667  {render_text(EMPTY_REMARK, PYTHON)}",
        "Classes",
        "  macro coverage       0.5556  mean over classes, rare and frequent ones alike; 90% interval 0.1459 to 0.9652",
        f"  class gap            0.3611  {METRICS['class gap'].explanation}",
        f"  RMS class gap        0.4787  {METRICS['RMS class gap'].explanation}",
        "  classes far below    0.3333  share of classes whose coverage is below 0.65; 90% interval 0.0000 to 1.0000",
        "  classes below 50%    0.3333  share of classes whose coverage is below 50 %; 90% interval 0.0000 to 1.0000",
        "  worst class          0.0000  coverage of class 1 (2 rows)",
        "Groups",
        "  group 'a'            0.5000  2 rows, mean size 0.500",
        "  group 'b'            0.5000  4 rows, mean size 2.000",
    ]


def test_the_repr_pools_many_sizes_and_leaves_out_what_is_not_there():
    sets = rs.PredictionSets.from_mask(np.tri(12, 12, dtype=bool)[:, :][1:])
    text = repr(rs.evaluate(sets, [0] * 11, alpha=0.1))
    assert "10–12: 3" in text
    assert "nan" not in text
    assert "singleton accuracy        –  no set has exactly one label" in text


def test_sets_without_a_level_ask_for_one():
    with refused(LevelError.missing()):
        rs.evaluate(rs.PredictionSets.from_mask(MASK), LABELS)
    assert rs.evaluate(rs.PredictionSets.from_mask(MASK, alpha=Fraction(1, 4)), LABELS).alpha == 0.25


@pytest.mark.parametrize("n", [1, 9, 100, 10_000, 1_000_000])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.9])
@pytest.mark.parametrize("q", [0.001, 0.05, 0.5, 0.95])
def test_beta_quantiles_are_those_of_scipy(n, share, q):
    k = max(1, round(n * share))
    ours = coverage_law.beta_quantile(q, k, n + 1 - k)
    assert ours == pytest.approx(stats.beta(k, n + 1 - k).ppf(q), rel=1e-9)
    assert coverage_law.beta_cdf(ours, k, n + 1 - k) == pytest.approx(q, rel=1e-7)


def test_beta_probabilities_outside_the_unit_interval_are_certain():
    assert (
        coverage_law.beta_cdf(-0.5, 2, 3),
        coverage_law.beta_cdf(0, 2, 3),
        coverage_law.beta_cdf(1, 2, 3),
        coverage_law.beta_cdf(7, 2, 3),
    ) == (
        0,
        0,
        1,
        1,
    )


@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (40, 9, 9), (40, 28, 30), (5000, 450, 499)])
def test_beta_binomial_probabilities_are_those_of_scipy(m, k, n):
    ours = coverage_law.beta_binomial(m, k, n + 1 - k)
    assert ours == pytest.approx(stats.betabinom(m, k, n + 1 - k).pmf(np.arange(m + 1)), abs=1e-12)


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (5, 5), (3, 7)])
def test_binomial_intervals_are_those_of_scipy(hits, n):
    expected = stats.binomtest(hits, n).proportion_ci(confidence_level=0.95, method="exact")
    assert coverage_law.binomial_interval(hits, n, 0.95) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_the_expected_range_has_no_upper_end_where_ties_or_filled_sets_raise_coverage():
    rng = np.random.default_rng(0)
    probs, labels = rng.dirichlet(np.ones(4), 150), rng.integers(0, 4, 150)

    def told(score, **options):
        return rs.evaluate(
            rs.calibrate(probs[:99], labels[:99], score=score).predict(probs[99:], 0.1, **options), labels[99:]
        )

    free, tied, filled = told(rs.Rank()), told(rs.TopK()), told(rs.Rank(), empty="top")
    assert free.expected[0] == tied.expected[0] == filled.expected[0]
    assert free.expected[1] < tied.expected[1] == filled.expected[1] == 1


def test_several_thresholds_or_unseen_groups_promise_no_range():
    probs, labels = np.tile([0.6, 0.4], (40, 1)), np.arange(40) % 2
    per_label = rs.calibrate(probs, labels, condition=rs.PerLabel()).predict(probs, 0.2)
    assert rs.evaluate(per_label, labels).expected is None
    one_group = rs.calibrate(probs, labels, condition=rs.PerGroup(), groups=["a"] * 40)
    with pytest.warns(rs.RanksetWarning, match="no calibration rows for group 'b'"):
        unseen = one_group.predict(probs, 0.2, groups=["b"] * 40)
    assert rs.evaluate(unseen, labels).expected is None
    assert rs.evaluate(one_group.predict(probs, 0.2, groups=["a"] * 40), labels).expected is not None


def test_coverage_outside_what_sampling_variation_explains_is_shouted():
    rng = np.random.default_rng(1)
    probs = rng.dirichlet(np.ones(4), 400)
    rule = rs.calibrate(probs[:200], probs[:200].argmax(axis=1))
    text = repr(rs.evaluate(rule.predict(probs[200:], 0.1), probs[200:].argmin(axis=1)))
    assert text.splitlines()[3].endswith("in 90% of calibrations: OUTSIDE")


def test_empty_sets_of_a_random_draw_are_not_blamed_on_unusual_labels():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.full(3, 0.1), 300)
    labels = probs.argmax(axis=1)
    told = repr(rs.evaluate(rs.calibrate(probs, labels, method=rs.Aps()).predict(probs, 0.2), labels))
    assert "no label passed the threshold (the random draw of APS, RAPS and SAPS can cause this in any row)" in told
    assert "predict(..., empty='top') gives none" in told


def test_coverage_that_is_too_high_asks_for_the_order_of_calibration_labels():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.full(10, 0.1), 4000)
    labels = np.array([rng.choice(10, p=row) for row in probs])
    rule = rs.calibrate(probs[:2000], rng.permutation(labels[:2000]))
    evaluation = rs.evaluate(rule.predict(probs[2000:], 0.2), labels[2000:])
    assert evaluation.coverage > evaluation.expected[1]
    assert "Were the calibration labels in another order than their rows?" in repr(evaluation)


def test_what_is_proven_of_folds_and_of_stratified_splits_is_told():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), 400)
    labels = rng.integers(0, 3, 400)
    one, two = (rs.calibrate(probs[part], labels[part]) for part in (slice(0, 100), slice(100, 200)))
    folds = rs.CrossRule((one, two))
    evaluation = rs.evaluate(folds.predict([probs, probs], 0.1), labels)
    assert evaluation.proven == evaluation.to_dict()["proven"] == folds.guarantee(0.1) < 0.9
    assert f"0.9 is usual for these sets; at least {folds.guarantee(0.1):.4f} is proven" in repr(evaluation)
    sets = one._without_guarantee().predict(probs, 0.1)
    for some in (sets, rs.PredictionSets.concat([sets[:9], sets[9:]]), sets[np.arange(50)]):
        assert "but nothing is proven" in repr(rs.evaluate(some, labels[: len(some)]))
    plain = rs.evaluate(one.predict(probs, 0.1), labels)
    assert plain.proven is None
    assert "proven" not in repr(plain)
    assert "proven" not in plain.to_dict()
