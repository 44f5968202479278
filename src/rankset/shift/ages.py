"""Weights of rows that are of different age."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.arrays import as_float
from rankset.errors import InputError, KindError
from rankset.inputs.per_row import numbers_per_row
from rankset.inputs.row_index import RowIndex


def ageing(ages: ArrayLike, rho: float) -> NDArray[np.float64]:
    """Return weights that fall with the age of rows: ``rho`` to the power of the age. New rows have the weight 1.

    For rows whose source changes slowly, if it is not known how. What is proven (Barber, Candès, Ramdas and Tibshirani,
    2023): coverage is at least 1 - alpha - the weighted mean of d, where d of a calibration row is how much the law of
    all rows changes (in total variation) if it and the new row are exchanged. Old rows, which differ most, then count
    least. With ``rho`` = 1 all rows count the same.

    Parameters
    ----------
    ages : array-like (n,)
        How long ago each calibration row was seen, in any unit: numbers from 0 on.
    rho : float
        A number above 0 and at most 1: how much the weight falls in one unit. 0.99 halves it in 69 units.

    Returns
    -------
    array (n,)
        Pass it as ``weights=`` to ``rankset.calibrate``, and ``weights=1`` to ``predict``.

    Raises
    ------
    InputError
        If an age is negative or not a finite number.
    KindError
        If ``rho`` is not such a number.

    Examples
    --------
    >>> import numpy as np, rankset as rs
    >>> rs.shift.ageing([2, 1, 0], rho=0.5)
    array([0.25, 0.5 , 1.  ])
    >>> probs, labels = rs.datasets.load("carer")
    >>> weights = rs.shift.ageing(np.arange(1000, 0, -1), rho=0.995)          # the newest row is the last
    >>> rule = rs.calibrate(probs[:1000], labels[:1000], kind="logits", weights=weights)
    >>> len(rule.predict(probs[1000:], alpha=0.1, weights=1))
    1000
    """
    base = as_float(rho)
    if not 0 < base <= 1:
        raise KindError.argument("rho", "a number above 0 and at most 1", rho)
    numbers = numbers_per_row(ages, np.size(ages), RowIndex(), name="ages")
    wrong = ~((numbers >= 0) & (numbers < np.inf))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError.age(row, float(numbers[row]))
    return base**numbers
