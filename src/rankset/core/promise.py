"""What a threshold promises: a risk of at most alpha on average over calibrations, or with a confidence about this one.

A threshold is found by the loss that calibration rows may have beyond it. A row that is missed has loss 1, a row of
which a part is missed less. ``Promise.allowed`` is the largest sum of losses, for every promise and number of rows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from rankset.core import coverage_law
from rankset.core.alpha import rows_needed
from rankset.core.mean_interval import relative_entropy

CLOSE = 1e-9
"""Probabilities that differ by less are compared by exact arithmetic."""
MOST_EXACT = 4000
"""Number of rows up to which they are; beyond it, the comparison is decided in favour of larger sets."""
MOST_ROWS = 1 << 40
"""Numbers of rows beyond this one are not searched."""


@dataclass(frozen=True)
class Promise:
    """alpha, and the confidence with which it holds for one calibration.

    Attributes
    ----------
    alpha : the allowed risk.
    confidence : the probability, over calibrations, that the risk is at most alpha; None for the mean over them.
    next_rows : the risk is the mean loss of so many new rows; None for the risk over all new rows.
    n_groups : the number of groups for which the confidence holds at once; 1 if it holds for each of them.
    shares : whether losses of rows lie between 0 and 1; otherwise they are 0 or 1.
    """

    alpha: Fraction
    confidence: Fraction | None = None
    next_rows: int | None = None
    n_groups: int = 1
    shares: bool = False

    def allowed(self, n: int) -> Fraction:
        """Return the largest sum of the losses of ``n`` calibration rows beyond a threshold.

        It is negative if no threshold keeps the promise, so that every label must be kept.

        >>> Promise(Fraction(1, 10)).allowed(99), Promise(Fraction(1, 10), Fraction(95, 100)).allowed(99)
        (Fraction(9, 1), Fraction(4, 1))
        """
        if self.confidence is None:
            return self.alpha * (n + 1) - 1
        doubt = (1 - self.confidence) / self.n_groups
        if self.shares:
            return _most_loss(n, self.alpha, doubt)
        if self.next_rows is not None:
            return Fraction(_most_missed_before(n, self.next_rows, self.alpha, doubt))
        return Fraction(_most_missed(n, self.alpha, doubt))

    @property
    def rows_needed(self) -> int:
        """Return the smallest number of calibration rows with which a set can leave out labels."""
        if self.confidence is None:
            return rows_needed(self.alpha)
        enough = 1
        while self.allowed(enough) < 0:
            enough *= 2
            if enough > MOST_ROWS:
                return enough
        return 1 + _last(lambda n: self.allowed(n) < 0, enough // 2, enough)


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the last number from ``low`` to ``high - 1`` for which ``holds``; ``low - 1`` if there is none.

    It holds up to some number and not after it.
    """
    low -= 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


@lru_cache(maxsize=1024)
def _most_missed(n: int, alpha: Fraction, doubt: Fraction) -> int:
    """Return the largest r with P(Bin(n, alpha) <= r) <= doubt; -1 if there is none."""
    return _last(lambda r: at_most(n, r, alpha, doubt), 0, n)


def at_most(n: int, missed: int, alpha: Fraction, doubt: Fraction, factor: float = 1.0) -> bool:
    """Return whether P(Bin(n, alpha) <= missed), times ``factor``, is at most ``doubt``."""
    chance = factor * coverage_law.beta_cdf(float(1 - alpha), n - missed, missed + 1)
    if abs(chance - doubt) > CLOSE * doubt:
        return chance < doubt
    if n > MOST_EXACT or factor != 1:
        return False
    hit, whole = alpha.numerator, alpha.denominator
    ways = sum(math.comb(n, j) * hit**j * (whole - hit) ** (n - j) for j in range(missed + 1))
    return ways * doubt.denominator <= doubt.numerator * whole**n


@lru_cache(maxsize=1024)
def _most_missed_before(n: int, m: int, alpha: Fraction, doubt: Fraction) -> int:
    """Return the largest r such that more than alpha * m of the next ``m`` rows are missed with probability at most
    ``doubt``, if the threshold leaves ``r`` of ``n`` calibration rows beyond it; -1 if there is none."""
    most = math.floor(alpha * m)

    def keeps(r: int) -> bool:
        # The number of missed rows among the next m is BetaBinomial(m, r + 1, n - r).
        chance = float(coverage_law.beta_binomial(m, r + 1, n - r)[most + 1 :].sum())
        if abs(chance - doubt) > CLOSE * doubt:
            return chance < doubt
        if n + m > MOST_EXACT:
            return False
        ways = sum(math.comb(r + j, j) * math.comb(n - r - 1 + m - j, m - j) for j in range(most + 1, m + 1))
        return ways * doubt.denominator <= doubt.numerator * math.comb(n + m, m)

    return _last(keeps, 0, n)


@lru_cache(maxsize=1024)
def _most_loss(n: int, alpha: Fraction, doubt: Fraction) -> Fraction:
    """Return the largest sum of losses for which the p-value of Hoeffding and Bentkus is at most ``doubt``; else -1."""
    whole = _last(lambda c: at_most(n, c, alpha, doubt, math.e), 0, n)
    surprise, level = math.log(doubt.denominator) - math.log(doubt.numerator), float(alpha)
    target = surprise / n if n else math.inf
    if level >= 1 or -math.log1p(-level) < target:
        return Fraction(whole)
    low, high = 0.0, level
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if relative_entropy(middle, level) >= target else (low, middle)
    return max(Fraction(whole), Fraction(max(0.0, n * low * (1 - CLOSE))))
