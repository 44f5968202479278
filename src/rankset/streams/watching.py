"""What the alarms of a stream learn from: outputs, true labels, and misses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankset.streams.alarms import Alarm, Alarms
from rankset.streams.bag import Bag, Draws
from rankset.streams.betting import EXCESSES, N_BETS, MissBets, Wealth, densities
from rankset.streams.sorted_tuples import Tuple


class Watching:
    """The three alarms of a stream while they learn.

    Two of them share delta: the one about labels and the one about outputs. The one about coverage has its own.
    """

    def __init__(self, alpha: float, delta: float, tolerance: float, seed: int) -> None:
        self.delta, self.tolerance = delta, tolerance
        self.draws = Draws(seed)
        self.label_rows, self.output_rows = Bag(self.draws), Bag(self.draws)
        self.labels, self.outputs = Wealth(delta / 2, N_BETS), Wealth(delta / 2, N_BETS)
        self.coverage = Wealth(delta, 1 + len(EXCESSES))
        self._bets = MissBets(min(alpha + tolerance, 1 - 1e-9))

    @property
    def alarms(self) -> Alarms:
        """What the alarms say now."""
        return Alarms(
            Alarm._of("labels", self.labels), Alarm._of("outputs", self.outputs), Alarm._of("coverage", self.coverage)
        )

    @property
    def logs(self) -> tuple[float, float, float]:
        """Logarithms of the evidence now."""
        return self.labels.log, self.outputs.log, self.coverage.log

    def begin(self, number: int) -> None:
        """Take the row with this number for the first one; without it rows are numbered from 0 on."""
        for wealth in (self.labels, self.outputs, self.coverage):
            wealth.lowest_at = number

    def see_outputs(self, largest: Sequence[float], first: int) -> None:
        """Learn from the largest entries of rows, numbered from ``first`` on."""
        for number, value in enumerate(largest, first):
            self.outputs.learn(densities(self.output_rows.p_value((-value,))), number, number)

    def see_label(self, keys: Tuple, missed: bool, number: int, now: int) -> None:  # noqa: FBT001
        """Learn from the keys of the true label of row ``number`` after row ``now``, and whether its set missed it."""
        self.see_keys(keys, number, now)
        self.see_miss(missed, number, now)

    def see_keys(self, keys: Tuple, number: int, now: int) -> None:
        """Learn from the keys of the true label of row ``number`` after row ``now``."""
        self.labels.learn(densities(self.label_rows.p_value(keys)), number, now)

    def see_miss(self, missed: bool, number: int, now: int) -> None:  # noqa: FBT001
        """Learn from whether the set of row ``number`` missed its true label, after row ``now``."""
        self.coverage.learn(self._bets.after_miss if missed else self._bets.after_cover, number, now)

    def numbers(self) -> dict[str, Any]:
        """Return the wealth of the alarms as plain numbers."""
        own = {name: getattr(self, name).numbers() for name in ("labels", "outputs", "coverage")}
        return {**own, "drawn": self.draws.count}

    def restore(self, numbers: dict[str, Any]) -> None:
        """Take over what ``numbers`` returned; raise ValueError if it cannot be right."""
        if set(numbers) != {"labels", "outputs", "coverage", "drawn"} or type(numbers["drawn"]) is not int:
            raise ValueError("the numbers of its alarms cannot be right")
        for name in ("labels", "outputs", "coverage"):
            if not isinstance(numbers[name], dict):
                raise TypeError("the numbers of its alarms cannot be right")
            getattr(self, name).restore(numbers[name])
        self.draws.count = numbers["drawn"]
