"""What is found by ranking rows, or by reading one label of each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[Any]
"""float32 or float64."""


@dataclass(frozen=True)
class RankedColumns:
    """The most likely columns of each row, row after row in ranking order.

    Attributes
    ----------
    columns : column numbers of all rows, one row after the other.
    sizes : number of columns of each row.
    probs : their entries; None if not known yet.
    units : the mass up to each of them in units of 2**-50; None if not known yet.
    draws : the noise of each row; None if not known yet.
    clear : whether a compiled loop has seen that all values of these rows are valid probabilities.
    """

    columns: Ints
    sizes: Ints
    probs: Floats | None = None
    units: Ints | None = None
    draws: NDArray[np.float64] | None = None
    clear: bool = False


@dataclass(frozen=True)
class LabelRanks:
    """What a compiled loop read about one label per row.

    Attributes
    ----------
    probs : the label's entry (n,).
    ranks : the label's rank (n,); None if not asked for.
    units : the mass up to the label in units of 2**-50; None if not asked for.
    draws : the noise of each row; None if not asked for.
    clear : whether all values of these rows are valid probabilities beyond doubt.
    """

    probs: Floats
    ranks: Ints | None
    units: Ints | None
    draws: NDArray[np.float64] | None
    clear: bool
