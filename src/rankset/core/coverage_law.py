"""The law of coverage over all calibrations of one size, exact for every size.

Let the threshold be the k-th of n sorted keys without ties. Then the share of future rows that are covered follows
Beta(k, n+1-k), and the number of covered rows among the next m follows BetaBinomial(m, k, n+1-k). Ties only raise it.

If a part of a row can be missed, coverage is 1 minus the mean loss, and there is no such law. Let every loss be rounded
to 0 or 1 at random, to 1 with the probability that is its value. A rounded row is missed or not, so it follows the law.
A sum of rounded losses is at most the sum of the losses, rounded up, with probability at least 1/2, and at least this
sum, rounded down, too (Jogdeo and Samuels 1968). So what the law allows with probability p for rounded losses has at
most the probability 2 p for the losses themselves, or 4 p if there are two sums, of calibration and of test rows.
"""

import math

import numpy as np
from numpy.typing import NDArray

from rankset.errors import KindError

STEPS = 200
TINY = 1e-300
PRECISION = 1e-15


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b).

    >>> round(beta_cdf(0.5, 2, 2), 12)
    0.5
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(1 - x, b, a)
    return math.exp(_log_front(x, a, b)) / a / _continued_fraction(x, a, b)


def beta_quantile(q: float, a: float, b: float) -> float:
    """Return the quantile ``q`` of a Beta(a, b) variable.

    >>> round(beta_quantile(0.5, 90, 10), 4)
    0.9027
    """
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(STEPS):
        error = beta_cdf(x, a, b) - q
        low, high = (x, high) if error < 0 else (low, x)
        slope = math.exp(_log_front(x, a, b)) / (x * (1 - x))
        guess = x - error / slope if slope > 0 else low
        closer = guess if low < guess < high else (low + high) / 2
        if abs(closer - x) <= PRECISION * x:
            return closer
        x = closer
    return x


def beta_binomial(m: int, a: float, b: float) -> NDArray[np.float64]:
    """Return the probabilities of 0, 1, …, ``m`` covered rows."""
    j = np.arange(m, dtype=np.float64)
    steps = np.log((m - j) * (a + j)) - np.log((j + 1) * (b + m - j - 1))
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def beta_binomial_variance(m: int, a: float, b: float) -> float:
    """Return the variance of the number of covered rows among ``m``."""
    return m * a * b * (a + b + m) / ((a + b) ** 2 * (a + b + 1))


def sampling_range(m: int, k: int, n: int, confidence: float) -> tuple[float, float]:
    """Return the range that holds the covered share of ``m`` rows with probability ``confidence``.

    The threshold is the ``k``-th of ``n`` calibration keys. The range shows how far coverage varies because both
    samples, calibration and test rows, are random.
    """
    if k > n or k == 0:
        return float(k > 0), float(k > 0)
    below = beta_binomial(m, k, n + 1 - k).cumsum()
    low, high = np.searchsorted(below, tails(confidence))
    return float(low / m), float(min(high, m) / m)


def outer_band(k: int, n: int, confidence: float) -> tuple[float, float]:
    """Return a range that holds 1 minus the expected loss with probability at least ``confidence``, for any losses.

    The losses of ``n`` calibration rows beyond the threshold add up to at most n - ``k``, and without the threshold to
    more than n - ``k`` - 1.

    >>> [round(end, 4) for end in outer_band(90, 99, 0.9)]
    [0.8344, 0.9645]
    """
    below, above = tails(1 - (1 - confidence) / 2)
    low = beta_quantile(below, k, n + 1 - k) if k > 0 else 0.0
    return low, beta_quantile(above, k + 2, n - 1 - k) if k + 2 <= n else 1.0


def outer_sampling_range(m: int, k: int, n: int, confidence: float) -> tuple[float, float]:
    """Return a range that holds 1 minus the mean loss of ``m`` rows with probability at least ``confidence``.

    >>> outer_sampling_range(100, 90, 99, 0.9)
    (0.78, 1.0)
    """
    sure = 1 - (1 - confidence) / 4
    low, high = sampling_range(m, k, n, sure)[0], sampling_range(m, k + 2, n, sure)[1]
    return max(low - 1 / m, 0.0), min(high + 1 / m, 1.0)


def share_range(present: int, n: int, confidence: float) -> tuple[float, float]:
    """Return the range of the share of rows that have a key, if ``present`` of ``n`` rows have one.

    The share lies between the levels of the last row with a key, Beta(present, n + 1 - present), and of the first row
    without one, Beta(present + 1, n - present).
    """
    below, above = tails(confidence)
    low = beta_quantile(below, present, n + 1 - present) if present else 0.0
    return low, beta_quantile(above, present + 1, n - present) if present < n else 1.0


def binomial_interval(hits: int, n: int, confidence: float) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) interval of a share, after ``hits`` out of ``n``."""
    below, above = tails(confidence)
    low = beta_quantile(below, hits, n - hits + 1) if hits > 0 else 0.0
    high = beta_quantile(above, hits + 1, n - hits) if hits < n else 1.0
    return low, high


def tails(confidence: float) -> tuple[float, float]:
    """The two probabilities between which a central range holds ``confidence``."""
    if not isinstance(confidence, int | float | np.number) or not 0 < confidence < 1:
        raise KindError.argument("confidence", "a number between 0 and 1", confidence)
    return (1 - confidence) / 2, (1 + confidence) / 2


def _log_front(x: float, a: float, b: float) -> float:
    """Return the logarithm of x**a (1-x)**b / B(a, b)."""
    return math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of I_x(a, b), by the modified Lentz method."""
    value, c, d = 1.0, 1.0, 0.0
    for m in range(_most_terms(a, b)):
        for term in _terms(m, x, a, b):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < PRECISION:
            break
    return value


def _terms(m: int, x: float, a: float, b: float) -> tuple[float, float]:
    odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    even = (m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2))
    return odd, even


def _most_terms(a: float, b: float) -> int:
    """Return a number of terms that suffices: some multiple of the square root of the larger parameter."""
    return STEPS + 10 * math.isqrt(math.ceil(max(a, b)))


def _away_from_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
