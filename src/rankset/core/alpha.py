"""alpha, the allowed error rate, as an exact fraction and as a position among sorted calibration keys."""

import math
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import LevelError, short_repr

Alpha = float | str | Fraction | Decimal
"""alpha as users write it: 0.1, "0.1", "10%", "0,1", Decimal("0.1"), Fraction(1, 10), np.float32(0.1)."""

MOST_PLACES = 400


def exact_alpha(alpha: Alpha) -> Fraction:
    """Return alpha exactly as typed: 0.1 is one tenth, not the nearest binary fraction.

    Texts may be percentages, and may have a decimal comma.

    >>> exact_alpha(0.1) == exact_alpha("0.1") == exact_alpha("10%") == exact_alpha("0,1") == Fraction(1, 10)
    True
    """
    value = _parsed(alpha)
    if not 0 < value < 1:
        raise LevelError.out_of_range(alpha, *_remedy(value))
    return value


def exact_text(value: Fraction) -> str:
    """Return an exact number as a decimal if it is one with few digits, else as a fraction.

    >>> exact_text(Fraction(1, 10)), exact_text(Fraction(1, 3))
    ('0.1', '1/3')
    """
    decimal = repr(float(value))
    return decimal if Fraction(decimal) == value else str(value)


def threshold_position(n: int, alpha: Fraction) -> int:
    """Return the position of the threshold among ``n`` sorted calibration keys; ``n + 1`` means "keep every label".

    >>> threshold_position(99, Fraction(1, 10)), threshold_position(8, Fraction(1, 10))
    (90, 9)
    """
    return n + 1 - math.floor((n + 1) * alpha)


def threshold_positions(counts: NDArray[np.int64], alpha: Fraction) -> NDArray[np.int64]:
    """Return the threshold position for every group size in ``counts``."""
    sizes = counts.tolist()
    places = {n: threshold_position(n, alpha) for n in set(sizes)}
    return np.array([places[n] for n in sizes], dtype=np.int64)


def smallest_alpha(n: int, absent: int = 0) -> Fraction:
    """Return the smallest alpha at which a threshold exists, after ``n`` rows of which ``absent`` have no key.

    >>> smallest_alpha(25, 1)
    Fraction(1, 13)
    """
    return Fraction(absent + 1, n + 1)


def rows_needed(alpha: Fraction) -> int:
    """Return the smallest number of calibration rows with which a set can leave out labels."""
    return math.ceil(1 / alpha) - 1


def _parsed(alpha: object) -> Fraction:
    if isinstance(alpha, np.ndarray) and alpha.ndim == 0:
        alpha = alpha[()]
    if isinstance(alpha, bool | np.bool_):
        raise LevelError.not_a_number(alpha)
    if isinstance(alpha, Rational):
        return Fraction(alpha)
    if isinstance(alpha, str) and "/" in alpha and len(alpha) <= MOST_PLACES:
        return _fraction(alpha)
    if isinstance(alpha, str):
        return _text(alpha)
    if isinstance(alpha, float | np.floating | Decimal):
        return _decimal(alpha)
    raise LevelError.not_a_number(alpha)


def _text(alpha: str) -> Fraction:
    """Parse a number with a decimal point or a decimal comma, perhaps a percentage: 0.05, 0,05, 5%, 2,5 %."""
    number = alpha.strip()
    percent = number.endswith("%")
    number = number.removesuffix("%").rstrip() if percent else number
    if not percent and "," not in number:
        return _decimal(alpha)
    if "," in number:
        number = number.replace(",", ".") if number.count(",") == 1 and "." not in number else ""
    try:
        value = _decimal(number)
    except LevelError as error:
        error.received = short_repr(alpha)  # as it was typed
        raise
    if percent and not 0 < value < 100:
        raise LevelError.out_of_range(alpha)
    return value / 100 if percent else value


def _fraction(text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise LevelError.not_a_number(text) from None


def _decimal(alpha: str | float | np.floating[Any] | Decimal) -> Fraction:
    try:
        value = Decimal(str(alpha))
    except InvalidOperation:
        raise LevelError.not_a_number(alpha) from None
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or value.adjusted() > MOST_PLACES:
        raise LevelError.out_of_range(alpha)
    if exponent < -MOST_PLACES:
        raise LevelError.too_long(alpha, MOST_PLACES)
    return Fraction(value)


def _remedy(value: Fraction) -> tuple[str, ...]:
    """Return a guess at the alpha of users who typed a percentage, as an argument or none."""
    if not 1 < value < 100:
        return ()
    percent = value if value < 50 else 100 - value
    return (f"Did you mean {float(percent / 100):g}?",)
