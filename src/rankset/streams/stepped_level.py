"""A level that moves by steps, in integers: so the bound of its miss rate holds without rounding."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Protocol

from rankset.streams.delays import Delays

UNIT = 1 << 40
"""Steps are multiples of 1 / UNIT."""
LARGEST, MOST_BITS = 2**63, 256
"""Largest level, and most bits of other integers, in a file."""
BLOCK, SOME = 1000, 20
"""The typical delay is that of the last one to two blocks of BLOCK labels; it is looked at after every SOME labels."""
TYPICAL = 0.95
"""This share of labels is not later than the typical delay."""
LEAST_CHANGE = 2
"""It becomes smaller only if it was too large by this factor: every change of the step makes the bound larger."""


class Steps(Protocol):
    """What says how large a step is."""

    def _step_units(self, state: SteppedLevel) -> int:
        """Return the step after a label, in units; always positive, or always 0."""


def _rounded_up(value: Fraction) -> Fraction:
    """Return a multiple of 1 / UNIT, so that sums of such numbers do not become longer."""
    return Fraction(math.ceil(value * UNIT), UNIT)


class SteppedLevel:
    """The level after some labels, alpha + sum of step * (alpha - missed), and what its bound depends on.

    The level is ``units`` / (denominator of alpha * UNIT). Let r be 1 / step, 0 <= R the sum of all increases of r, and
    [low, high] the interval that the level cannot leave. Then the sum of (missed - alpha) over all labels is at most
    (alpha - low) r(first) + (high - low) R, and at least -(high - alpha) r(first) - (high - low) R.
    """

    FIELDS = ("units", "rows", "misses", "delay", "typical_delay", "first", "largest")
    FURTHER = ("last", "start")
    DELAYS = ("all_delays", "earlier", "present")

    def __init__(self, alpha: Fraction, method: Steps) -> None:
        self.alpha, self.method = alpha, method
        self.units = alpha.numerator * UNIT
        self.rows = self.misses = 0
        self.delay = self.typical_delay = 0
        self.all_delays, self.earlier, self.present = Delays(), Delays(), Delays()
        self.first = self.largest = self.last = self.start = 0
        self.closed = Fraction(0)

    @property
    def parts(self) -> tuple[int, int]:
        """The level as numerator and denominator."""
        return self.units, self.alpha.denominator * UNIT

    def learn(self, missed: bool, p_value: float, delay: int) -> None:  # noqa: ARG002, FBT001
        """Learn from one label."""
        self._see_delay(delay)
        step = self.method._step_units(self)
        if step != self.last:
            self._see_step(step)
        self.units += step * (self.alpha.numerator - (self.alpha.denominator if missed else 0))
        self.rows += 1
        self.misses += missed

    def _see_delay(self, delay: int) -> None:
        """Remember how late labels come, in all and lately."""
        self.delay = max(self.delay, delay)
        self.all_delays.add(delay)
        self.present.add(delay)
        full = self.present.total >= BLOCK
        if self.all_delays.total <= SOME or self.present.total % SOME == 0 or full:
            lately = self.present.quantile(TYPICAL, self.earlier)
            if lately > self.typical_delay or (full and LEAST_CHANGE * lately <= self.typical_delay):
                self.typical_delay = lately
        if full:
            self.earlier, self.present = self.present, Delays()

    def _see_step(self, step: int) -> None:
        """Remember what the bound needs: the first and the largest step, and how often 1 / step increased by what."""
        if not self.last:
            self.first = self.start = step
        elif step > self.last:
            self.closed += _rounded_up(Fraction(UNIT, self.last) - Fraction(UNIT, self.start))
            self.start = step
        self.last, self.largest = step, max(self.largest, step)

    @property
    def bound(self) -> Fraction | None:
        """Largest possible |misses / labels - alpha|; None if the level never moves, or before the first label.

        With one step for all labels it is (max(alpha, 1 - alpha) + step (1 + d)) / (step * labels), where d is how many
        rows whose labels came waited at one time, at most.
        """
        if not self.last:
            return None
        beyond = Fraction(self.largest * (1 + self.all_delays.waiting), UNIT)
        increases = self.closed + Fraction(UNIT, self.last) - Fraction(UNIT, self.start)
        side = max(self.alpha, 1 - self.alpha) + beyond
        return (side * Fraction(UNIT, self.first) + (1 + 2 * beyond) * increases) / self.rows

    def numbers(self) -> dict[str, object]:
        """Return the state as plain numbers."""
        found: dict[str, object] = {name: getattr(self, name) for name in (*self.FIELDS, *self.FURTHER)}
        delays = {name: getattr(self, name).numbers() for name in self.DELAYS}
        return {**found, **delays, "closed": [self.closed.numerator, self.closed.denominator]}

    def _are_short(self, numbers: dict[str, Any], closed: list[int]) -> bool:
        """Return whether integers of a file are no longer than they can become, and the level is near 0 to 1."""
        integers = [*closed, *(numbers[name] for name in (*self.FIELDS, *self.FURTHER) if name != "units")]
        most = self.alpha.denominator * UNIT * LARGEST
        return all(one.bit_length() <= MOST_BITS for one in integers) and abs(numbers["units"]) <= most

    def restore(self, numbers: dict[str, Any]) -> None:
        """Take over what ``numbers`` returned; raise ValueError if it cannot be right."""
        delays = {name: Delays.restored(numbers.get(name)) for name in self.DELAYS}
        numbers = {name: value for name, value in numbers.items() if name not in self.DELAYS}
        names = {*self.FIELDS, *self.FURTHER, "closed"}
        if set(numbers) != names or not all(type(numbers[name]) is int for name in names - {"closed"}):
            raise ValueError("the numbers of its level cannot be right")
        if delays["all_delays"].total != numbers["rows"]:
            raise ValueError("the delays of its labels cannot be right")
        if any(numbers[name] < 0 for name in names - {"closed", "units"}) or numbers["misses"] > numbers["rows"]:
            raise ValueError("the numbers of its level cannot be right")
        closed = numbers["closed"]
        if not isinstance(closed, list) or len(closed) != 2 or not all(type(part) is int for part in closed):
            raise ValueError("the numbers of its level cannot be right")
        if closed[1] < 1 or closed[0] < 0 or bool(numbers["last"]) != bool(numbers["rows"] and numbers["first"]):
            raise ValueError("the numbers of its level cannot be right")
        if bool(numbers["last"]) != bool(numbers["start"]) or not self._are_short(numbers, closed):
            raise ValueError("the numbers of its level cannot be right")
        for name, value in {**numbers, **delays}.items():
            setattr(self, name, value)
        self.closed = Fraction(*closed)
