"""Binomial probabilities of many counts at once, beside those of SciPy."""

import numpy as np
import pytest
from scipy import stats

from rankset.core import binomial_tails


@pytest.mark.parametrize("share", [0.001, 0.2, 0.5, 0.9, 0.999])
def test_probabilities_are_those_of_scipy(share):
    rng = np.random.default_rng(0)
    n = np.concatenate((np.arange(1, 40), rng.integers(1, 5000, 400)))
    for hits in (rng.binomial(n, share), rng.binomial(n, 0.8), np.zeros_like(n), n):
        law = stats.binom(n, share)
        assert binomial_tails.at_most(hits, n, share) == pytest.approx(law.cdf(hits), abs=1e-10)
        assert binomial_tails.at_least(hits, n, share) == pytest.approx(law.sf(hits - 1), abs=1e-10)


def test_certain_rows_and_no_rows():
    hits, n = np.array([0, 1, 2]), np.array([2, 2, 2])
    assert binomial_tails.at_most(hits, n, 0.0).tolist() == [1, 1, 1]
    assert binomial_tails.at_most(hits, n, 1.0).tolist() == [0, 0, 1]
    assert binomial_tails.at_most(hits, n, -0.5).tolist() == [1, 1, 1]
    assert binomial_tails.at_least(hits, n, 1.0).tolist() == [1, 1, 1]
    assert binomial_tails.at_least(hits, n, 0.0).tolist() == [1, 0, 0]
    assert binomial_tails.at_most(hits[:0], n[:0], 0.5).shape == (0,)


def test_arrays_are_broadcast():
    hits, n, shares = np.array([[3, 4], [5, 6]]), np.array([10, 20]), np.array([[0.3], [0.6]])
    assert binomial_tails.at_most(hits, n, shares) == pytest.approx(stats.binom.cdf(hits, n, shares))
