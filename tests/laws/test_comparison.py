"""A comparison gives what users get who calibrate, predict and evaluate on the same halves, for every condition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset.core.alpha import exact_alpha
from rankset.evaluation.group_thresholds import threshold_law
from rankset.evaluation.metrics import METRICS
from rankset.evaluation.resampling import halves
from strategies import PER_SCORE, alphas, problems

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")


class FirstLabelApart:
    """The first label has a threshold, the second and third share one, all others have no group: they always stay."""

    needs_groups = False

    def count(self, n_columns, n_row_groups):
        return 2

    def numbers(self, columns, row_groups, n_columns, n_row_groups):
        return np.where(columns > 2, -1, np.minimum(columns, 1))


def by_hand(halves_of_rows, calibrate, evaluate):
    """Metrics (metric, split) of rules that are calibrated on one half and evaluated on the other."""
    values = [[evaluate(calibrate(cal), test)[name] for name in METRICS] for cal, test in halves_of_rows]
    return np.array(values).T


@PER_SCORE
@given(problems(min_rows=4), alphas, st.integers(0, 5))
def test_a_comparison_is_calibrating_predicting_and_evaluating(problem, alpha, seed):
    told = rs.compare(
        *(problem.probs, problem.labels, [alpha, 0.3]),
        scores=[problem.score],
        condition=problem.condition,
        ids=problem.ids,
        repeats=2,
        seed=seed,
        **problem.keywords,
    )
    for level in (alpha, 0.3):
        expected = by_hand(
            halves(problem.n, 2, seed),
            lambda cal: problem.rows(cal).calibrate(seed=seed),
            lambda rule, test, level=level: rs.evaluate(
                problem.rows(test).predict(rule, level), problem.labels[test], alpha=level
            ),
        )
        np.testing.assert_allclose(told[level].values[0], expected, rtol=1e-12)


@given(st.integers(0, 2**32), alphas, st.sampled_from([rs.Rank(), rs.Thr(), rs.Aps()]))
def test_cells_without_a_group_always_stay(seed, alpha, score):
    rng = np.random.default_rng(seed)
    probs = rng.multinomial(8, np.ones(5) / 5, 20) / 8
    labels, condition = rng.integers(0, 3, 20), FirstLabelApart()
    told = rs.compare(probs, labels, alpha, scores=[score], condition=condition, repeats=3)
    expected = by_hand(
        halves(20, 3, 0),
        lambda cal: rs.calibrate(probs[cal], labels[cal], score=score, condition=condition),
        lambda rule, test: rs.evaluate(rule.predict(probs[test], alpha), labels[test]),
    )
    np.testing.assert_allclose(told.values[0], expected, rtol=1e-12)


@given(st.integers(0, 2**32), alphas, st.sampled_from([rs.PerLabel(), rs.PerGroup(), rs.PerLabelAndGroup()]))
def test_padding_is_in_no_group(seed, alpha, condition):
    rng = np.random.default_rng(seed)
    rows = [rng.multinomial(6, np.ones(k) / k) / 6 for k in rng.integers(2, 6, 24)]
    labels = np.array([int(rng.integers(len(row))) for row in rows])
    groups = rng.choice(["a", "b"], 24) if condition.needs_groups else None
    ragged, options = rs.Ragged.of(rows), {"condition": condition, "score": rs.Thr()}
    told = rs.compare(ragged, labels, alpha, scores=[rs.Thr()], condition=condition, groups=groups, repeats=3)
    pick = (lambda half: {}) if groups is None else (lambda half: {"groups": groups[half]})
    expected = by_hand(
        halves(24, 3, 0),
        lambda cal: rs.calibrate(ragged[cal], labels[cal], **options, **pick(cal)),
        lambda rule, test: rs.evaluate(rule.predict(ragged[test], alpha, **pick(test)), labels[test]),
    )
    np.testing.assert_allclose(told.values[0], expected, rtol=1e-12)


@given(st.integers(0, 2**32), alphas, st.sampled_from([rs.Marginal(), rs.PerGroup()]), st.floats(0, 1))
def test_absent_labels_are_missed_and_count_in_their_groups(seed, alpha, condition, share):
    rng = np.random.default_rng(seed)
    probs = rng.multinomial(8, np.ones(4) / 4, 24) / 8
    labels = np.array([rs.ABSENT if rng.random() < share else int(one) for one in rng.integers(0, 4, 24)], dtype=object)
    groups = rng.choice(["a", "b", "c"], 24) if condition.needs_groups else None
    pick = (lambda half: {}) if groups is None else (lambda half: {"groups": groups[half]})
    told = rs.compare(probs, labels, alpha, scores=[rs.Thr()], condition=condition, groups=groups, repeats=3)
    expected = by_hand(
        halves(24, 3, 0),
        lambda cal: rs.calibrate(probs[cal], labels[cal], method="thr", condition=condition, **pick(cal)),
        lambda rule, test: rs.evaluate(rule.predict(probs[test], alpha, **pick(test)), labels[test]),
    )
    np.testing.assert_allclose(told.values[0], expected, rtol=1e-12)


LOGITS, TRUTH = rs.datasets.load("carer")
SITES = np.random.default_rng(0).choice(["north", "south"], len(TRUTH))


@pytest.mark.parametrize("condition", [rs.Marginal(), rs.PerLabel(), rs.PerGroup(), rs.PerLabelAndGroup()], ids=repr)
@pytest.mark.parametrize("seed", [0, -3])
def test_the_line_of_auto_is_auto_on_each_half(condition, seed):
    """``auto`` gets the calibration half alone, and the other half is asked of the rule that it returns."""
    groups = SITES if condition.needs_groups else None
    pick = (lambda half: {}) if groups is None else (lambda half: {"groups": groups[half]})
    told = rs.compare(
        *(LOGITS, TRUTH, [0.1, 0.25]),
        scores=[rs.Rank(), "auto"],
        condition=condition,
        groups=groups,
        kind="logits",
        repeats=3,
        seed=seed,
    )
    for alpha in (0.1, 0.25):
        expected = by_hand(
            halves(2000, 3, seed % 2**64),
            lambda cal, alpha=alpha: rs.auto(
                LOGITS[cal], TRUTH[cal], alpha, kind="logits", condition=condition, seed=seed, **pick(cal)
            ),
            lambda rule, test, alpha=alpha: rs.evaluate(rule.predict(LOGITS[test], alpha, **pick(test)), TRUTH[test]),
        )
        np.testing.assert_allclose(told[alpha].auto_values, expected, rtol=1e-12)


@given(st.integers(2, 9), st.integers(0, 9), st.sampled_from([0.1, 0.3, 0.5, 0.58]))
def test_thresholds_of_a_group_are_as_likely_as_over_all_halves(n, size, alpha):
    """All halves of few rows: how often the threshold is at or before each label of a group of the first rows."""
    size, n_cal, level = min(size, n), n // 2, exact_alpha(alpha)
    all_halves = list(itertools.combinations(range(n), n_cal))
    found = np.zeros(size)
    for half in all_halves:
        mine = [row for row in half if row < size]
        k = len(mine) + 1 - int((len(mine) + 1) * level)
        if k <= len(mine):
            found[sorted(mine)[k - 1] :] += 1
    law = threshold_law(size, n, n_cal, level)
    np.testing.assert_allclose(law.chances, found / len(all_halves), atol=1e-6)
