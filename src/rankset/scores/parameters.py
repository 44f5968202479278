"""Checks of score parameters. Each replaces the parameter by a plain Python value, or raises a ScoreError."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from rankset.core.arrays import as_float, is_real, is_whole
from rankset.errors import ScoreError
from rankset.inputs.row_index import has_own_order

LARGEST_FITTED = 1e6
"""Largest absolute value of a fitted number."""


def check_number(score: object, name: str) -> None:
    """Require a finite number of at least 0."""
    value = getattr(score, name)
    number = as_float(value)
    if not 0 <= number < math.inf:
        raise ScoreError.parameter(type(score).__name__, name, "a finite number of at least 0", value)
    object.__setattr__(score, name, number)


def check_count(score: object, name: str) -> None:
    """Require an integer >= 0 and below 2**31."""
    value = getattr(score, name)
    if not is_whole(value) or not 0 <= value < 2**31:
        raise ScoreError.parameter(type(score).__name__, name, "an integer of at least 0 and below 2**31", value)
    object.__setattr__(score, name, int(value))


def check_flag(score: object, name: str) -> None:
    """Require True or False."""
    value = getattr(score, name)
    if not isinstance(value, bool | np.bool_):
        raise ScoreError.parameter(type(score).__name__, name, "True or False", value)
    object.__setattr__(score, name, bool(value))


def check_temperature(score: object) -> None:
    """Require a finite number ``temperature`` of at least 1 / ``LARGEST_FITTED``."""
    value: Any = getattr(score, "temperature")  # noqa: B009
    number = as_float(value)
    if not 1 / LARGEST_FITTED <= number < math.inf:
        expected = f"a finite number of at least {1 / LARGEST_FITTED:g}"
        raise ScoreError.parameter(type(score).__name__, "temperature", expected, value)
    object.__setattr__(score, "temperature", number)


def check_fitted_scale(name: str, value: object) -> None:
    """Require a number above 0, at most ``LARGEST_FITTED``, as ``scale`` of the score ``name``."""
    if not is_fitted_number(value) or value <= 0:  # type: ignore[operator]
        raise ScoreError.parameter(name, "scale", f"a positive number of at most {LARGEST_FITTED:g}", value)


def check_fitted_numbers(score: object, name: str, length: int | None = None) -> None:
    """Require a list of ``length`` numbers (None: any length), each at most ``LARGEST_FITTED`` in absolute value."""
    values = list_parameter(score, name, "a list of numbers")
    if not all(map(is_fitted_number, values)) or length not in (None, len(values)):
        count = "numbers" if length is None else f"{length} numbers"
        expected = f"{count} with absolute values of at most {LARGEST_FITTED:g}"
        raise ScoreError.parameter(type(score).__name__, name, expected, getattr(score, name))
    object.__setattr__(score, name, tuple(float(value) for value in values))


def list_parameter(score: object, name: str, expected: str) -> tuple[Any, ...]:
    """Return a list parameter as a tuple. Raise a ScoreError for a string or an object that is not iterable."""
    values = getattr(score, name)
    listed = values.tolist() if hasattr(values, "tolist") else values  # also of tensors
    if not isinstance(listed, Iterable) or isinstance(listed, str | bytes):
        raise ScoreError.parameter(type(score).__name__, name, expected, values)
    return tuple(listed)


def by_column(score: object, name: str, expected: str) -> tuple[Any, ...]:
    """Return a parameter with one value per class, in column order, as a tuple.

    Raise a ScoreError if its values have names or no order: mappings, sets, and series with an index of names, such as
    counts by class, most frequent first.
    """
    values = getattr(score, name)
    if has_own_order(values):
        raise ScoreError.parameter_by_name(type(score).__name__, name, expected, values)
    return list_parameter(score, name, expected)


def is_fitted_number(value: object) -> bool:
    """Return whether ``value`` is a number of at most ``LARGEST_FITTED`` in absolute value."""
    real = type(value) is float or is_real(value)
    return real and abs(value) <= LARGEST_FITTED  # type: ignore[arg-type]
