"""What several modules need of arrays: keeping them from being written to, and whole numbers that float64 loses."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

SUM_TOLERANCE = 0.01
"""How far from 1 the sum of a row of probabilities may be."""
EXACT = 2**53
"""Whole numbers up to here are float64 without loss."""


def is_whole(value: object) -> bool:
    """Whether ``value`` is a whole number, and no boolean."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


class Sealed:
    """For dataclasses that hold arrays: those cannot be written to, also after pickling and copying.

    Arrays are fields, or stand in tuples that are fields.
    """

    def __post_init__(self) -> None:
        for value in vars(self).values():
            for array in value if isinstance(value, tuple) else (value,):
                if isinstance(array, np.ndarray):
                    array.flags.writeable = False

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """What pickle and copy call in place of ``__init__``; arrays come back writeable from them."""
        self.__dict__.update(state)
        Sealed.__post_init__(self)


def lost_in_floats(values: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Where whole numbers become other numbers as float64, so that different ones may become equal; None: nowhere."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return None
    large = (values > EXACT) | (values < -EXACT) if values.dtype.kind == "i" else values > EXACT
    if not large.any():
        return None
    large[large] = [int(float(value)) != value for value in values[large].tolist()]
    return large if large.any() else None
