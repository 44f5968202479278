"""Promises: the loss that calibration rows may have beyond a threshold, compared with searches in exact fractions."""

import math
import time
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from rankset.core.promise import Promise

LEVELS = [Fraction(1, 100), Fraction(1, 50), Fraction(1, 20), Fraction(1, 10), Fraction(1, 5)]


def binomial_cdf(n, alpha):
    """P(Bin(n, alpha) <= r) for r = 0 … n, as integers over alpha.denominator ** n."""
    hit, whole = alpha.numerator, alpha.denominator
    return list(accumulate(math.comb(n, j) * hit**j * (whole - hit) ** (n - j) for j in range(n + 1)))


@pytest.mark.parametrize("alpha", LEVELS)
def test_positions_with_a_confidence_equal_a_search_in_fractions(alpha):
    for n in range(1, 301):
        sums, whole = binomial_cdf(n, alpha), alpha.denominator**n
        for doubt in LEVELS:
            known = sum(total * doubt.denominator <= doubt.numerator * whole for total in sums) - 1
            assert Promise(alpha, 1 - doubt).allowed(n) == known, (n, doubt)


@pytest.mark.parametrize("alpha", LEVELS)
def test_without_a_confidence_it_is_the_usual_position(alpha):
    for n in range(300):
        assert n - math.floor(Promise(alpha).allowed(n)) == n + 1 - math.floor((n + 1) * alpha)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 3), (20, 10), (40, 7), (99, 50)])
@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2)])
@pytest.mark.parametrize("doubt", [Fraction(1, 20), Fraction(1, 5), Fraction(1, 2)])
def test_the_next_rows_equal_a_count_of_all_orders(n, m, alpha, doubt):
    """With r of n rows beyond the threshold, every order of the n + m rows is equally likely."""
    known = -1
    for r in range(n):
        worse = sum(
            math.comb(r + j, j) * math.comb(n - r - 1 + m - j, m - j) for j in range(math.floor(alpha * m) + 1, m + 1)
        )
        if Fraction(worse, math.comb(n + m, m)) <= doubt:
            known = r
    assert Promise(alpha, 1 - doubt, m).allowed(n) == known


def test_ties_of_probabilities_are_decided_exactly():
    assert Promise(Fraction(1, 2), Fraction(1, 2)).allowed(1) == 0
    assert Promise(Fraction(1, 2), Fraction(3, 4)).allowed(2) == 0
    assert Promise(Fraction(1, 2), Fraction(3, 4) + Fraction(1, 10**12)).allowed(2) == -1


def test_all_groups_at_once_share_the_doubt():
    one, ten = Promise(Fraction(1, 10), Fraction(19, 20)), Promise(Fraction(1, 10), Fraction(19, 20), n_groups=10)
    assert ten.allowed(500) == Promise(Fraction(1, 10), Fraction(199, 200)).allowed(500) < one.allowed(500)


@pytest.mark.parametrize("alpha", LEVELS)
@pytest.mark.parametrize("doubt", LEVELS)
def test_rows_needed_is_the_first_number_with_a_threshold(alpha, doubt):
    for promise in (Promise(alpha), Promise(alpha, 1 - doubt), Promise(alpha, 1 - doubt, shares=True)):
        needed = promise.rows_needed
        assert promise.allowed(needed) >= 0 > promise.allowed(needed - 1)
    assert Promise(alpha, 1 - doubt).rows_needed == math.ceil(round(math.log(doubt) / math.log(1 - alpha), 9))


@pytest.mark.parametrize("shares", [False, True])
@pytest.mark.parametrize(("power", "share"), [(9, 1e-6), (12, 1e-6), (30, 1e-8), (200, 1e-8), (400, 1e-8)])
def test_rows_needed_for_tiny_levels(power, share, shares):
    promise = Promise(Fraction(1, 10**power), Fraction(9, 10), shares=shares)
    assert float(promise.rows_needed / Fraction(10) ** power) == pytest.approx(math.log(10), rel=share)


def test_rows_needed_for_tiny_doubts():
    doubt = Fraction(1, 10**350)
    assert Promise(Fraction(1, 2), 1 - doubt).rows_needed == math.ceil(350 * math.log2(10))
    assert float(Promise(Fraction(1, 2), 1 - doubt, 1).rows_needed * doubt) == pytest.approx(1)


def test_rows_needed_for_many_next_rows_equals_a_search_and_is_fast():
    for m, alpha in ((1, Fraction(1, 3)), (7, Fraction(1, 4)), (500, Fraction(1, 10)), (3000, Fraction(1, 100))):
        promise = Promise(alpha, Fraction(19, 20), m)
        needed = promise.rows_needed
        assert promise.allowed(needed) >= 0 > promise.allowed(needed - 1)
    began = time.perf_counter()
    assert 28 <= Promise(Fraction(1, 10), Fraction(19, 20), 10**6).rows_needed <= 30
    assert time.perf_counter() - began < 1.5


def test_a_confidence_holds_in_simulated_calibrations():
    """Without ties the coverage of a calibration is a Beta variable: the k-th of n uniform numbers."""
    rng, n, alpha = np.random.default_rng(7), 200, 0.1
    k = n - int(Promise(Fraction(1, 10), Fraction(19, 20)).allowed(n))
    coverage = np.sort(rng.random((20_000, n)), axis=1)[:, k - 1]
    failed = float((coverage < 1 - alpha).mean())
    assert failed <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 20_000)
    assert (np.sort(rng.random((20_000, n)), axis=1)[:, k - 2] < 1 - alpha).mean() > 0.05


@pytest.mark.parametrize("n", [30, 100, 1000])
def test_losses_between_0_and_1_keep_the_confidence(n):
    """Losses of 0, 1/2 and 1; the threshold is the loosest one with a sum of losses that is allowed."""
    rng, alpha = np.random.default_rng(8), 0.2
    allowed = float(Promise(Fraction(1, 5), Fraction(9, 10), shares=True).allowed(n))
    assert allowed >= 0
    halves, failed = 4000, 0
    for _ in range(halves):
        first, second = rng.random(n), rng.random(n)  # a label is missed if its number is above the threshold
        keys = np.sort(np.concatenate([first, second]))[::-1]
        beyond = np.arange(len(keys)) / 2
        threshold = keys[np.flatnonzero(beyond <= allowed)[-1]]
        failed += (1 - threshold) > alpha
    assert failed / halves <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / halves)


@pytest.mark.parametrize("n", [25, 60, 200, 2000])
@pytest.mark.parametrize("alpha", LEVELS[2:])
@pytest.mark.parametrize("doubt", LEVELS[1:])
def test_losses_are_allowed_as_far_as_the_bounds_of_hoeffding_and_bentkus_go(n, alpha, doubt):
    """Computed another way: the binomial by a sum of logarithms, the exponential bound by its definition."""

    def p_value(loss):
        share, level = loss / n, float(alpha)
        if share >= level:
            return 1.0
        first = share * math.log(share / level) if share else 0.0
        hoeffding = math.exp(-n * (first + (1 - share) * math.log((1 - share) / (1 - level))))
        logs = [
            math.lgamma(n + 1)
            - math.lgamma(j + 1)
            - math.lgamma(n - j + 1)
            + j * math.log(level)
            + (n - j) * math.log1p(-level)
            for j in range(math.ceil(loss - 1e-9) + 1)
        ]
        return min(hoeffding, math.e * math.fsum(map(math.exp, logs)))

    allowed = float(Promise(alpha, 1 - doubt, shares=True).allowed(n))
    if allowed < 0:
        assert p_value(0.0) > doubt
    else:
        assert p_value(allowed) <= doubt * (1 + 1e-9)
        assert p_value(allowed + 1e-4) > doubt
