"""Shares of classes among training labels: what ``Thr(shares)`` and ``Rank(shares)`` divide probabilities by."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import as_float
from rankset.core.cells import Cells
from rankset.errors import ScoreError
from rankset.scores.key_ranges import Range
from rankset.scores.parameters import by_column
from rankset.scores.wording import Wording

EXPECTED = "None, or one number above 0 per class in column order"
LARGEST = 1e300
"""Numbers are smaller, so that their sum is finite."""
LARGEST_RATIO = 1e12
"""How many times the smallest share the largest one can be."""
CLOSE_TO_1 = 1e-9
"""Shares whose sum is as close to 1 are kept as they are, so shares that were divided by their sum stay the same."""
ROUNDING = 1e-12
"""Upper bound for the relative rounding error of a quotient or product of two float64; the true error is smaller."""


class HasShares:
    """Base of scores with the parameter ``shares``: one number per class, or None."""

    shares: tuple[float, ...] | None
    stored_if_given: ClassVar[tuple[str, ...]] = ("shares",)

    @property
    def n_columns(self) -> int | None:
        """Number of classes that have shares, or None if there are no shares."""
        return None if self.shares is None else len(self.shares)

    @property
    def needs_probs(self) -> bool:
        """Whether the score needs probabilities: only with shares."""
        return self.shares is not None

    @property
    def takes_marginals(self) -> bool:
        """Whether rows may be probabilities of single labels: always."""
        return True

    def __repr__(self) -> str:
        shares = "" if self.shares is None else f"shares of {len(self.shares):,} classes"
        return f"{type(self).__qualname__}({shares})"

    def _check_shares(self) -> None:
        """Divide shares by their sum. Raise an error if they are no numbers above 0, or are not in column order."""
        if self.shares is not None:
            object.__setattr__(self, "shares", _normalised(self))

    @cached_property
    def _divisors(self) -> NDArray[np.float64]:
        """The shares as an array (K,)."""
        return np.array(self.shares)

    def _ratios(self, cells: Cells) -> NDArray[np.float64]:
        """Return the probability of each label divided by its share."""
        return cells.prob / self._divisors[cells.column]

    def _least_prob(self, ratios: NDArray[Any]) -> NDArray[np.float64]:
        """Return the smallest probability that any label can have whose ratio is at least as large as ``ratios``."""
        least = np.minimum(ratios * self._divisors.min(), ratios * self._divisors.max())
        return least * np.where(least > 0, 1 - ROUNDING, 1 + ROUNDING)

    def _range_of_minus_ratio(self, prob: Range) -> Range:
        """Return the lowest and highest possible value of minus the ratio."""
        ends = [-end / share for end in prob for share in (self._divisors.min(), self._divisors.max())]
        return float(min(ends)), float(max(ends))

    def _limit(self, ratio: float, wording: Wording, whose: str) -> str:
        """Return the smallest probability in words: a number, or this number times the share of the label."""
        if self.shares is None:
            return wording.entry_number(ratio)
        return f"{wording.number(ratio)} times {whose} share in training"


def _normalised(score: HasShares) -> tuple[float, ...]:
    values = by_column(score, "shares", EXPECTED)
    numbers = [as_float(value) for value in values]
    if not numbers or not all(0 < number < LARGEST for number in numbers):
        remedy = "Count a class without training rows as 1 row."
        raise ScoreError.parameter(type(score).__name__, "shares", EXPECTED, score.shares, remedy)
    if max(numbers) > LARGEST_RATIO * min(numbers):
        remedy = f"The largest can be {LARGEST_RATIO:g} times the smallest."
        raise ScoreError.parameter(type(score).__name__, "shares", EXPECTED, score.shares, remedy)
    total = math.fsum(numbers)
    return tuple(numbers if abs(total - 1) <= CLOSE_TO_1 else (number / total for number in numbers))
