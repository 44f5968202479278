"""The guarantee itself: leave-one-out, share, and the beta-binomial law, with planted mistakes that must be caught."""

import math
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from generators import identical, imbalanced, one_hot, saturated, tied
from rankset.core import noise
from rankset.core.alpha import exact_alpha, threshold_position
from rankset.paper import printed_rule
from rankset.paper.definitions import confident_errors
from reference import group, key
from strategies import Problem, alphas, problems, scores

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")


def leave_one_out(problem, covers):
    """How many rows of each group have their label in the set calibrated on the other rows, and the group sizes."""
    groups = [group(problem.condition, label, name) for label, name in zip(problem.labels, problem.groups, strict=True)]
    hits = Counter(dict.fromkeys(groups, 0))
    for row in range(problem.n):
        others = problem.rows(other for other in range(problem.n) if other != row)
        hits[groups[row]] += bool(covers(others, problem.rows([row])))
    return hits, Counter(groups)


def least_hits(n, alpha):
    return n - math.floor(n * exact_alpha(alpha))


def keys_are_distinct(problem):
    noise_seed = noise.NoiseSeed.of(0, None if problem.ids is None else np.array(problem.ids, np.uint64))
    draws = noise.draws(problem.probs.astype(float), noise_seed)
    cells = [
        (group(problem.condition, label, name), key(problem.score, row, label, draw))
        for row, label, name, draw in zip(problem.probs, problem.labels, problem.groups, draws.tolist(), strict=True)
    ]
    return len(set(cells)) == len(cells)


@given(problems(shared=False), alphas)
def test_leaving_each_row_out_in_turn_covers_at_least_the_promised_number_of_every_group(problem, alpha):
    hits, sizes = leave_one_out(
        problem, lambda others, row: row.predict(others.calibrate(), alpha).covers(row.labels)[0]
    )
    exact = keys_are_distinct(problem)
    for name, size in sizes.items():
        assert hits[name] >= least_hits(size, alpha)
        if exact:
            assert hits[name] == least_hits(size, alpha)


@given(problems(score=scores.map(rs.TieBreak), max_rows=16, shared=False), alphas)
def test_with_ids_tie_breaking_makes_the_law_an_equality(problem, alpha):
    problem = replace(problem, ids=list(range(problem.n)))
    hits, sizes = leave_one_out(
        problem, lambda others, row: row.predict(others.calibrate(), alpha).covers(row.labels)[0]
    )
    assert all(hits[name] == least_hits(size, alpha) for name, size in sizes.items())


@dataclass(frozen=True)
class Families:
    """A condition of one's own: labels in families, which have a threshold in each of the ``GROUPS``, or in all."""

    members: int
    needs_groups: bool

    def count(self, n_columns, n_row_groups):
        return self._families(n_columns) * (n_row_groups if self.needs_groups else 1)

    def numbers(self, columns, row_groups, n_columns, n_row_groups):
        return row_groups * self._families(n_columns) + columns // self.members

    def _families(self, n_columns):
        return -(-n_columns // self.members)

    def name(self, label, group):
        return (label // self.members, group if self.needs_groups else None)


own_conditions = st.builds(Families, st.integers(1, 3), st.booleans())


@given(problems(condition=own_conditions), alphas)
def test_the_law_holds_in_every_group_of_an_own_condition(problem, alpha):
    groups = [problem.condition.name(*cell) for cell in zip(problem.labels, problem.groups, strict=True)]
    hits = Counter()
    for row in range(problem.n):
        others = problem.rows(other for other in range(problem.n) if other != row)
        one = problem.rows([row])
        hits[groups[row]] += bool(one.predict(others.calibrate(), alpha).covers(one.labels)[0])
    assert all(hits[name] >= least_hits(size, alpha) for name, size in Counter(groups).items())


def marginal_rank(rng, n, generator=confident_errors):
    probs, labels = generator(rng, n)
    return Problem(probs, labels, ["all"] * n, None, rs.Rank(), rs.Marginal())


def test_the_law_catches_the_printed_algorithm():
    problem = marginal_rank(np.random.default_rng(1), 120)

    def printed(others, row):
        return printed_rule(others.probs, others.labels, 0.1).predict(row.probs).covers(row.labels)[0]

    hits, sizes = leave_one_out(problem, printed)
    assert hits[()] < least_hits(sizes[()], 0.1)


def planted(position, keep):
    """The leave-one-out verdict of an engine with another position or another comparison."""

    def covers(others, row):
        keys = sorted(key(others.score, *cell, 0.0) for cell in zip(others.probs, others.labels, strict=True))
        k = position(len(keys))
        return k > len(keys) or keep(key(row.score, row.probs[0], row.labels[0], 0.0), keys[k - 1])

    return covers


def right_position(n):
    return n + 1 - (n + 1) // 10


def at_most(ours, bound):
    return ours <= bound


@pytest.mark.parametrize(
    ("generator", "position", "keep"),
    [
        pytest.param(confident_errors, lambda n: math.ceil(n * 0.9), at_most, id="a naive quantile"),
        pytest.param(confident_errors, lambda n: right_position(n) - 1, at_most, id="one position too low"),
        pytest.param(identical, right_position, lambda ours, bound: ours < bound, id="a tie dropped"),
    ],
)
def test_the_law_catches(generator, position, keep):
    problem = marginal_rank(np.random.default_rng(2), 25, generator)
    assert leave_one_out(problem, planted(right_position, at_most))[0][()] >= least_hits(25, 0.1)
    assert leave_one_out(problem, planted(position, keep))[0][()] < least_hits(25, 0.1)


def test_the_law_catches_one_position_too_high_because_distinct_keys_demand_equality():
    problem = marginal_rank(np.random.default_rng(2), 25)
    assert leave_one_out(problem, planted(right_position, at_most))[0][()] == least_hits(25, 0.1)
    assert leave_one_out(problem, planted(lambda n: right_position(n) + 1, at_most))[0][()] > least_hits(25, 0.1)


@given(problems(shared=False), alphas)
def test_calibration_rows_are_inside_their_own_sets_as_often_as_their_position_says(problem, alpha):
    rule = problem.calibrate()
    covered = problem.predict(rule, alpha).covers(problem.labels)
    groups = [group(problem.condition, label, name) for label, name in zip(problem.labels, problem.groups, strict=True)]
    for name, size in Counter(groups).items():
        inside = sum(hit for hit, where in zip(covered, groups, strict=True) if where == name)
        assert inside >= min(threshold_position(size, exact_alpha(alpha)), size)


GENERATORS = [(confident_errors, True), (saturated, False), (tied, False), (one_hot, False), (imbalanced, True)]
TRIALS, TEST_ROWS, LIMIT = 150, 40, 4.9


def z_of_coverage(generator, n, predict):
    """How many standard errors the mean covered count lies from its beta-binomial expectation at alpha = 0.1."""
    rng = np.random.default_rng(20240707)
    k, m = threshold_position(n, exact_alpha(0.1)), TEST_ROWS
    counts = []
    for _ in range(TRIALS):
        probs, labels = generator(rng, n + m)
        counts.append(predict(probs[:n], labels[:n], probs[n:]).covers(labels[n:]).sum())
    share = k / (n + 1)
    variance = m * share * (1 - share) * (n + 1 + m) / (n + 2)
    return (np.mean(counts) - m * share) / math.sqrt(variance / TRIALS) if variance else np.mean(counts) - m


@pytest.mark.parametrize("n", [9, 19, 30])
@pytest.mark.parametrize(("generator", "without_ties"), GENERATORS)
@pytest.mark.parametrize("score", [rs.Rank(), rs.Thr(), rs.Aps(), rs.Saps()])
def test_covered_counts_follow_the_beta_binomial_law(score, generator, without_ties, n):
    z = z_of_coverage(generator, n, lambda p, y, new: rs.calibrate(p, y, score=score).predict(new, 0.1))
    assert z > -LIMIT
    if without_ties:
        assert z < LIMIT


def test_the_beta_binomial_law_catches_the_printed_algorithm():
    z = z_of_coverage(confident_errors, 30, lambda p, y, new: printed_rule(p, y, 0.1).predict(new))
    assert z < -LIMIT
