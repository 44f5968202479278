"""The sequence of tests for a stream: binomial tests equal rational arithmetic, and walks keep the promise."""

import math
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest

import rankset as rs
from rankset.decisions import walk


def chance_of_at_most(n, wrong, error):
    return sum(math.comb(n, j) * error**j * (1 - error) ** (n - j) for j in range(wrong + 1))


@pytest.mark.parametrize("error", [Fraction(1, 100), Fraction(1, 50), Fraction(1, 20), Fraction(1, 5)])
@pytest.mark.parametrize("doubt", [Fraction(1, 100), Fraction(1, 80), Fraction(1, 20), Fraction(1, 10)])
def test_tests_equal_rational_arithmetic_up_to_300_rows(error, doubt):
    """For every n, the largest number of wrong rows that passes is that of fractions; it grows with n."""
    most = -1
    for n in range(1, 301):
        while most + 1 < n and chance_of_at_most(n, most + 1, error) <= doubt:
            most += 1
        passed = [wrong for wrong in range(min(n, most + 3) + 1) if walk.passes(n, wrong, error, doubt)]
        assert passed == list(range(most + 1))


def test_everything_wrong_never_passes():
    assert not walk.passes(0, 0, Fraction(1, 2), Fraction(1, 2))
    assert not walk.passes(5, 5, Fraction(99, 100), Fraction(1, 2))


def test_steps_come_from_rows_that_do_not_test():
    rng = np.random.default_rng(0)
    right, wrong = np.sort(rng.random(700)), np.sort(rng.random(300))
    steps = walk.steps_of((right,), (wrong,), None, (0, 0))
    fixing = set(steps.keys[0][:-1].tolist())
    assert steps.n == 900
    assert len(fixing) == 100
    tested = [[key for key in keys.tolist() if key not in fixing] for keys in (right, wrong)]
    assert sum(map(len, tested)) == steps.n
    for threshold, accepted, mistakes in zip(*steps[:1][0], steps.accepted, steps.wrong, strict=True):
        assert mistakes == sum(key <= threshold for key in tested[1])
        assert accepted == mistakes + sum(key <= threshold for key in tested[0])
    assert steps.keys[0][-1] == np.inf
    assert steps.share.tolist() == [*((np.arange(100) + 1) / 100).tolist(), 1.0]
    again = walk.steps_of((right,), (wrong,), None, (0, 0))
    assert again.keys[0].tolist() == steps.keys[0].tolist()
    assert walk.steps_of((right,), (wrong,), None, (1, 0)).keys[0].tolist() != steps.keys[0].tolist()


def test_rows_without_labels_fix_thresholds_and_all_others_test():
    steps = walk.steps_of((np.array([0.1, 0.2, 0.2]),), (np.array([0.2, 0.5]),), (np.array([0.2, 0.2, 0.3]),), (0, 0))
    assert steps.keys[0].tolist() == [0.2, 0.3, np.inf]
    assert (steps.accepted.tolist(), steps.wrong.tolist(), steps.n) == ([4, 4, 5], [1, 1, 2], 5)
    assert steps.share.tolist() == [2 / 3, 1.0, 1.0]


def test_starts_do_not_depend_on_what_is_right():
    rng = np.random.default_rng(1)
    keys = np.sort(rng.random(2000))
    cut = rng.random(2000) < 0.3
    fixing = (rng.random(200),)
    one = walk.steps_of((keys[~cut],), (keys[cut],), fixing, (0, 0))
    other = walk.steps_of((keys,), (keys[:0],), fixing, (0, 0))
    assert one.keys[0].tolist() == other.keys[0].tolist()
    error, part = Fraction(1, 20), Fraction(1, 80)
    assert list(walk._starts(one, error, part)) == list(walk._starts(other, error, part))


def test_a_walk_stops_at_the_first_failure_of_every_start():
    n = 1000
    accepted = np.arange(1, n + 1)
    wrong = np.where(accepted < 500, 0, accepted // 2)
    steps = walk.Steps((np.arange(n) / n,), accepted, wrong, accepted / n, n)
    assert walk.walk(steps, Fraction(1, 10), Fraction(1, 20)) == 498
    assert walk.walk(steps, Fraction(1, 1000), Fraction(1, 20)) is None


def test_a_walk_does_not_go_on_after_a_failure():
    accepted = np.arange(1, 1001)
    wrong = np.where((accepted > 300) & (accepted < 600), accepted, 0)
    steps = walk.Steps((np.arange(1000) / 1000,), accepted, wrong, accepted / 1000, 1000)
    with mock.patch.object(walk, "_starts", return_value=[200]):
        assert walk.walk(steps, Fraction(1, 10), Fraction(1, 20)) == 299
    with mock.patch.object(walk, "_starts", return_value=[200, 700]):
        assert walk.walk(steps, Fraction(1, 10), Fraction(1, 20)) == 999


def test_fixing_rows_are_drawn_by_the_rows():
    keys = np.arange(200.0)
    other = keys.copy()
    other[17] += 0.5
    drawn = [np.flatnonzero(walk._drawn((one,), (0, 0))).tolist() for one in (keys, keys.copy(), other)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert [len(one) for one in drawn] == [20] * 3


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize(("n", "error"), [(732, 0.05), (357, 0.1)])
def test_places_of_fixing_rows_depend_on_the_rows_and_not_on_their_number(n, error, tied):
    """With the same places for all data of a size, the least sure rows were left out of the tests of these sizes, and
    the gate accepted everything in a fifth of the calibrations."""
    rng = np.random.default_rng(3)
    turns = 400
    opened = 0
    for _ in range(turns):
        wrong = rng.random(n) < error + 0.0001
        sure = np.full(n, 0.9) if tied else rng.random(n) - 2 * wrong
        gate = rs.triage(sure, ~wrong).threshold(error)
        opened += bool(gate.accepted.any()) and np.isposinf(gate.thresholds.keys[0][0])
    assert opened / turns <= 0.05


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
@pytest.mark.parametrize(("error", "shape"), [(0.05, 6.0), (0.1, 1.5)])
def test_the_true_error_of_a_gate_exceeds_the_target_seldom(error, shape):
    """Confidences are uniform, and the chance that an answer is wrong is (1 - confidence) ** shape."""
    rng = np.random.default_rng(7)
    turns, exceeded, opened = 300, 0, 0
    for turn in range(turns):
        sure = rng.random(400)
        right = rng.random(400) >= (1 - sure) ** shape
        gate = rs.triage(sure, right).threshold(error, 0.9, seed=turn)
        if gate.accepted.any():
            least = max(0.0, -float(gate.thresholds.keys[0][0]))
            truth = (1 - least) ** shape / (shape + 1)  # the mean of (1 - c) ** shape over c from ``least`` to 1
            exceeded += truth > error
            opened += 1
    assert opened > turns / 2
    assert exceeded / turns <= 0.1 + 3 * math.sqrt(0.09 / turns)
