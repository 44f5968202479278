"""Ranges of coverage keep their probability, also if parts of rows are missed. All probabilities here are exact."""

import math
from fractions import Fraction

import numpy as np
import pytest

import rankset as rs
from rankset.core import coverage_law
from rankset.core.promise import Promise, kept_rows

RNG = np.random.default_rng(3)
DOUBT = 0.05
"""Probability with which coverage may be below the low end of a 90 % range, and above the high end."""


def of_costs(n, weight):
    """Return a rule whose rows all have the same label; missing it costs ``weight`` of the largest cost."""
    probs = RNG.random((n, 1))
    probs = np.hstack([probs, 1 - probs])
    return rs.calibrate(probs, np.zeros(n, int), method="thr", target=rs.Cost({0: weight, 1: 1}))


def of_recall(n, weight):
    """Return a rule whose rows have ten labels, of which a set misses ``10 * weight`` or none."""
    first, close = 10 - int(10 * weight), 1 - 1e-9 * np.arange(int(10 * weight))
    probs = np.hstack([np.ones((n, first)), RNG.random((n, 1)) * close])
    return rs.calibrate(probs, np.ones((n, 10)), method="thr", target="recall", kind="marginals")


def missed(n, alpha, weight):
    """Return how many of ``n`` rows a threshold misses if each of them adds ``weight`` to the loss."""
    return math.floor(Promise(alpha).allowed(n) / weight)


@pytest.mark.parametrize("rule_of", [of_costs, of_recall])
@pytest.mark.parametrize("weight", [Fraction(9, 10), Fraction(3, 10), Fraction(1, 10), Fraction(1)])
@pytest.mark.parametrize("n", [18, 27, 99])
def test_coverage_is_seldom_outside_its_band(rule_of, weight, n):
    alpha = Fraction(1, 10)
    band, r = rule_of(n, weight).coverage_band(alpha), missed(n, alpha, weight)
    if r >= n:
        return  # every row may be missed: the loss is certain
    # The probability of missing a row is Beta(r + 1, n - r), and coverage is 1 minus the weight times it.
    below = 1 - coverage_law.beta_cdf(float((1 - band.low) / weight), r + 1, n - r)
    above = coverage_law.beta_cdf(float((1 - band.high) / weight), r + 1, n - r)
    assert below <= DOUBT
    assert above <= DOUBT
    assert band.outer
    assert band.low < 0.9 < band.high


@pytest.mark.parametrize("weight", [Fraction(9, 10), Fraction(3, 10), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize(("n", "m"), [(18, 200), (27, 30), (99, 100), (18, 5)])
def test_observed_shares_are_seldom_outside_what_is_expected(weight, n, m):
    alpha = Fraction(1, 10)
    r = missed(n, alpha, weight)
    law = rs.sets.CoverageLaw(kept_rows(n, Promise(alpha), shares=True), n, exact=True, outer=True)
    low, high = law.sampling_range(m, 0.9)
    observed = 1 - float(weight) * np.arange(m + 1) / m
    chances = coverage_law.beta_binomial(m, r + 1, n - r)
    assert chances[observed < low - 1e-12].sum() <= DOUBT
    assert chances[observed > high + 1e-12].sum() <= DOUBT
    assert low < 0.9 < high


def test_evaluate_expects_the_range_of_parts_of_rows():
    rule = of_recall(18, Fraction(9, 10))
    found = rs.evaluate(rule.predict(np.ones((200, 10)), 0.1), np.ones((200, 10)))
    assert found.expected == coverage_law.outer_sampling_range(200, 17, 18, 0.9)
    assert rule.coverage_band(0.1).low == coverage_law.outer_band(17, 18, 0.9)[0]


@pytest.mark.parametrize("n", [3, 8, 9, 10])
def test_ranges_of_few_rows(n):
    rule = of_recall(n, Fraction(9, 10))
    band, law = rule.coverage_band(0.1), rule.at(0.1).law
    if n < 9:
        assert (band.low, band.high) == (1, 1) == law.sampling_range(10, 0.9)
    else:
        assert 0 < band.low < band.high == 1
        assert 0 <= law.sampling_range(10, 0.9)[0] < law.sampling_range(10, 0.9)[1] == 1


def test_a_range_that_reaches_down_to_nothing():
    law = rs.sets.CoverageLaw(0, 2, exact=True, outer=True)
    assert law.sampling_range(4, 0.9) == (0, 1)
    assert coverage_law.outer_band(0, 1, 0.9) == (0, 1)
