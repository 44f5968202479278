"""Confidence intervals for the mean of numbers between 0 and 1, by the bounds of Hoeffding and Bentkus."""

import math

from rankset.core.coverage_law import beta_cdf, tails

STEPS = 60


def mean_interval(mean: float, n: int, confidence: float) -> tuple[float, float]:
    """Return a range that contains the expected value with probability ``confidence`` or more.

    ``mean`` is the mean of ``n`` independent numbers between 0 and 1.

    >>> low, high = mean_interval(0.9, 1000, 0.9)
    >>> round(low, 3), round(high, 3)
    (0.878, 0.919)
    """
    doubt, _ = tails(confidence)
    return 1 - _upper(1 - mean, n, doubt), _upper(mean, n, doubt)


def _upper(mean: float, n: int, doubt: float) -> float:
    """Return the largest expected value with which so small a mean is not too unlikely."""
    low, high = mean, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value_of_mean(mean, n, middle) > doubt else (low, middle)
    return high


def p_value_of_mean(mean: float, n: int, expected: float) -> float:
    """Return a bound on the probability of a mean as small as this."""
    if expected >= 1:
        return float(mean >= 1)
    count = min(n, math.ceil(n * mean - 1e-9))
    chance = 1.0 if count >= n else beta_cdf(1 - expected, n - count, count + 1)
    return min(math.exp(-n * relative_entropy(mean, expected)), math.e * chance)


def relative_entropy(share: float, expected: float) -> float:
    """Return the relative entropy of two variables that are 1 with these probabilities, and 0 otherwise.

    ``expected`` lies strictly between 0 and 1.
    """
    first = share * math.log(share / expected) if share > 0 else 0.0
    return first + ((1 - share) * math.log((1 - share) / (1 - expected)) if share < 1 else 0.0)
