"""Streams: the miss rate keeps its bound for every sequence, and p-values of exchangeable rows are uniform."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankset as rs
from rankset.streams import bag as bags
from rankset.streams.bag import Bag, Draws
from rankset.streams.betting import EXPONENTS, FACTORS, N_BETS, MissBets, Wealth, densities
from rankset.streams.levels import Adaptive, Decaying, Fixed
from rankset.streams.stepped_level import UNIT

SEQUENCES = 10_000


def adversary(rng, method, alpha, n):
    """Play against a level: rows are missed wherever that is possible, or wherever the mood of the moment says so.

    A row that was issued at a level of 0 or less cannot be missed, one at 1 or more always is. Labels come late, in any
    order, or never. Returns the misses, the labels, the state and the largest delay, counted here.
    """
    state, waiting, misses, labels, largest, issued = method._start(alpha), [], 0, 0, 0, 0
    late, lost, mood = int(rng.integers(0, 30)), rng.random() * 0.3, rng.random()
    while issued < n:
        for _ in range(int(rng.integers(1, 6))):
            level = Fraction(*state.parts)
            missed = level >= 1 or (level > 0 and bool(rng.random() < mood))
            waiting.append((issued, missed))
            issued += 1
        mood = float(rng.choice([0.0, 1.0, mood, float(alpha)], p=[0.03, 0.03, 0.9, 0.04]))
        rng.shuffle(waiting)
        late_rows = [one for one in waiting if issued - 1 - one[0] > late]
        due = late_rows + [one for one in waiting if one not in late_rows and rng.random() < 0.4]
        waiting = [one for one in waiting if one not in due]
        for number, missed in due:
            if rng.random() < lost:
                continue
            largest = max(largest, issued - 1 - number)
            state.learn(missed, 1.0, issued - 1 - number)
            misses, labels = misses + missed, labels + 1
    return misses, labels, state, largest


def worst_excess(n_sequences, seed):
    rng = np.random.default_rng(seed)
    worst = Fraction(-1)
    for _ in range(n_sequences):
        alpha = Fraction(int(rng.integers(1, 100)), 100)
        step = None if rng.random() < 0.5 else float(rng.choice([0.001, 0.01, 0.05, 0.5, 1.0]))
        method = Decaying() if rng.random() < 0.2 else Adaptive(step)
        misses, labels, state, largest = adversary(rng, method, alpha, int(rng.integers(1, 150)))
        if labels:
            assert (state.misses, state.rows, state.delay) == (misses, labels, largest)
            worst = max(worst, abs(Fraction(misses, labels) - alpha) - state.bound)
    return worst


def test_the_miss_rate_keeps_its_bound_against_adversaries():
    assert worst_excess(600, 0) <= 0


@pytest.mark.slow
def test_the_miss_rate_keeps_its_bound_against_ten_thousand_adversaries():
    assert worst_excess(SEQUENCES, 1) <= 0


@pytest.mark.parametrize("step", [0.01, 0.25])
@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(7, 10)])
def test_with_one_step_and_no_delay_the_bound_is_the_formula(step, alpha):
    state = Adaptive(step)._start(alpha)
    for missed in (True, False, False, True):
        state.learn(missed, 1.0, 0)
    used = Fraction(math.floor(UNIT * Fraction(str(step))), UNIT)
    assert state.bound == (max(alpha, 1 - alpha) + used) / (used * 4)


def test_the_bound_is_attained_up_to_one_step():
    """Rows that are missed whenever they can be: the level falls to 0, and stays there."""
    alpha, state = Fraction(1, 10), Adaptive(0.01)._start(Fraction(1, 10))
    for _ in range(1000):
        state.learn(state.parts[0] > 0, 1.0, 0)
    rate = Fraction(state.misses, state.rows)
    low = (alpha - 2 * Fraction(1, 100)) / (Fraction(1, 100) * 1000)
    assert low <= rate - alpha <= state.bound


def test_a_fixed_level_has_no_bound():
    state = Fixed()._start(Fraction(1, 10))
    state.learn(missed=True, p_value=1.0, delay=0)
    assert state.bound is None
    assert Fraction(*state.parts) == Fraction(1, 10)


SCORES = ("thr", "rank", "aps", "raps", "saps", "margin", "topk", rs.Share(), rs.TieBreak(rs.TopK()))
CONDITIONS = (
    rs.Marginal(),
    rs.PerLabel(),
    rs.PerGroup(),
    rs.Pooled(),
    rs.Pooled(rs.PerGroup()),
    rs.Balanced([1, 2, 3]),
)


def hostile_label(rng, kept, wish, n_classes):
    """A label that the set has, or one that it has not, if there is one."""
    inside = [column for column in range(n_classes) if (column in kept) == wish]
    return int(rng.choice(inside)) if inside else int(rng.integers(n_classes))


def play(rng, stream, outputs, own):
    """Choose labels that see the sets, tell them late, in any order, or never; compare every rate with its bound."""
    waiting, late, wish = [], int(rng.integers(0, 12)), bool(rng.integers(2))
    for number in range(60):
        rows = outputs[rng.integers(0, len(outputs), int(rng.choice([1, 1, 2, 5])))]
        groups = {} if own is None else {"groups": rng.choice(own, len(rows))}
        names = [f"{number}/{place}" for place in range(len(rows))]
        for name, kept in zip(names, stream.predict(rows, ids=names, **groups).to_lists(), strict=True):
            waiting.append((name, hostile_label(rng, kept, wish, stream.spec.n_columns)))
        wish = wish if rng.random() < 0.98 else not wish
        rng.shuffle(waiting)
        told, waiting = waiting[late:], waiting[:late]
        told = [one for one in told if rng.random() > 0.1]
        if told:
            stream.update([int(label) for _, label in told], ids=[name for name, _ in told])
            rate = Fraction(stream.misses, stream.n_labels)
            assert abs(rate - stream._alpha) <= stream._state.bound


def agree(rng, stream, outputs, own):
    """Choose labels in the sets of two equal rows each, at once: only a level of 1 and empty sets can miss them."""
    for _ in range(60):
        groups = {} if own is None else {"groups": own}
        rows = outputs[rng.integers(0, len(outputs), 2)]
        kept = stream.predict(rows, **groups).to_lists()
        stream.update([hostile_label(rng, one, wish=True, n_classes=stream.spec.n_columns) for one in kept])
        assert abs(Fraction(stream.misses, stream.n_labels) - stream._alpha) <= stream._state.bound


@pytest.mark.parametrize("kind", ["probs", "logits", "decision", "binary"])
@pytest.mark.parametrize("condition", CONDITIONS, ids=repr)
def test_the_bound_holds_through_every_path_of_a_stream(kind, condition):
    """Single rows, batches, every score and condition: sets have every label at a level of 0, and none at 1."""
    fits = {"decision": ("thr", "rank", "margin", "topk")}.get(kind, SCORES)
    for seed, method in enumerate(fits):
        rng = np.random.default_rng(seed)
        if kind == "binary" and isinstance(condition, rs.Balanced):
            continue
        n_classes = 2 if kind == "binary" else 3
        probs = rng.dirichlet(np.ones(n_classes) * 0.5, 40)
        outputs = {"probs": probs, "binary": probs[:, 1]}.get(kind, np.log(probs + 1e-9))
        own = np.array(["a", "b"]) if condition.needs_groups else None
        groups = {} if own is None else {"groups": own[np.arange(40) % 2]}
        rule = rs.calibrate(outputs, probs.argmax(axis=1), kind=kind, method=method, condition=condition, **groups)
        options = {"window": int(rng.choice([1, 5, 40])), "level": rs.Adaptive(float(rng.choice([0.1, 0.5, 1.0])))}
        play(rng, rs.Stream(rule, alpha=Fraction(int(rng.integers(1, 6)), 10), **options), outputs, own)
        same, label = np.stack([outputs[0]] * 40), np.full(40, probs[0].argmax())
        rule = rs.calibrate(same, label, kind=kind, method=method, condition=condition, **groups)
        agree(rng, rs.Stream(rule, alpha=0.4, level=rs.Adaptive(0.25)), same, own)


@pytest.mark.parametrize("method", SCORES, ids=repr)
@pytest.mark.parametrize("rows", [1, 2])
def test_sets_at_a_level_of_1_are_empty_and_at_0_have_every_label(method, rows):
    probs = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    rule = rs.calibrate(probs, probs.argmax(axis=1), method=method)
    stream = rs.Stream(rule, alpha=0.1)
    stream._state.units = 2 * stream._state.parts[1]
    assert stream.predict(probs[:rows]).sizes.tolist() == [0] * rows
    stream._state.units = -1
    assert stream.predict(probs[:rows]).sizes.tolist() == [3] * rows


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(["thr", "rank", "aps"]), st.sampled_from([1, 7]))
def test_the_bound_holds_through_the_stream_with_a_hostile_model(seed, method, batch):
    """Outputs are noise, labels are the least likely class half of the time, rows come in batches, labels late."""
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.ones(4) * 0.3, 120)
    labels = np.where(rng.random(120) < 0.5, probs.argmin(axis=1), probs.argmax(axis=1))
    rule = rs.calibrate(probs[:20], probs[:20].argmax(axis=1), method=method)
    stream = rs.Stream(rule, alpha=0.2, window=15, level=rs.Adaptive(0.1))
    for start in range(20, 120, batch):
        sets = stream.predict(probs[start : start + batch], ids=range(start, min(120, start + batch)))
        assert len(sets) == len(probs[start : start + batch])
        due = [row for row in range(20, start + 1) if row in stream._waiting.rows and rng.random() < 0.5]
        if due:
            stream.update(labels[due], ids=due)
    assert abs(stream._state.bound) >= abs(Fraction(stream.misses, stream.n_labels) - Fraction(1, 5))


class KnownDraws(Draws):
    """Draws in the order given: 0 for ties, then the place inside the interval."""

    def __init__(self, numbers):
        self.numbers, self.count = list(numbers), 0

    def draw(self):
        self.count += 1
        return self.numbers.pop(0)


def interval(most, start, rest):
    """The intervals in which the p-values of ``rest`` lie, for rows without ties, as fractions (low, high)."""
    found = []
    ends = []
    for part in (0.0, 1.0):
        bag = Bag(KnownDraws([0.0] * len(start)), most)
        bag.start([(one,) for one in sorted(start)])
        own = []
        for row in rest:
            bag.draws.numbers += [0.0, part]
            own.append(bag.p_value((row,)))
        ends.append(own)
    for low, high in zip(*ends, strict=True):
        found.append((Fraction(low).limit_denominator(1000), Fraction(high).limit_denominator(1000)))
    return tuple(found)


@pytest.mark.parametrize(
    ("n", "n_start", "most"), [(5, 0, 100), (5, 2, 100), (6, 3, 3), (6, 4, 2), (6, 0, 2), (6, 2, 1)]
)
def test_p_values_of_exchangeable_rows_are_uniform_and_independent_of_the_past(n, n_start, most):
    """Over all orders of n different rows, also where only some are kept as limits: given the intervals of all earlier
    p-values, the next one lies in each interval with a probability that is the length of the interval, exactly."""
    seen = {}
    for order in permutations(range(n)):
        for path in [interval(most, order[:n_start], order[n_start:])]:
            for length in range(1, len(path) + 1):
                seen.setdefault((length, path[: length - 1]), []).append(path[length - 1])
    for followed in seen.values():
        for low, high in set(followed):
            assert Fraction(followed.count((low, high)), len(followed)) == high - low
        mean = sum((low + high) / 2 for low, high in followed) / len(followed)
        assert mean == Fraction(1, 2)


def test_p_values_with_ties_have_mean_one_half_over_which_row_came_last():
    """Rows may be equal: over which of them came last, and all orders of the draws for ties, the mean is one half."""
    rows = [0, 0, 1, 2, 2, 2]
    means = []
    for last, order in product(range(6), permutations(range(6))):
        entries = sorted((rows[one], order[one]) for one in range(6) if one != last)
        above = sum(entry > (rows[last], order[last]) for entry in entries)
        means.append(Fraction(2 * above + 1, 12))
    assert sum(means) / len(means) == Fraction(1, 2)
    rng, found = np.random.default_rng(0), []
    for _ in range(4000):
        bag = Bag(Draws(int(rng.integers(2**60))))
        mixed = rng.permutation(rows).tolist()
        bag.start(sorted((one,) for one in mixed[:5]))
        found.append(bag.p_value((mixed[5],)))
    assert abs(np.mean(found) - 0.5) < 4 * np.sqrt(1 / 12 / 4000)


def test_a_fixed_bag_would_not_be_uniform_given_the_past():
    """The control: against a bag that does not grow, a small p-value makes a small one more likely."""
    seen = []
    for order in permutations(range(5)):
        start = sorted(order[:2])
        first, second = (sum(one > row for one in start) for row in order[2:4])
        seen.append((first, second))
    after = [second for first, second in seen if first == 0]
    assert Fraction(after.count(0), len(after)) > Fraction(1, 3)


def test_densities_integrate_to_one():
    grid = (np.arange(400_000) + 0.5) / 400_000
    sums = np.zeros(N_BETS)
    for start in range(0, len(grid), 40):
        sums += densities(float(grid[start + 20])) * 40 / len(grid)
    assert N_BETS == 30
    smooth = len(FACTORS)
    assert np.allclose(sums[[0, *range(1 + smooth, N_BETS)]], 1, atol=2e-4)
    for (a, b), factor in zip(EXPONENTS + 1, FACTORS, strict=True):
        assert math.isclose(math.exp(factor), math.gamma(a + b) / math.gamma(a) / math.gamma(b))


def test_bets_on_misses_are_fair_at_the_tolerated_rate_and_lose_below_it():
    bets = MissBets(0.11)
    at = 0.11 * bets.after_miss + 0.89 * bets.after_cover
    below = 0.05 * bets.after_miss + 0.95 * bets.after_cover
    assert np.allclose(at, 1)
    assert (below[1:] < 1).all()


def test_wealth_is_the_product_of_means_with_a_fixed_share():
    rng, wealth, n = np.random.default_rng(3), Wealth(0.05, 4), 30
    factors = rng.uniform(0.2, 3, (n, 4))
    own, start = [Fraction(1, 2), *[Fraction(1, 6)] * 3], [Fraction(1, 2), *[Fraction(1, 6)] * 3]
    moved = Fraction(1, 1000)
    for row in factors:
        total = sum(own)
        own = [
            ((1 - moved) * one + moved * total * first) * Fraction(f)
            for one, first, f in zip(own, start, row, strict=True)
        ]
    for number, row in enumerate(factors):
        wealth.learn(row, number, number)
    assert math.isclose(wealth.log, math.log(sum(own)), rel_tol=1e-9)


def test_the_limits_of_a_large_start_are_evenly_spread():
    bag = Bag(Draws(0), 4)
    bag.start([(one,) for one in range(19)])
    assert [limit[0] for limit in bag.limits] == [3, 7, 11, 15]
    assert bag.counts == [3, 3, 3, 3, 3]
    assert bags.MOST == 8192
