"""What a rule says about itself: small values with names."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Estimate:
    """A mean over ``n`` rows with its standard error."""

    mean: float
    error: float
    n: int


@dataclass(frozen=True)
class CoverageBand:
    """Where the coverage of a rule lies, over all calibrations with ``n`` rows; ties only raise it."""

    low: float
    high: float
    mean: float
    confidence: float
    n: int


@dataclass(frozen=True)
class RankProfile:
    """The paper's view of a calibration: the distribution of the true label's rank, cut at r* and pi*.

    A set holds every label ranked before ``r_star``, and the one at ``r_star`` if its probability is at least
    ``pi_star`` (None: no such condition), so the mean size lies within ``size_bounds``.
    """

    r_star: int
    pi_star: float | None
    counts: NDArray[np.int64]
    size_bounds: tuple[int, int]

    @property
    def distribution(self) -> NDArray[np.float64]:
        """The share of calibration rows whose true label has rank 1, 2, …, K."""
        return self.counts / self.counts.sum()
