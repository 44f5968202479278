"""The numbers with which a stream is made, checked and as plain Python numbers, so that files can hold them."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.arrays import as_float, is_whole
from rankset.errors import KindError

LARGEST = 2**62
SMALLEST_DELTA = 1e-300
MOST_BITS = 5000
"""Bits of the denominator of alpha, at most."""


class Settings(NamedTuple):
    """Numbers of a stream."""

    alpha: Fraction
    window: int | None
    waiting: int
    delta: float
    tolerance: float
    seed: int


def checked_settings(
    alpha: Alpha, window: object, waiting: object, delta: object, tolerance: object, seed: object
) -> Settings:
    """Return the numbers of a stream; raise an error if one is out of range."""
    level = exact_alpha(alpha)
    if level.denominator.bit_length() > MOST_BITS:
        raise KindError.argument("alpha", f"a number with at most {MOST_BITS:,} bits", alpha)
    chance, more = as_float(delta), as_float(tolerance)
    if not SMALLEST_DELTA <= chance < 1:
        raise KindError.argument("delta", f"a number from {SMALLEST_DELTA:g} to 1", delta)
    if not 0 <= more < 1:
        raise KindError.argument("tolerance", "a number from 0 to 1", tolerance)
    rows = None if window is None else _whole("window", window, 1)
    return Settings(level, rows, _whole("waiting", waiting, 1), chance, more, _whole("seed", seed, -LARGEST))


def _whole(name: str, value: object, least: int) -> int:
    """Return an integer; raise an error if it is none, or out of range."""
    if not is_whole(value) or not least <= int(value) <= LARGEST:  # type: ignore[call-overload]
        expected = f"an integer of at least {least}" if least > 0 else "an integer of at most 62 bits"
        raise KindError.argument(name, expected, value)
    return int(value)  # type: ignore[call-overload]
