"""One module per library measured: how its documentation would have a matrix of probabilities used.

Each runs in an environment of its own and knows the standard library, NumPy and that library only.
"""

from collections.abc import Callable, Collection
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

ALPHA = 0.1
PENALTY, FREE_RANKS = 0.001, 5
"""RAPS with a small penalty."""


class Peer(Protocol):
    """What a module of this package holds; data, rules and sets are the library's own."""

    PACKAGES: Collection[str]
    """Distributions whose versions are stated."""

    SCORES: Collection[str]
    """Which of RANK, APS, THR, RAPS and auto it has."""

    load: Callable[[NDArray[np.float32], NDArray[np.int64]], Any]
    """Probabilities (n, K) and labels (n,) as the library likes them best; not timed."""

    calibrate: Callable[[str, Any], Any]
    """A score and loaded data to a rule."""

    predict: Callable[[Any, Any], Any]
    """A rule and loaded data to sets at ``ALPHA``."""

    p_values: Callable[[Any, Any], Any]
    """The same to p-values of all labels, if the library has them."""

    mean_size: Callable[[Any], float]
    """Labels per set: the same job was done."""
