"""Bets against uniform p-values, and against a miss rate of at most alpha: wealth that grows if they are wrong.

Wealth is the mean over several bets, between which it moves a little after every row (fixed share). It starts at 1.
While what is bet against holds, the chance that it ever reaches 1 / delta is at most delta (Ville's inequality).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOVED = 0.001
"""Share of the wealth that is divided anew after every row."""
POWERS = (0.3, 0.5, 0.7, 0.85)
BETAS = ((0.6, 0.6), (2.0, 2.0))
CUTS = (0.02, 0.05, 0.1, 0.2, 0.4)
MORE = (1.5, 2.5, 4.0)
LESS_BELOW = (0.05, 0.1, 0.2, 0.4)
LARGEST_SHARE = 0.9
EXCESSES = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4)
"""Miss rates that are bet on, as shares of the way from the tolerated one to 1."""


def _steps() -> list[tuple[float, float]]:
    """Return the bets on small p-values: (cut, share of the wealth that is bet on p-values below it)."""
    more = [(cut, min(LARGEST_SHARE, cut * factor)) for cut in CUTS for factor in MORE]
    return more + [(cut, cut / 2) for cut in LESS_BELOW]


def _tables() -> tuple[Floats, Floats, Floats]:
    """Return exponents of p and of 1 - p, logarithms of factors, and the densities of steps between cuts."""
    shapes = [(e, 1.0) for e in POWERS] + [(1.0, e) for e in POWERS] + list(BETAS)
    exponents = np.array([(a - 1, b - 1) for a, b in shapes])
    factors = np.array([math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) for a, b in shapes])
    middles = [0.5 * (low + high) for low, high in zip((0, *CUTS), (*CUTS, 1), strict=True)]
    steps = [[theta / cut if p < cut else (1 - theta) / (1 - cut) for cut, theta in _steps()] for p in middles]
    return exponents, factors, np.array(steps)


EXPONENTS, FACTORS, STEPS = _tables()
N_SMOOTH, N_BETS = len(FACTORS), 1 + len(FACTORS) + STEPS.shape[1]
SMALLEST = 2.0**-60
LARGEST = 2**63
"""Larger numbers of rows in files are refused."""


def densities(p: float) -> Floats:
    """Return the densities of all bets at a p-value; the first one is 1."""
    p = max(p, SMALLEST)
    found = np.ones(N_BETS)
    found[1 : 1 + N_SMOOTH] = np.exp(EXPONENTS @ (math.log(p), math.log(max(1 - p, SMALLEST))) + FACTORS)
    found[1 + N_SMOOTH :] = STEPS[bisect_right(CUTS, p)]
    return found


class Wealth:
    """The wealth of several bets, in logarithms, and since when it has grown.

    Attributes
    ----------
    log : logarithm of the wealth.
    lowest : the smallest one so far, and ``lowest_at`` the row after which it was reached.
    highest : the largest one so far.
    raised_at : the row at which it first was at least ``limit``; None if it never was.
    since : the row from which on it grew, when it first was.
    """

    NUMBERS = ("log", "lowest", "highest")
    PLACES = ("lowest_at", "raised_at", "since", "rows")

    def __init__(self, delta: float, count: int) -> None:
        self.limit = math.log(1 / delta)
        self.shares: Floats = np.full(count, 0.5 / (count - 1))
        self.shares[0] = 0.5
        self._anew = MOVED * self.shares
        self.log = self.lowest = self.highest = 0.0
        self.lowest_at = self.rows = 0
        self.raised_at: int | None = None
        self.since: int | None = None

    def learn(self, factors: Floats, number: int, now: int) -> None:
        """Learn what each bet is worth by row ``number``; the last row that came is ``now``."""
        shares = self.shares
        shares *= 1 - MOVED
        shares += self._anew
        shares *= factors
        total = float(shares.sum())
        shares /= total
        self.log += math.log(total)
        self.rows += 1
        if self.log <= self.lowest:
            self.lowest, self.lowest_at = self.log, number + 1
        if self.log > self.highest:
            self.highest = self.log
            if self.raised_at is None and self.log >= self.limit:
                self.raised_at, self.since = now, self.lowest_at

    def numbers(self) -> dict[str, Any]:
        """Return the state as plain numbers."""
        return {**{name: getattr(self, name) for name in (*self.NUMBERS, *self.PLACES)}, "shares": self.shares.tolist()}

    def restore(self, numbers: dict[str, Any]) -> None:
        """Take over what ``numbers`` returned; raise ValueError if it cannot be right."""
        names, shares = {*self.NUMBERS, *self.PLACES}, numbers.get("shares")
        right = set(numbers) == {*names, "shares"} and isinstance(shares, list) and len(shares) == len(self.shares)
        right = right and all(type(numbers[name]) is float for name in self.NUMBERS)
        right = right and all(numbers[name] is None or type(numbers[name]) is int for name in self.PLACES)
        right = right and all(type(share) is float and 0 <= share <= 1 + 1e-9 for share in shares or ())
        if not right or not all(math.isfinite(numbers[name]) for name in self.NUMBERS):
            raise ValueError("the numbers of its alarms cannot be right")
        places = [numbers[name] for name in self.PLACES if numbers[name] is not None]
        raised = numbers["raised_at"] is not None, numbers["since"] is not None
        if numbers["rows"] is None or numbers["lowest_at"] is None or raised[0] != raised[1]:
            raise ValueError("the numbers of its alarms cannot be right")
        if not all(0 <= place < LARGEST for place in places) or not 0 < sum(shares or ()) < 2:
            raise ValueError("the numbers of its alarms cannot be right")
        for name in names:
            setattr(self, name, numbers[name])
        self.shares = np.array(shares)


class MissBets:
    """What bets on miss rates above a tolerated one are worth after a miss, and after a row that was covered."""

    def __init__(self, tolerated: float) -> None:
        rates = np.array([tolerated + (1 - tolerated) * excess for excess in EXCESSES])
        self.after_miss = np.concatenate(([1.0], rates / tolerated))
        self.after_cover = np.concatenate(([1.0], (1 - rates) / (1 - tolerated)))
