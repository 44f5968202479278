"""Checks of the parameters of scores; each puts the plain value in place of what was passed."""

from __future__ import annotations

import math

import numpy as np

from rankset.core.arrays import is_whole
from rankset.errors import ScoreError


def check_number(score: object, name: str) -> None:
    """A finite number, at least 0."""
    value = getattr(score, name)
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    try:
        number = float(value) if real else math.nan
    except OverflowError:
        number = math.inf
    if not 0 <= number < math.inf:
        raise ScoreError.parameter(type(score).__name__, name, "a finite number, at least 0", value)
    object.__setattr__(score, name, number)


def check_count(score: object, name: str) -> None:
    """A whole number, at least 0 and below 2**31."""
    value = getattr(score, name)
    if not is_whole(value) or not 0 <= value < 2**31:
        raise ScoreError.parameter(type(score).__name__, name, "a whole number, at least 0 and below 2**31", value)
    object.__setattr__(score, name, int(value))


def check_flag(score: object, name: str) -> None:
    """True or False."""
    value = getattr(score, name)
    if not isinstance(value, bool | np.bool_):
        raise ScoreError.parameter(type(score).__name__, name, "True or False", value)
    object.__setattr__(score, name, bool(value))
