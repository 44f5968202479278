"""Blocks of rows, and the features that all cells of a row share."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import noise
from rankset.core.lazy import lazy
from rankset.core.scratch import scratch
from rankset.errors import InputError, ScoreError

Floats = NDArray[np.float64]

MASS_LIMIT = 8.0
UNITS, MOST_ENTRY = 2.0**40, 2.0
"""Totals are multiples of 1 / UNITS, of entries of at most MOST_ENTRY."""


@dataclass(frozen=True)
class Rows:
    """A block of rows and the features that all cells of a row share.

    Attributes
    ----------
    probs : the entries (n, K), float32 or float64.
    draw : computes the noise of the rows.
    additive : whether entries may be added up, as probabilities may.
    summed : whether rows are known to sum to about 1.
    start : number of the first row, for error messages.
    noise_seed : what compiled loops make the noise from; None if they cannot.
    """

    probs: NDArray[Any]
    draw: Callable[[], Floats]
    additive: bool = True
    summed: bool = False
    start: int = 0
    noise_seed: noise.NoiseSeed | None = None

    @lazy
    def top(self) -> Floats:
        """The largest entry of each row (n,)."""
        return self.probs.max(axis=1).astype(np.float64)

    @lazy
    def second(self) -> Floats:
        """The second largest entry of each row (n,); -inf where there is only one."""
        others = scratch(self.probs.shape, self.probs.dtype)
        others[:] = self.probs
        others[np.arange(len(others)), others.argmax(axis=1)] = -np.inf
        return others.max(axis=1).astype(np.float64)

    @lazy
    def total(self) -> Floats:
        """The sum of each row (n,), of entries that are rounded to multiples of 2**-40, so that it is exact."""
        if len(self.probs) and not (self.probs.min() >= 0 and self.probs.max() <= MOST_ENTRY):
            raise ScoreError.total_without_probabilities()
        units = np.rint(self.probs.astype(np.float64) * UNITS).astype(np.int64)
        return units.sum(axis=1) / UNITS

    @lazy
    def entropy(self) -> Floats:
        """The entropy of each row (n,), of terms that are rounded to multiples of 2**-40, so that the sum is exact."""
        probs = self.probs.astype(np.float64)
        if probs.size and not (probs.min() >= 0 and probs.max() <= MOST_ENTRY):
            raise ScoreError.total_without_probabilities("cells.entropy")
        terms = np.where(probs > 0, probs, 1.0)
        np.log(terms, out=terms)
        terms *= probs
        terms *= -UNITS
        return np.rint(terms, out=terms).astype(np.int64).sum(axis=1) / UNITS

    @lazy
    def noise(self) -> Floats:
        """One uniform draw per row (n,)."""
        return self.draw()

    def with_noise(self, draws: Floats | None) -> "Rows":
        """Return the same rows with ``draws`` as their noise; None changes nothing."""
        return self if draws is None else replace(self, draw=lambda: draws)

    def check_additive(self) -> None:
        """Raise an error where entries cannot be added up as probabilities."""
        if not self.additive:
            raise ScoreError.mass_without_probabilities()
        if self.summed:
            return
        lowest, totals = self.probs.min(axis=1), self.probs.sum(axis=1, dtype=np.float64)
        wrong = (lowest < 0) | (totals >= MASS_LIMIT)
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError.not_addable(self.start + row, float(lowest[row]), float(totals[row]))
