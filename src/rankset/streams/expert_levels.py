"""Several adaptive levels with weights: dynamically tuned adaptive conformal inference (Gibbs & Candès)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

UNIT = 1 << 40
SMALLEST = 1e-300
INTERVAL = 100
"""The weights follow the best level over about so many labels."""


class ExpertLevels:
    """The levels after some labels. The level of the next set is their weighted mean."""

    def __init__(self, alpha: Fraction, steps: tuple[float, ...]) -> None:
        self.alpha, self.steps = alpha, steps
        self.rows = self.misses = self.delay = 0
        a, count = float(alpha), len(steps)
        self.levels, self.weights = [a] * count, [1.0 / count] * count
        spread = max((1 - a) ** 2 * a**3 + a**2 * (1 - a) ** 3, SMALLEST)
        self._rate = math.sqrt(3 / INTERVAL * (math.log(count * INTERVAL) + 2) / spread)

    @property
    def parts(self) -> tuple[int, int]:
        """The level as numerator and denominator."""
        mean = sum(weight * level for weight, level in zip(self.weights, self.levels, strict=True))
        return round(mean * UNIT), UNIT

    bound = None
    """There is no bound for every sequence of rows."""

    def learn(self, missed: bool, p_value: float, delay: int) -> None:  # noqa: FBT001
        """Learn from one label."""
        a, mixed = float(self.alpha), 1 / (2 * INTERVAL)
        losses = [a * (p_value - level) - min(0.0, p_value - level) for level in self.levels]
        least = min(losses)
        weights = [
            weight * math.exp(-self._rate * (loss - least)) for weight, loss in zip(self.weights, losses, strict=True)
        ]
        total = sum(weights)
        self.weights = [(1 - mixed) * weight / total + mixed / len(weights) for weight in weights]
        self.levels = [
            level + step * (a - (p_value <= level)) for level, step in zip(self.levels, self.steps, strict=True)
        ]
        self.rows, self.misses, self.delay = self.rows + 1, self.misses + missed, max(self.delay, delay)

    def numbers(self) -> dict[str, object]:
        """Return the state as plain numbers."""
        counts: dict[str, object] = {"rows": self.rows, "misses": self.misses, "delay": self.delay}
        return {**counts, "levels": list(self.levels), "weights": list(self.weights)}

    def restore(self, numbers: dict[str, Any]) -> None:
        """Take over what ``numbers`` returned; raise ValueError if it cannot be right."""
        counts, lists = ("rows", "misses", "delay"), ("levels", "weights")
        right = set(numbers) == {*counts, *lists} and all(type(numbers[name]) is int for name in counts)
        right = right and all(
            isinstance(numbers[name], list) and len(numbers[name]) == len(self.steps) for name in lists
        )
        if not right or not all(type(one) is float and abs(one) < 1e6 for name in lists for one in numbers[name]):
            raise ValueError("the numbers of its level cannot be right")
        if min(numbers["weights"]) < 0 or not 0 <= numbers["misses"] <= numbers["rows"] or numbers["delay"] < 0:
            raise ValueError("the numbers of its level cannot be right")
        for name in (*counts, *lists):
            setattr(self, name, numbers[name])
