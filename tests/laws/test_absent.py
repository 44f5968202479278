"""Absent labels: keys after all others. What the guarantee says then, and a slow reference for every number."""

import warnings
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
import reference
from rankset.core import kernels
from rankset.core.alpha import exact_alpha, threshold_position
from strategies import PER_SCORE, SCORES, Problem, alphas, problems_with_absent, wide_rows

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")


def groups_of(problem):
    cells = zip(problem.labels, problem.groups, strict=True)
    return [reference.group(problem.condition, label, name) for label, name in cells]


def misses_of_all_left_out(problem, alpha):
    """How many rows of each group are missed by the rule of the other rows, absent labels among them, and sizes."""
    groups = groups_of(problem)
    misses = Counter(dict.fromkeys(groups, 0))
    for row in range(problem.n):
        rule = problem.rows(other for other in range(problem.n) if other != row).calibrate()
        alone = problem.rows([row])
        misses[groups[row]] += not alone.predict(rule, alpha).covers(alone.labels)[0]
    return misses, Counter(groups)


@given(problems_with_absent(max_rows=16, shared=False), alphas)
def test_left_out_rows_are_missed_as_often_as_alpha_allows_or_as_labels_are_absent(problem, alpha):
    """No set covers an absent label. Apart from that the promise holds: at most floor(alpha * rows) misses."""
    misses, sizes = misses_of_all_left_out(problem, alpha)
    absent = Counter(
        group for group, label in zip(groups_of(problem), problem.labels, strict=True) if label is rs.ABSENT
    )
    for name, size in sizes.items():
        allowed = int(size * exact_alpha(alpha))
        assert absent[name] <= misses[name] <= max(allowed, absent[name])


@given(problems_with_absent(score=st.just(rs.TieBreak(rs.Thr())), max_rows=16, shared=False), alphas)
def test_without_ties_the_number_of_misses_is_exact(problem, alpha):
    problem = Problem(
        problem.probs, problem.labels, problem.groups, list(range(problem.n)), problem.score, problem.condition
    )
    misses, sizes = misses_of_all_left_out(problem, alpha)
    absent = Counter(
        group for group, label in zip(groups_of(problem), problem.labels, strict=True) if label is rs.ABSENT
    )
    assert all(misses[name] == max(int(size * exact_alpha(alpha)), absent[name]) for name, size in sizes.items())


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_p_values_are_those_of_the_reference(score):
    @PER_SCORE
    @given(problems_with_absent(score=st.just(score), max_rows=12))
    def check(problem):
        expected = reference.p_values(problem, problem.probs, problem.groups, problem.ids)
        np.testing.assert_array_equal(
            problem.p_values(problem.calibrate()), [[float(value) for value in row] for row in expected]
        )

    check()


@given(problems_with_absent(), alphas)
def test_a_label_is_kept_exactly_if_its_p_value_is_above_alpha(problem, alpha):
    rule = problem.calibrate()
    kept = problem.p_values(rule) > float(exact_alpha(alpha))
    assert (problem.predict(rule, alpha).mask == kept).all()


@given(problems_with_absent(), alphas)
def test_a_threshold_exists_exactly_from_the_smallest_alpha_on(problem, alpha):
    rule = problem.calibrate(condition=rs.Marginal(), groups=None)
    absent = sum(label is rs.ABSENT for label in problem.labels)
    least = rule.smallest_alpha()
    assert least == Fraction(absent + 1, problem.n + 1)
    attained = exact_alpha(alpha) >= least
    assert (rule.threshold(alpha) is not None) == attained
    assert attained == (threshold_position(problem.n, exact_alpha(alpha)) <= problem.n - absent)
    if absent:
        assert rule.coverage_band(alpha).attained == attained == rule.at(alpha).law.attained
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sets = rule.predict(problem.probs, alpha, ids=problem.ids)
    about_rows = [one for one in caught if "Did you mean" not in str(one.message)]
    assert bool(about_rows) == (not attained)
    if not attained:
        assert sets.mask.all()


@given(problems_with_absent(min_rows=4), st.integers(1, 3))
def test_rules_of_parts_merge_to_the_rule_of_all_rows(problem, cut):
    whole = problem.calibrate()
    first, second = problem.rows(range(cut)), problem.rows(range(cut, problem.n))
    assert first.calibrate().merge(second.calibrate()) == whole
    assert second.calibrate().merge(first.calibrate()) == whole
    updated = first.calibrate().update(second.probs, second.labels, ids=second.ids, **second.keywords)
    assert updated == whole


@given(problems_with_absent())
def test_a_file_holds_the_rule(problem):
    import tempfile

    rule = problem.calibrate()
    with tempfile.NamedTemporaryFile(suffix=".rankset") as file:
        rule.save(file.name)
        assert rs.load(file.name) == rule


@pytest.mark.parametrize("score", [rs.Rank(), rs.Aps(), rs.TieBreak(rs.Rank())], ids=repr)
def test_compiled_loops_never_read_the_column_of_an_absent_label(score, monkeypatch):
    pytest.importorskip("numba")
    from rankset.core.kernels.compiled import CompiledLoops

    probs, labels = wide_rows(3, 40, 60, 3, np.float64)
    mixed = np.array([rs.ABSENT if row % 4 == 0 else int(label) for row, label in enumerate(labels)], dtype=object)
    plain = rs.calibrate(probs, mixed, score=score)
    seen = []

    class Watched(CompiledLoops):
        def label_ranks(self, probs, labels, *args, **options):
            seen.append((labels.min(), labels.max()))
            return super().label_ranks(probs, labels, *args, **options)

    monkeypatch.setattr(kernels, "choose", lambda *_: Watched())
    assert rs.calibrate(probs, mixed, score=score) == plain
    assert seen
    assert all(0 <= low <= high < 60 for low, high in seen)


def test_the_law_catches_absent_rows_that_are_dropped():
    rng = np.random.default_rng(4)
    probs = rng.dirichlet(np.ones(4), 40)
    labels = np.array([rs.ABSENT if row % 10 == 0 else int(rng.integers(4)) for row in range(40)], dtype=object)
    problem = Problem(probs, labels, ["all"] * 40, None, rs.Thr(), rs.Marginal())
    misses, _ = misses_of_all_left_out(problem, 0.2)
    assert misses[()] == 8
    dropped = 0
    for row in range(40):
        others = problem.rows(other for other in range(40) if other != row and labels[other] is not rs.ABSENT)
        alone = problem.rows([row])
        dropped += not alone.predict(others.calibrate(), 0.2).covers(alone.labels)[0]
    assert dropped > 8


@pytest.mark.parametrize("share", [0.02, 0.08, 0.1, 0.12, 0.3])
def test_bands_hold_the_coverage_at_least_as_often_as_they_say_for_every_share_of_absent_labels(share):
    """Coverage given the calibration is min(Beta, 1 - share): the promise is about all calibrations, with both ends."""
    generator, n, draws = np.random.default_rng(3), 60, 400
    below = above = 0
    for _ in range(draws):
        tops = generator.uniform(0.5, 1, n)
        labels = [rs.ABSENT if absent else 0 for absent in generator.random(n) < share]
        rule = rs.calibrate(np.column_stack((tops, 1 - tops)), labels, method=rs.Thr())
        band, threshold = rule.coverage_band(0.1), rule.threshold(0.1)
        kept = 1.0 if threshold is None else 2 * (1 + threshold[0])
        coverage = (1 - share) * kept
        below, above = below + (coverage < band.low), above + (coverage > band.high)
        assert np.isnan(band.mean) == bool(band.absent)
    assert below <= 0.05 * draws + 3 * (0.05 * 0.95 * draws) ** 0.5
    assert above <= 0.05 * draws + 3 * (0.05 * 0.95 * draws) ** 0.5


@pytest.mark.parametrize("share", [0.05, 0.12])
def test_expected_ranges_hold_the_coverage_of_new_rows_as_often_as_they_say(share):
    generator, n, draws = np.random.default_rng(4), 40, 400
    outside = 0
    for _ in range(draws):
        tops = generator.uniform(0.5, 1, 2 * n)
        probs = np.column_stack((tops, 1 - tops))
        labels = [rs.ABSENT if absent else 0 for absent in generator.random(2 * n) < share]
        sets = rs.calibrate(probs[:n], labels[:n], method=rs.Thr()).predict(probs[n:], 0.1)
        told = rs.evaluate(sets, labels[n:])
        outside += not told.expected[0] <= told.coverage <= told.expected[1]
    assert outside <= 0.1 * draws + 3 * (0.1 * 0.9 * draws) ** 0.5
