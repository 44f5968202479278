"""Levels of a stream: the alpha of the next set, which follows what earlier sets missed.

A method is a frozen dataclass. ``_start`` returns its state, which learns from every label.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from rankset.core.alpha import exact_alpha
from rankset.core.arrays import as_float
from rankset.errors import KindError
from rankset.streams.expert_levels import ExpertLevels
from rankset.streams.stepped_level import UNIT, SteppedLevel

ROWS_PER_STEP = 10
"""The usual step is alpha divided by this."""
STEPS_PER_DELAY = 3
"""If labels come d rows late, a step is at most 1 / (STEPS_PER_DELAY d): larger ones make the level oscillate."""


class LevelState(Protocol):
    """What a method knows at one time: numbers of labels and misses, the largest delay, and the level."""

    rows: int
    misses: int
    delay: int

    @property
    def parts(self) -> tuple[int, int]:
        """The level as numerator and denominator."""

    @property
    def bound(self) -> Fraction | None:
        """Largest possible distance of the miss rate from alpha, for every sequence of rows; None if there is none."""

    def learn(self, missed: bool, p_value: float, delay: int) -> None:  # noqa: FBT001
        """Learn from the label of one row: whether its set missed it, its p-value, and how many rows came since."""

    def numbers(self) -> dict[str, object]:
        """Return the state as plain numbers, for files."""


class LevelMethod(Protocol):
    """How the level follows what was missed."""

    def _start(self, alpha: Fraction) -> LevelState:
        """Return the state before the first label."""


@dataclass(frozen=True)
class Fixed:
    """The level stays alpha. Only the window follows the rows.

    Nothing is proven if rows change.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> rule = rs.calibrate(probs[:1000], labels[:1000], kind="logits")
    >>> rs.Stream(rule, alpha=0.1, level=rs.Fixed()).level
    0.1
    """

    def _start(self, alpha: Fraction) -> SteppedLevel:
        """Return the state before the first label."""
        return SteppedLevel(alpha, self)

    def _step_units(self, state: SteppedLevel) -> int:  # noqa: ARG002
        """Return 0: the level does not move."""
        return 0


@dataclass(frozen=True)
class Adaptive:
    """After a miss the level falls, after a row that was covered it rises a little (adaptive conformal inference).

    The level of the next set changes by step * (alpha - 1) after a miss and by step * alpha otherwise. With a level of
    0 or less a set has every label, with a level of 1 or more it has none. So the share of misses tends to alpha for
    every sequence of rows, whatever the model does: ``Stream.bound`` says how close it must be.

    Parameters
    ----------
    step : float, optional
        A number above 0, at most 1. By default alpha / 10. If labels usually come d rows late, at most 1 / (3 d) is
        used: with larger steps the level oscillates.

    Raises
    ------
    KindError
        If ``step`` is no such number.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> rule = rs.calibrate(probs[:1000], labels[:1000], kind="logits")
    >>> stream = rs.Stream(rule, alpha=0.1, level=rs.Adaptive(0.02))
    >>> _ = stream.predict(probs[1000:1100]), stream.update(labels[1000:1100])
    >>> round(stream.miss_rate, 3)
    0.1
    """

    step: float | None = None

    def __post_init__(self) -> None:
        if self.step is not None and not 0 < as_float(self.step) <= 1:
            raise KindError.argument("step", "a number above 0, at most 1, or None", self.step)
        object.__setattr__(self, "step", None if self.step is None else as_float(self.step))

    def _start(self, alpha: Fraction) -> SteppedLevel:
        """Return the state before the first label."""
        return SteppedLevel(alpha, self)

    def _step_units(self, state: SteppedLevel) -> int:
        """Return the step after a label, in units."""
        if self.step is None:
            return shortened(UNIT * state.alpha.numerator // (ROWS_PER_STEP * state.alpha.denominator), state)
        return shortened(math.floor(UNIT * exact_step(self.step)), state)


@dataclass(frozen=True)
class Decaying:
    """Like ``Adaptive``, with steps that become smaller: first * t ** -power after t labels.

    If rows do not change, the level settles. If they do, it follows more slowly than with ``Adaptive``.

    Parameters
    ----------
    first : float
        The first step, a number above 0, at most 1.
    power : float
        A number between 0.5 and 1.

    Raises
    ------
    KindError
        If one of them is no such number.

    Examples
    --------
    >>> import rankset as rs
    >>> rs.Decaying()
    Decaying(first=0.5, power=0.6)
    """

    first: float = 0.5
    power: float = 0.6

    def __post_init__(self) -> None:
        if not 0 < as_float(self.first) <= 1:
            raise KindError.argument("first", "a number above 0, at most 1", self.first)
        if not 0.5 <= as_float(self.power) <= 1:
            raise KindError.argument("power", "a number from 0.5 to 1", self.power)
        object.__setattr__(self, "first", as_float(self.first))
        object.__setattr__(self, "power", as_float(self.power))

    def _start(self, alpha: Fraction) -> SteppedLevel:
        """Return the state before the first label."""
        return SteppedLevel(alpha, self)

    def _step_units(self, state: SteppedLevel) -> int:
        """Return the step after a label, in units."""
        return shortened(int(UNIT * self.first * (state.rows + 1) ** -self.power), state)


@dataclass(frozen=True)
class Experts:
    """Several adaptive levels with different steps, and more weight for those that did better lately (DtACI).

    Sets are usually a little smaller than with ``Adaptive``, and miss a little more often. There is no bound for every
    sequence of rows. If labels come late, use ``Adaptive``.

    Parameters
    ----------
    steps : sequence of float
        Steps of the levels, numbers above 0, at most 1.

    Raises
    ------
    KindError
        If ``steps`` is no list of such numbers.

    Examples
    --------
    >>> import rankset as rs
    >>> len(rs.Experts().steps)
    8
    """

    steps: tuple[float, ...] = tuple(0.001 * 2**number for number in range(8))

    def __post_init__(self) -> None:
        steps = tuple(map(as_float, self.steps)) if isinstance(self.steps, list | tuple) else ()
        if not steps or not all(0 < step <= 1 for step in steps):
            raise KindError.argument("steps", "a list of numbers above 0, at most 1", self.steps)
        object.__setattr__(self, "steps", steps)

    def _start(self, alpha: Fraction) -> ExpertLevels:
        """Return the state before the first label."""
        return ExpertLevels(alpha, self.steps)


METHODS: dict[str, type[LevelMethod]] = {kind.__name__: kind for kind in (Fixed, Adaptive, Decaying, Experts)}
"""Methods by name, for files."""


def exact_step(step: float) -> Fraction:
    """Return a step as it was typed: 0.01 is one hundredth."""
    return Fraction(1) if step == 1 else exact_alpha(float(step))


def shortened(step: int, state: SteppedLevel) -> int:
    """Return a step in units, or a smaller one if labels come late; at least 1."""
    late = state.typical_delay
    return max(1, step if late == 0 else min(step, UNIT // (STEPS_PER_DELAY * late)))


def checked_method(method: object) -> LevelMethod:
    """Return a method; raise an error if it is none."""
    if type(method) not in METHODS.values():
        raise KindError.argument("level", "Adaptive(), Fixed(), Decaying() or Experts()", method)
    return method  # type: ignore[return-value]
