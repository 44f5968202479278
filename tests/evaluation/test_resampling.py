"""Cells that no threshold can keep are left out: every number is the same as with all cells."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset.core.alpha import exact_alpha
from rankset.evaluation.metrics import METRICS, MeanOverRows
from rankset.evaluation.resampling import SortedCells, furthest_threshold, halves
from rankset.inputs.prepare import prepare
from rankset.rules.batch import Batch
from rankset.rules.spec import RuleSpec
from strategies import PER_SCORE, alphas, problems, problems_with_absent, wide_rows

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

FORMULAS = [metric.formula for metric in METRICS.values()]
MEANS = [formula for formula in FORMULAS if isinstance(formula, MeanOverRows)]


def numbers(data, score, level, furthest):
    spec = RuleSpec.of(score, rs.Marginal(), data.kind, 0, data.classes).learning(data)
    cells = SortedCells.of(Batch.of(spec, data), data.labels, furthest)
    n = len(data)
    measured = cells.measure(halves(n, 3, 1), data.labels, level, FORMULAS)
    return measured.tobytes(), cells.effects(n // 2, level, MEANS).tobytes()


def agree(data, score, level):
    furthest = furthest_threshold(len(data), [level])
    assert numbers(data, score, level, furthest) == numbers(data, score, level, None)


@PER_SCORE
@given(problems(min_rows=4), alphas)
def test_the_numbers_are_those_of_all_cells(problem, alpha):
    agree(prepare(problem.probs, problem.labels, ids=problem.ids), problem.score, exact_alpha(alpha))


@PER_SCORE
@given(problems_with_absent(min_rows=4), alphas)
def test_also_if_labels_are_absent(problem, alpha):
    agree(prepare(problem.probs, problem.labels, ids=problem.ids), problem.score, exact_alpha(alpha))


@given(st.integers(0, 2**32), alphas, st.sampled_from([rs.Rank(), rs.Thr(), rs.Aps(), rs.Temperature(0.7)]))
def test_also_if_rows_have_candidates_of_their_own(seed, alpha, score):
    rng = np.random.default_rng(seed)
    rows = [rng.multinomial(6, np.ones(k) / k) / 6 for k in rng.integers(1, 6, 24)]
    labels = [int(rng.integers(len(row))) for row in rows]
    agree(prepare(rs.Ragged.of(rows), labels), score, exact_alpha(alpha))


@pytest.mark.parametrize("score", [rs.Rank(), rs.Thr(), rs.Aps(), rs.Recalibrated(1.2)], ids=repr)
@pytest.mark.parametrize("grain", [1, 1e6])
def test_few_of_many_cells_are_sorted(score, grain):
    probs, _ = wide_rows(3, 400, 200, grain, np.float32)
    ranks = np.random.default_rng(0).geometric(0.5, 400).clip(1, 100) - 1
    labels = np.argsort(-probs, axis=1, kind="stable")[np.arange(400), ranks]
    data, level = prepare(probs, labels), Fraction(1, 10)
    agree(data, score, level)
    spec = RuleSpec.of(score, rs.Marginal(), "probs", 0, data.classes)
    found = SortedCells.of(Batch.of(spec, data), data.labels, furthest_threshold(400, [level]))
    if score == rs.Rank():
        assert len(found.rows) < 400 * 10


def test_the_furthest_threshold_is_that_of_the_smallest_alpha():
    assert furthest_threshold(1001, [Fraction(1, 10), Fraction(1, 2)]) == 501 + 451
    assert furthest_threshold(12, [Fraction(1, 10), Fraction(1, 2)]) is None
