"""What a threshold promises: a risk of at most alpha on average over calibrations, or with a confidence about this one.

A threshold is found by the loss that calibration rows may have beyond it. A row that is missed has loss 1, a row of
which a part is missed less. ``Promise.allowed`` is the largest sum of losses, for every promise and number of rows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from rankset.core import coverage_law
from rankset.core.alpha import rows_needed
from rankset.core.mean_interval import relative_entropy

CLOSE = 1e-9
"""Probabilities that differ by less are compared by exact arithmetic."""
TINY = Fraction(1, 10**100)
"""For smaller values of alpha, -log(1 - alpha) is alpha in every digit of a float."""
MANY = 10**30
"""So many rows, and as many more or less as there can be next rows, have the same logarithm."""
MOST_EXACT = 4000
"""Number of rows up to which they are; beyond it, the comparison is decided in favour of larger sets."""


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
        doubt = self._doubt(self.confidence)
        if self.shares:
            return _most_loss(n, self.alpha, doubt)
        if self.next_rows is not None:
            return Fraction(_most_missed_before(n, self.next_rows, self.alpha, doubt))
        return Fraction(_most_missed(n, self.alpha, doubt))

    def _doubt(self, confidence: Fraction) -> Fraction:
        """Return the probability with which the promise of one group may fail."""
        return (1 - confidence) / self.n_groups

    @property
    def rows_needed(self) -> int:
        """Return the smallest number of calibration rows with which a set can leave out labels."""
        if self.confidence is None:
            return rows_needed(self.alpha)
        doubt, enough = self._doubt(self.confidence), 1
        if self.next_rows is None and self.alpha < TINY:
            return math.ceil(Fraction(_surprise(doubt)) / self.alpha)
        while not self._has_threshold(enough, doubt):
            enough *= 2
        return 1 + _last(lambda n: not self._has_threshold(n, doubt), enough // 2, enough)

    def _has_threshold(self, n: int, doubt: Fraction) -> bool:
        """Return whether ``allowed(n)`` is at least 0: the promise can be kept if no row is missed."""
        if self.shares:
            return _is_surprising(n, self.alpha, doubt) or at_most(n, 0, self.alpha, doubt, math.e)
        if self.next_rows is not None:
            return _keeps(n, self.next_rows, 0, math.floor(self.alpha * self.next_rows), doubt)
        return at_most(n, 0, self.alpha, doubt)


def kept_rows(n: int, promise: Promise, *, shares: bool) -> int:
    """Return the position of a threshold among ``n`` rows: at most n minus this are missed, or more than n if none is.

    If ``shares``, parts of rows are missed: their losses add up to at most n minus this.

    >>> [kept_rows(98, Promise(Fraction(1, 10)), shares=shares) for shares in (False, True)]
    [90, 89]
    """
    allowed = promise.allowed(n)
    return n - (math.ceil(allowed) if shares and allowed >= 0 else math.floor(allowed))


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
    if missed == 0:  # by logarithms, which are exact enough for any number of rows
        excess = math.log(factor) + n * _log_kept(alpha) + _surprise(doubt)
    else:
        excess = _excess(factor * coverage_law.beta_cdf(float(1 - alpha), n - missed, missed + 1), doubt)
    if abs(excess) > CLOSE:
        return excess < 0
    if n > MOST_EXACT or factor != 1:
        return False
    hit, whole = alpha.numerator, alpha.denominator
    ways = sum(math.comb(n, j) * hit**j * (whole - hit) ** (n - j) for j in range(missed + 1))
    return ways * doubt.denominator <= doubt.numerator * whole**n


def _excess(chance: float, doubt: Fraction) -> float:
    """Return by how much ``chance`` is larger than ``doubt``, relative to it; infinite if ``doubt`` is rounded to 0."""
    return float(chance - doubt) / float(doubt) if float(doubt) else math.inf


def _log_kept(alpha: Fraction) -> float:
    """Return the logarithm of 1 - ``alpha``, which is below 0 even if ``alpha`` is rounded to 0 or 1."""
    level, kept = float(alpha), 1 - alpha
    return math.log1p(-level) if level < 1 else math.log(kept.numerator) - math.log(kept.denominator)


@lru_cache(maxsize=1024)
def _most_missed_before(n: int, m: int, alpha: Fraction, doubt: Fraction) -> int:
    """Return the largest r such that more than alpha * m of the next ``m`` rows are missed with probability at most
    ``doubt``, if the threshold leaves ``r`` of ``n`` calibration rows beyond it; -1 if there is none."""
    most = math.floor(alpha * m)
    return _last(lambda r: _keeps(n, m, r, most, doubt), 0, n)


def _keeps(n: int, m: int, r: int, most: int, doubt: Fraction) -> bool:
    """Return whether more than ``most`` of the next ``m`` rows are missed with probability at most ``doubt``."""
    if r == 0:  # the most unusual of all n + m rows, one more than may be missed, are all among the next m
        places = np.arange(most + 1, dtype=np.float64)
        others = (most + 1) * math.log(n + m) if n > MANY else float(np.log(n + m - places).sum())
        excess = float(np.log(m - places).sum()) - others + _surprise(doubt)
    else:  # the number of missed rows among the next m is BetaBinomial(m, r + 1, n - r)
        excess = _excess(float(coverage_law.beta_binomial(m, r + 1, n - r)[most + 1 :].sum()), doubt)
    if abs(excess) > CLOSE:
        return excess < 0
    if n + m > MOST_EXACT:
        return False
    ways = sum(math.comb(r + j, j) * math.comb(n - r - 1 + m - j, m - j) for j in range(most + 1, m + 1))
    return ways * doubt.denominator <= doubt.numerator * math.comb(n + m, m)


def _is_surprising(n: int, alpha: Fraction, doubt: Fraction) -> bool:
    """Return whether the bound of Hoeffding on the probability that ``n`` rows have no loss is at most ``doubt``."""
    return float(alpha) < 1 and bool(n) and -_log_kept(alpha) >= _surprise(doubt) / n


def _surprise(doubt: Fraction) -> float:
    return math.log(doubt.denominator) - math.log(doubt.numerator)


@lru_cache(maxsize=1024)
def _most_loss(n: int, alpha: Fraction, doubt: Fraction) -> Fraction:
    """Return the largest sum of losses for which the p-value of Hoeffding and Bentkus is at most ``doubt``; else -1."""
    whole = _last(lambda c: at_most(n, c, alpha, doubt, math.e), 0, n)
    if not _is_surprising(n, alpha, doubt):
        return Fraction(whole)
    level, target = float(alpha), _surprise(doubt) / n
    low, high = 0.0, level
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if relative_entropy(middle, level) >= target else (low, middle)
    return max(Fraction(whole), Fraction(max(0.0, n * low * (1 - CLOSE))))
