"""How many rows of equal weight are worth as much as rows with weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankset.core import masses
from rankset.errors import InputError
from rankset.inputs.per_row import numbers_per_row
from rankset.inputs.row_index import RowIndex


def effective_rows(weights: ArrayLike) -> float:
    """Return how many rows of equal weight are worth as much: (sum of weights)² / sum of squared weights.

    Parameters
    ----------
    weights : array-like (n,)
        Weights of calibration rows, numbers from 0 on.

    Returns
    -------
    float
        Between 1 and n; 0 if all weights are 0. Below 10 / alpha, coverage depends on few rows.

    Raises
    ------
    InputError
        If a weight is negative or not a finite number.

    Examples
    --------
    >>> import rankset as rs
    >>> rs.shift.effective_rows([1, 1, 1, 1])
    4.0
    >>> round(rs.shift.effective_rows([10, 1, 1, 1]), 2)
    1.64
    """
    numbers = numbers_per_row(weights, np.size(weights), RowIndex(), name="weights")
    wrong = ~((numbers >= 0) & (numbers < np.inf))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError.weight_to_count(row, float(numbers[row]))
    return masses.effective_rows(float(numbers.sum()), float(np.square(numbers).sum()))
