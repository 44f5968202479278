"""Small helpers for arrays: read-only dataclasses, object arrays, integers that float64 cannot hold."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

SUM_TOLERANCE = 0.01
"""Largest deviation from 1 that the sum of a row of probabilities may have."""
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
"""Types of the entries of rows."""
EXACT = 2**53
"""float64 holds every integer up to this one."""


def sum_rounding(n_columns: int, dtype: np.dtype[Any]) -> float:
    """Return the largest rounding error of the sum of a row of probabilities in the precision of ``dtype``."""
    return n_columns * float(np.finfo(dtype).eps)


def certain_deviation(n_columns: int, dtype: np.dtype[Any]) -> float:
    """Return how far from 1 a sum in the precision of ``dtype`` may be for the row to be certainly valid."""
    return SUM_TOLERANCE - sum_rounding(n_columns, dtype)


def is_whole(value: object) -> bool:
    """Return whether ``value`` is an integer and not a boolean."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def fits_64_bits(number: int) -> bool:
    """Return whether ``number`` is an int64 or a uint64."""
    return -(2**63) <= number < 2**64


def is_real(value: object) -> bool:
    """Return whether ``value`` is a real number of Python or NumPy and not a boolean."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def as_float(value: Any) -> float:  # noqa: ANN401
    """Return a real number as a float: NaN for anything else, and infinity for an integer beyond all floats."""
    try:
        return float(value) if is_real(value) else math.nan
    except OverflowError:
        return math.inf


def object_array(values: Iterable[object]) -> NDArray[Any]:
    """Return a one-dimensional object array of ``values``, none of them converted."""
    entries = list(values)
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def equal_values(first: Any, second: Any) -> bool:  # noqa: ANN401
    """Return whether two values are equal; arrays in their fields or entries are compared entry by entry."""
    if first is second:
        return True
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.array_equal(first, second)
    try:
        return bool(first == second)
    except ValueError:  # an array has no single truth value
        pass
    if type(first) is not type(second):
        return False
    if isinstance(first, tuple | list):
        return len(first) == len(second) and all(map(equal_values, first, second))
    ours, theirs = vars(first), vars(second)
    return ours.keys() == theirs.keys() and all(equal_values(ours[name], theirs[name]) for name in ours)


class Sealed:
    """Base of dataclasses whose arrays are read-only, also after pickling and copying.

    Arrays are fields, or entries of tuples that are fields.
    """

    def __post_init__(self) -> None:
        for value in vars(self).values():
            for array in value if isinstance(value, tuple) else (value,):
                if isinstance(array, np.ndarray):
                    array.flags.writeable = False

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore a pickled or copied object and make its arrays read-only again."""
        self.__dict__.update(state)
        Sealed.__post_init__(self)


def lost_in_floats(values: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Return where integers change as float64, so that different ones may become equal; None if nowhere."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return None
    large = (values > EXACT) | (values < -EXACT) if values.dtype.kind == "i" else values > EXACT
    if not large.any():
        return None
    large[large] = [int(float(value)) != value for value in values[large].tolist()]
    return large if large.any() else None
