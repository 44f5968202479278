"""The laws of decisions: over all splits of small pools, the mean share of wrong accepted rows is at most the error.

Pools have ties, groups and several confidences. Decisions are made through ``triage`` and ``accept``; a slow reference
of Benjamini and Hochberg in fractions is the judge of single batches. Planted mistakes must be found.
"""

from fractions import Fraction
from itertools import combinations
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rankset as rs
from rankset.decisions import selection

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

errors = st.sampled_from([0.05, "0.1", 0.2, Fraction(1, 3), 0.4, 0.5, 0.7])
SCORES = [rs.Thr(), rs.Margin(), rs.TopTwo(), rs.Entropy(), rs.Correctness((0.1, 0.5, 0.3, -0.4), (0.0, 1.5, -0.7))]
CONDITIONS = [rs.Marginal(), rs.PerLabel(), rs.PerGroup(), rs.PerLabelAndGroup()]


@st.composite
def pools(draw, most=7):
    """Rows of three probabilities from a coarse grid, with labels and groups."""
    size = draw(st.integers(3, most))
    parts = draw(st.lists(st.tuples(*[st.integers(0, 3)] * 3).filter(any), min_size=size, max_size=size))
    probs = np.array([[Fraction(part, sum(row)) for part in row] for row in parts], dtype=float)
    labels = np.array(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    groups = np.array(draw(st.lists(st.sampled_from(["north", "south"]), min_size=size, max_size=size)))
    return probs, labels, groups


def shares_of_wrong(pool, n, error, score, condition, ids):
    """For every split and every group of the condition: the share of wrong rows among the accepted ones."""
    probs, labels, groups = pool
    named = condition.needs_groups
    for chosen in combinations(range(len(labels)), n):
        old = np.isin(np.arange(len(labels)), chosen)
        triage = rs.triage(
            probs[old],
            labels[old],
            confidence=score,
            condition=condition,
            groups=groups[old] if named else None,
        )
        done = triage.accept(
            probs[~old], error, groups=groups[~old] if named else None, ids=np.flatnonzero(~old) if ids else None
        )
        wrong = done.labels != labels[~old]
        where = {rs.Marginal(): np.zeros(len(wrong)), rs.PerLabel(): done.labels, rs.PerGroup(): groups[~old]}
        kinds = where.get(condition, [f"{one} {two}" for one, two in zip(done.labels, groups[~old], strict=True)])
        everywhere = np.unique([*kinds, *(["north"] if condition == rs.PerGroup() else [])])
        for name in everywhere:
            accepted = done.accepted & (np.asarray(kinds) == name)
            count = int(accepted.sum())
            yield name, Fraction(int((wrong & accepted).sum()), count) if count else Fraction(0)


def largest_mean(pool, n, error, score=rs.Thr(), condition=rs.Marginal(), *, ids=False):  # noqa: B008
    """The largest mean share of wrong rows over all splits, among the groups of the condition.

    Splits in which a group has no new rows count as 0 there.
    """
    totals, splits = {}, 0
    for name, share in shares_of_wrong(pool, n, error, score, condition, ids):
        totals[name] = totals.get(name, 0) + share
    for _ in combinations(range(len(pool[1])), n):
        splits += 1
    return max(totals.values(), default=Fraction(0)) / splits


@pytest.mark.parametrize("condition", CONDITIONS, ids=repr)
@pytest.mark.parametrize("score", SCORES, ids=lambda score: type(score).__name__)
@given(pool=pools(), n=st.integers(1, 6), error=errors)
def test_the_mean_share_of_wrong_rows_is_at_most_the_error(score, condition, pool, n, error):
    if n < len(pool[1]):
        assert largest_mean(pool, n, error, score, condition) <= Fraction(str(error))


def accepted_by_reference(old, wrong, new, error):
    """Benjamini and Hochberg in fractions: the largest k such that k rows have p-values of at most error k / m."""
    p_values = [
        Fraction(1 + sum(bad and one >= mine for one, bad in zip(old, wrong, strict=True)), len(old) + 1)
        for mine in new
    ]
    limits = [error * k / len(new) for k in range(len(new) + 1)]
    best = max(k for k in range(len(new) + 1) if k == 0 or sum(p <= limits[k] for p in p_values) >= k)
    return [best > 0 and p <= limits[best] for p in p_values], p_values


confidences = st.integers(-3, 4).map(float)


@given(
    old=st.lists(st.tuples(confidences, st.booleans()), min_size=1, max_size=40),
    new=st.lists(confidences, min_size=1, max_size=40),
    error=errors,
)
def test_accepted_rows_are_those_of_benjamini_and_hochberg(old, new, error):
    sure, right = zip(*old, strict=True)
    done = rs.triage(list(sure), list(right)).accept(new, error)
    accepted, p_values = accepted_by_reference(sure, [not one for one in right], new, Fraction(str(error)))
    assert done.accepted.tolist() == accepted
    assert done.p_values == pytest.approx([float(p) for p in p_values], abs=1e-15)
    if not any(accepted):
        smallest = done.smallest[0]
        assert any(accepted_by_reference(sure, [not one for one in right], new, smallest)[0])
        less = smallest - Fraction(1, 10**9)
        assert not any(accepted_by_reference(sure, [not one for one in right], new, less)[0])


def test_no_draw_makes_a_p_value_of_zero():
    wrong = rs.triage([0.9, 0.5], [False, False]).wrong
    groups, keys = np.zeros(2, dtype=np.int64), (np.array([-0.9, -0.95]),)
    for draws, parts in ((np.zeros(2), 1), (np.full(2, 1 - 2.0**-53), selection.UNITS)):
        assert selection.p_values_in_units(wrong, groups, keys, draws).tolist() == [2 * parts, parts]


@given(
    values=st.lists(st.integers(1, 30), min_size=1, max_size=30),
    n=st.integers(1, 30),
    error=errors,
    units=st.integers(1, 3),
)
@example(values=[1], n=1, error=0.5, units=1)
def test_large_integers_are_cut_like_small_ones(values, n, error, units):
    batch = selection.Counted.of(np.array(values))
    small = selection.largest_accepted(batch, n, units, Fraction(str(error)))
    with mock.patch.object(selection, "SAFE", 0):
        assert selection.largest_accepted(batch, n, units, Fraction(str(error))) == small
    fits = [
        value
        for value in values
        if Fraction(value, units * (n + 1)) <= Fraction(str(error)) * sum(one <= value for one in values) / len(values)
    ]
    assert small == max(fits, default=0)


def counted_without_itself(wrong, groups, keys, draws):
    """Planted: p = wrong rows / (n + 1), without the row itself."""
    return np.maximum(PLAIN(wrong, groups, keys, draws) - 1, 0)


def counted_strictly(wrong, groups, keys, draws):
    """Planted: rows that are exactly as sure do not count."""
    return (
        1 + wrong.before(groups, keys)[0] - wrong.offsets[groups] if len(wrong.keys[0]) else np.ones(len(groups), int)
    )


PLAIN = selection.p_values_in_units


@pytest.mark.parametrize("planted", [counted_without_itself, counted_strictly])
def test_planted_mistakes_break_the_law(planted):
    rng = np.random.default_rng(5)
    with mock.patch.object(selection, "p_values_in_units", planted):
        assert any(
            largest_mean(pool, 3, Fraction(2, 5)) > Fraction(2, 5) for pool in (random_pool(rng) for _ in range(60))
        )


def random_pool(rng, size=6):
    parts = rng.integers(1, 4, (size, 3))
    return parts / parts.sum(1, keepdims=True), rng.integers(0, 3, size), np.array(["north"] * size)


@pytest.mark.parametrize("score", [rs.Aps(), rs.TieBreak(rs.Thr())], ids=repr)
def test_draws_for_ties_are_not_those_of_a_randomised_score(score):
    """If they were, a small draw would mean both a sure answer and few ties, and a third of the accepted were wrong."""
    rng = np.random.default_rng(4)
    shares = []
    for turn in range(300):
        probs = rng.dirichlet(np.ones(4), 150) if isinstance(score, rs.Aps) else np.tile([0.4, 0.3, 0.2, 0.1], (150, 1))
        tops, ids = probs.argmax(axis=1), 1000 * turn + np.arange(150)
        labels = np.where(rng.random(150) < 0.5, tops, (tops + 1) % 4)
        triage = rs.triage(probs[:100], labels[:100], confidence=score, ids=ids[:100])
        done = triage.accept(probs[100:], 0.05, ids=ids[100:])
        shares.append((done.labels != labels[100:])[done.accepted].mean() if done.n_accepted else 0.0)
    assert np.mean(shares) <= 0.05 + 3 * np.std(shares) / np.sqrt(300)


def test_with_ids_the_mean_share_is_at_most_the_error_over_many_draws():
    """Ties are counted by a random part: the mean over splits and over ids keeps the error, and is closer to it."""
    sure = np.array([1.0] * 8 + [0.0] * 4)
    right = np.array([True, True, False, True] * 3)
    rng = np.random.default_rng(2)
    shares = {True: [], False: []}
    for turn in range(1500):
        order = rng.permutation(12)
        old, new = order[:8], order[8:]
        triage = rs.triage(sure[old], right[old], seed=turn)
        for ids in (True, False):
            done = triage.accept(sure[new], 0.3, ids=new if ids else None)
            shares[ids].append(np.mean(~right[new][done.accepted]) if done.n_accepted else 0.0)
    error = np.std(shares[True]) / np.sqrt(1500)
    assert np.mean(shares[True]) <= 0.3 + 3 * error
    assert np.mean(shares[True]) > np.mean(shares[False])
