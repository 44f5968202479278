"""One module per library measured: how its documentation would have a matrix of probabilities used.

Each runs in an environment of its own and knows the standard library, NumPy and that library only.
"""

from collections.abc import Callable, Collection
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

ALPHA = 0.1


class Peer(Protocol):
    """What a module of this package holds; data, rules and sets are the library's own."""

    PACKAGES: Collection[str]
    """Distributions whose versions are stated."""

    SCORES: Collection[str]
    """Which of RANK, APS and THR it has."""

    load: Callable[[NDArray[np.float32], NDArray[np.int64]], Any]
    """Probabilities (n, K) and labels (n,) as the library likes them best; not timed."""

    calibrate: Callable[[str, Any], Any]
    """A score and loaded data to a rule."""

    predict: Callable[[Any, Any], Any]
    """A rule and loaded data to sets at ``ALPHA``."""

    mean_size: Callable[[Any], float]
    """Labels per set: the same job was done."""
