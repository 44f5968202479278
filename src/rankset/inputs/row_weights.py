"""Weights of rows: one number per row, in units of ``core.masses``."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.arrays import as_float, is_real
from rankset.core.masses import LARGEST, MOST, UNIT
from rankset.errors import InputError
from rankset.inputs.per_row import numbers_per_row
from rankset.inputs.row_index import RowIndex

Ints = NDArray[np.int64]

SMALLEST_MEAN = 2.0**-16
"""Smallest mean weight of calibration rows: smaller weights would be rounded too much."""


def masses_per_row(weights: ArrayLike, n_rows: int, index: RowIndex) -> Ints:
    """Return the weight of each row in units; raise an error for a weight that is not a number from 0 to the largest.

    A single number is the weight of all rows.
    """
    if is_real(weights):
        numbers = np.full(n_rows, as_float(weights))
    else:
        numbers = numbers_per_row(weights, n_rows, index, name="weights")
    wrong = ~((numbers >= 0) & (numbers <= LARGEST / UNIT))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError.weight(row, float(numbers[row]), LARGEST // UNIT)
    return np.rint(numbers * UNIT).astype(np.int64)


def check_mean(total: int, n: int) -> None:
    """Raise an error if ``n`` calibration rows, whose weight in units is ``total``, have none, or too little of it."""
    if n and not total:
        raise InputError.no_weight(n)
    if total < SMALLEST_MEAN * UNIT * n:
        raise InputError.small_weights(total / n / UNIT, SMALLEST_MEAN)


def check_total(total: float) -> None:
    """Raise an error if the weight of all rows, in units, cannot be added up exactly."""
    if total > MOST:
        raise InputError.large_weights(total / UNIT, MOST // UNIT)
