"""The paper as code: its worked example, its printed rule, its class-column score, its numbers."""

import csv
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import rankset as rs
from rankset.datasets import DATASETS, LONG_TAILED, ORDERED, load
from rankset.errors import RuleError, StorageError
from rankset.paper import METHODS, ClassColumn, printed_rule, resample
from rankset.paper.definitions import confident_errors
from rankset.paper.experiment import MEASURES
from refusals import refused

DATA = Path(__file__).parents[1] / "data"
SUBJECTS = {"marketing": "marketing", "college medicine": "medicine", "public relations": "relations"}


def figure_1():
    """10,000 rows with the two histograms of Figure 1: ranks of the true class, third largest probabilities."""
    n = 10_000
    thirds = np.concatenate(
        [
            np.linspace(low + 1e-4, low + 0.05 - 1e-4, int(n * share))
            for low, share in [(0, 0.4), (0.05, 0.35), (0.1, 0.1), (0.15, 0.1), (0.2, 0.05)]
        ]
    )
    thirds = np.random.default_rng(0).permutation(thirds)
    probs = np.zeros((n, 10))
    probs[:, 0], probs[:, 1], probs[:, 2] = 0.75 - thirds, 0.25, thirds
    shares = np.array([0.6, 0.26, 0.06, 0.04, 0.03, 0.01])
    labels = np.repeat(np.arange(6), np.rint(shares * n).astype(int))
    return probs, labels


FIGURE_1_TEST_ROW = [[0.55, 0.2, 0.15, 0.1, 0, 0, 0, 0, 0, 0]]


def test_the_rank_distribution_of_figure_1_gives_sets_of_two_or_three_labels():
    profile = rs.calibrate(*figure_1()).rank_profile(0.1)
    assert profile.distribution[:6].tolist() == [0.6, 0.26, 0.06, 0.04, 0.03, 0.01]
    assert profile.r_star == 3
    assert profile.size_bounds == (2, 3)


def test_the_printed_rule_keeps_three_labels_for_the_test_row_of_figure_1():
    rule = printed_rule(*figure_1(), 0.1)
    assert rule.r_star == 3
    assert rule.proportion == Fraction(2, 3)
    assert rule.expected_size == pytest.approx(2 + 2 / 3)
    assert 0 < rule.pi_star < 0.05  # two thirds of the third largest probabilities lie above: 0.15 certainly does
    assert rule.predict(FIGURE_1_TEST_ROW).to_lists() == [[0, 1, 2]]


def test_the_score_keeps_three_labels_for_the_test_row_of_figure_1_too():
    assert rs.calibrate(*figure_1()).predict(FIGURE_1_TEST_ROW, 0.1).to_lists() == [[0, 1, 2]]


def test_a_third_label_too_weak_for_figure_1_is_left_out():
    row = [[0.74, 0.25, 0.001, 0.009, 0, 0, 0, 0, 0, 0]]
    assert printed_rule(*figure_1(), 0.1).predict(row).to_lists() == [[0, 1]]


def test_the_mean_size_of_the_printed_rule_on_its_own_rows_is_r_star_minus_one_plus_p():
    probs, labels = figure_1()
    rule = printed_rule(probs, labels, 0.1)
    assert rule.predict(probs).sizes.mean() == pytest.approx(rule.expected_size, abs=1 / len(probs))


def test_the_printed_rule_keeps_everything_where_the_paper_leaves_it_undefined():
    probs, labels = figure_1()
    rule = printed_rule(probs[:5], labels[:5], 0.1)
    assert rule.predict(probs[:2]).sizes.tolist() == [10, 10]
    assert rule.expected_size == 10


def test_the_printed_rule_keeps_no_label_at_r_star_when_its_proportion_is_zero():
    probs = np.tile([0.6, 0.3, 0.1], (9, 1))
    rule = printed_rule(probs, [0] * 8 + [1], 0.1)  # one miss is allowed, and exactly one row has rank 2
    assert (rule.r_star, rule.proportion, rule.pi_star) == (2, 0, math.inf)
    assert rule.predict(probs[:1]).to_lists() == [[0]]


def coverage(rule_of, n=1000, trials=20):
    rng = np.random.default_rng(3)
    shares = []
    for _ in range(trials):
        probs, labels = confident_errors(rng, 2 * n)
        shares.append(rule_of(probs[:n], labels[:n])(probs[n:]).covers(labels[n:]).mean())
    return np.mean(shares)


def test_confident_errors_break_the_printed_rule_and_not_the_score():
    assert coverage(lambda p, y: printed_rule(p, y, 0.1).predict) < 0.83
    assert coverage(lambda p, y: lambda new: rs.calibrate(p, y).predict(new, 0.1)) == pytest.approx(0.9, abs=0.012)


def test_the_class_column_rule_is_near_its_level_there_without_a_guarantee():
    def rule_of(probs, labels):
        return lambda new: rs.calibrate(probs, labels, score=ClassColumn.fit(probs)).predict(new, 0.1)

    assert 0.88 < coverage(rule_of, trials=10) < 0.93


def test_the_class_column_score_is_the_displayed_formula():
    probs, labels = load("marketing")
    rule = rs.calibrate(probs, labels, score=ClassColumn.fit(probs))
    ranks = rs.calibrate(probs, labels, score=rs.TopK()).calibration.keys[0]
    shares = [
        (probs[:, y] >= row[y]).mean() + (row > row[y]).sum() + (row[:y] == row[y]).sum()
        for row, y in zip(probs, labels, strict=True)
    ]
    assert rule.calibration.keys[0] / len(probs) == pytest.approx(np.sort(shares))
    assert np.ceil(rule.calibration.keys[0] / len(probs)).astype(int).tolist() == ranks.tolist()


def test_rules_without_a_guarantee_say_so():
    probs, labels = load("marketing")
    assert "no finite-sample guarantee" in repr(rs.calibrate(probs, labels, score=ClassColumn.fit(probs)))
    assert "no finite-sample guarantee" in repr(printed_rule(probs, labels, 0.1))
    assert "guarantee" not in repr(rs.calibrate(probs, labels))
    with refused(
        StorageError,
        what="scores and conditions in a file",
        received="ClassColumn(n=260)",
        expected="be classes of rankset",
        remedy="Other classes are not saved, because loading them could run unknown code. "
        "Instead, keep the calibration data and calibrate again.",
    ):
        rs.calibrate(probs, labels, score=ClassColumn.fit(probs)).save("never-written.rankset")


def printed_sizes(method):
    """What the authors' notebooks print: (row, alpha) -> mean and standard deviation of the size."""
    with (DATA / "authors_on_mmlu.csv").open() as file:
        return {
            (SUBJECTS[line["data"]], line["alpha"]): (float(line["size_mean"]), float(line["size_sd"]))
            for line in csv.DictReader(file)
            if line["method"] == method
        }


def our_sizes(row, method, alphas, kind, repeats):
    measures = ["size"]
    options = {"methods": {method: METHODS[method]}, "measures": measures, "repeats": repeats}
    values, labels = load(row)
    results = resample(rs.softmax(values) if kind == "logits" else values, labels, alphas=alphas, **options)
    return {alpha: results.mean(method, alpha, "size") for alpha in alphas}


@pytest.mark.parametrize("row", SUBJECTS.values())
@pytest.mark.parametrize("kind", ["probs", "logits"], ids=["as stored", "as published"])
def test_rank_agrees_with_every_number_the_authors_notebooks_print(row, kind):
    printed = {alpha: size for (known, alpha), (size, _) in printed_sizes("RANK").items() if known == row}
    assert len(printed) == 11
    ours = our_sizes(row, "RANK", tuple(printed), kind, 2000)
    assert ours == pytest.approx(printed, abs=0.08)
    assert ours["0.1"] == pytest.approx(printed["0.1"], abs=0.07)


@pytest.mark.parametrize("row", SUBJECTS.values())
@pytest.mark.parametrize("method", ["APS", "RAPS", "SAPS"])
def test_the_rivals_sizes_come_back_when_softmax_is_taken_twice(row, method):
    size, sd = printed_sizes(method)[row, "0.1"]
    assert our_sizes(row, method, ("0.1",), "logits", 2000)["0.1"] == pytest.approx(size, abs=4 * sd / 10)


def test_and_not_on_the_probabilities_as_stored():
    size, sd = printed_sizes("APS")["marketing", "0.1"]
    assert our_sizes("marketing", "APS", ("0.1",), "probs", 2000)["0.1"] < size - 4 * sd / 10


def test_the_experiment_gives_what_rules_and_evaluations_give():
    probs, labels = load("relations")
    results = resample(probs, labels, alphas=(0.1, 0.2), repeats=1, seed=4)
    rows = np.random.default_rng(4).permutation(len(labels))
    cal, test = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    for name, score in METHODS.items():
        rule = rs.calibrate(probs[cal], labels[cal], score=score, seed=4)
        for alpha in (0.1, 0.2):
            told = rs.evaluate(rule.predict(probs[test], alpha), labels[test])
            expected = (told.coverage, told.mean_size, told.sscv, told.sscv_empty_apart, told.empty_rate)
            ours = tuple(results.mean(name, alpha, measure) for measure in MEASURES)
            assert ours == pytest.approx(expected)


def test_an_unknown_row_is_told_the_known_ones():
    with refused(
        RuleError.option(
            "name",
            "law",
            (
                "mnist",
                "fmnist",
                "cifar10",
                "cifar100",
                "marketing",
                "medicine",
                "relations",
                "agnews",
                "news20",
                "carer",
                "tweet",
                "news20_long_tail",
                "electricity",
                "goemotions",
            ),
        )
    ):
        load("law")


@pytest.mark.parametrize("row", DATASETS)
def test_every_row_has_its_scores(row):
    values, labels = load(row)
    assert len(values) == len(labels)
    assert labels.max() < values.shape[1]
    rs.calibrate(values, labels, kind=DATASETS[row].kind)


@pytest.mark.parametrize("name", LONG_TAILED)
def test_a_long_tail_has_the_shares_of_its_training_rows(name):
    about = LONG_TAILED[name]
    logits, labels = load(name)
    counts, found = np.array(about.counts), np.bincount(labels)
    assert logits.shape == (len(labels), len(about.classes))
    assert len(found) == len(counts)
    np.testing.assert_allclose(found / found.sum(), counts / counts.sum())
    assert counts.max() / counts.min() > 10
    first = np.bincount(labels[:1000], minlength=len(counts))
    assert (np.abs(first - 1000 * counts / counts.sum()) < 30).all()


@pytest.mark.parametrize("name", ORDERED)
def test_rows_in_the_order_of_time_drift(name):
    probs, labels = load(name)
    assert probs.shape == (len(labels), len(ORDERED[name].classes))
    assert (probs.sum(axis=1) == 1).all()
    rule = rs.calibrate(probs[:1000], labels[:1000])
    covered = rule.predict(probs[1000:], alpha=0.1).covers(labels[1000:])
    assert covered[-5000:].mean() < 0.8
