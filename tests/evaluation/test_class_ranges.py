"""Intervals of metrics of classes: how often they hold with few rows per class, and what they say at their limits."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import rankset as rs
from rankset.evaluation.class_ranges import ClassCounts, class_ranges, most_classes
from rankset.evaluation.metrics import METRICS

CONFIDENCE = 0.9
REPEATS = 2000
LAWS = {
    "alike": lambda k: np.full(k, 0.9),
    "low": lambda k: np.full(k, 0.5),
    "spread": lambda k: stats.beta.ppf((np.arange(k) + 0.5) / k, 4, 0.6),
    "some missed": lambda k: np.where(np.arange(k) % 4 == 0, 0.3, 0.97),
    "certain": lambda k: np.where(np.arange(k) % 2 == 0, 1.0, 0.6),
}
ROWS = {
    "one": lambda k: np.ones(k, dtype=np.int64),
    "two": lambda k: np.full(k, 2),
    "few": lambda k: 1 + np.arange(k) % 7,
    "long tail": lambda k: np.maximum(1, 100 / (1 + np.arange(k))).astype(np.int64),
}


def drawn(law, rows, k):
    """Covered rows in many repetitions, and the coverage that each class has."""
    coverage, counts = LAWS[law](k), ROWS[rows](k)
    return ClassCounts(np.random.default_rng(0).binomial(counts, coverage, (REPEATS, k)), counts), coverage


@pytest.mark.parametrize("k", [4, 20, 100])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("law", LAWS)
def test_intervals_hold_as_often_as_they_say(law, rows, k):
    counts, coverage = drawn(law, rows, k)
    low, high = np.array(counts.macro_intervals(CONFIDENCE)).T
    assert np.mean((low <= coverage.mean() + 1e-12) & (coverage.mean() <= high + 1e-12)) >= CONFIDENCE - 0.03
    for level in (0.5, 0.8, 0.9):
        low, high = np.array(counts.below(np.full(REPEATS, level), CONFIDENCE)).T
        share = np.mean(coverage < level)
        assert np.mean((low <= share) & (share <= high)) >= CONFIDENCE


def test_many_rows_leave_no_doubt():
    rows = np.full(40, 20_000)
    coverage = np.where(np.arange(40) < 10, 0.7, 0.9)
    counts = ClassCounts(np.round(rows * coverage).astype(np.int64)[np.newaxis], rows)
    assert counts.below(np.array([0.8]), CONFIDENCE) == [(0.25, 0.25)]
    ((low, high),) = counts.macro_intervals(CONFIDENCE)
    assert low < 0.85 < high
    assert high - low < 0.003


def test_the_gap_that_chance_makes_is_taken_off():
    """Classes of equal coverage have the RMS gap 0; the gap that is not corrected grows as rows get fewer."""
    rng = np.random.default_rng(0)
    for n in (2, 5, 20):
        labels = np.repeat(np.arange(4000), n)
        covered, sizes = rng.random(len(labels)) < 0.9, np.ones(len(labels), dtype=np.int64)
        values = {name: METRICS[name].formula(covered, sizes, labels, Fraction(1, 10)) for name in METRICS}
        assert values["RMS class gap"] < 0.03
        assert values["class gap"] > 0.05
    spread = np.repeat(rng.choice([0.8, 1.0], 4000), 3)
    found = METRICS["RMS class gap"].formula(
        rng.random(12_000) < spread, np.ones(12_000, dtype=np.int64), np.repeat(np.arange(4000), 3), Fraction(1, 10)
    )
    assert found == pytest.approx(0.1, abs=0.02)


def test_classes_with_one_row_have_no_part_in_the_rms_gap():
    formula, alpha = METRICS["RMS class gap"].formula, Fraction(1, 4)
    sizes = np.ones(5, dtype=np.int64)
    covered, labels = np.array([True, False, True, True, False]), np.array([0, 0, 0, 0, 1])
    assert formula(covered, sizes, labels, alpha) == formula(covered[:4], sizes[:4], labels[:4], alpha)
    assert math.isnan(formula(covered[3:], sizes[3:], labels[3:], alpha))
    told = rs.evaluate(rs.PredictionSets.from_mask([[True, False], [True, True]]), [0, 1], alpha=0.25)
    assert "RMS class gap             –  no class has two rows" in repr(told)


def test_a_level_is_not_below_itself():
    covered, labels = np.arange(20) % 10 < 8, np.repeat([0, 1], 10)
    sizes = np.ones(20, dtype=np.int64)
    assert METRICS["classes far below"].formula(covered, sizes, labels, Fraction(1, 10)) == 0
    assert METRICS["classes far below"].formula(covered, sizes, labels, Fraction(9, 100)) == 1


def test_an_alpha_that_is_too_small_for_a_float_is_taken_as_0():
    told = rs.evaluate(rs.PredictionSets.from_mask([[True, False], [True, True]]), [0, 1], alpha="1e-400")
    assert told.ranges["classes far below"][0] == 0
    assert "share of classes whose coverage is below 0.9;" in repr(told)


@pytest.mark.parametrize(
    ("unnamed", "k", "error", "doubt"), [(76, 100, 0.05, 0.05), (3, 6, 0.25, 0.02), (0, 9, 0.25, 0.1)]
)
def test_the_number_of_classes_is_the_largest_that_is_not_too_unlikely(unnamed, k, error, doubt):
    possible = [one for one in range(unnamed, k + 1) if stats.binom.cdf(unnamed, one, 1 - error) > doubt]
    assert most_classes(unnamed, k, error, doubt) == max(possible)
    assert most_classes(k, k, error, doubt) == k


@pytest.mark.filterwarnings("error")
def test_no_classes_have_no_intervals():
    told = rs.evaluate(rs.PredictionSets.from_mask([[True, False]]), [rs.ABSENT], alpha=0.1)
    assert all(map(math.isnan, told.ranges["macro coverage"]))
    assert "nan" not in repr(told)
    ranges = class_ranges(ClassCounts(np.zeros((2, 0), dtype=np.int64), np.zeros(0, dtype=np.int64)), [], CONFIDENCE)
    assert set(ranges) == {"macro coverage", "classes far below", "classes below 50%"}


def test_frames_have_the_intervals():
    probs, labels = rs.datasets.load("marketing")
    told = rs.evaluate(rs.calibrate(probs, labels).predict(probs, 0.1), labels, confidence=0.8)
    frame = told.to_frame("pandas").set_index("metric")
    for name, ends in told.ranges.items():
        assert tuple(frame.loc[name, ["low", "high"]]) == ends
    assert np.isnan(frame.loc["class gap", "low"])
    classes = told.to_frame("pandas", of="classes")
    for row, share in zip(classes.itertuples(), told.classes, strict=True):
        exact = stats.binomtest(round(share.coverage * share.n), share.n).proportion_ci(0.8, method="exact")
        assert (row.low, row.high) == pytest.approx((exact.low, exact.high)) == share.interval(0.8)
    assert "80% interval" in told._repr_html_()
