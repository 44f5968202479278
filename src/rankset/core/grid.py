"""The grid of multiples of 2**-50, on which sums of probabilities are exact."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GRID = 2.0**-50
FOUR = np.array(4.0)
"""An array, because NumPy adds it to short arrays faster than a number."""


def on_grid(probs: Floats) -> Floats:
    """Round ``probs`` to multiples of 2**-50, so that float64 adds them exactly in any order while sums are below 8.

    >>> on_grid(np.array([0.1, 0.2, 0.7])).sum() == on_grid(np.array([0.7, 0.1, 0.2])).sum()
    np.True_
    """
    return (probs + FOUR) - FOUR
