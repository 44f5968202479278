"""What a rule says about itself: small values with names."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, repr=False)
class Estimate:
    """A mean over ``n`` rows with its standard error."""

    mean: float
    error: float
    n: int

    def __repr__(self) -> str:
        return f"Estimate(mean={self.mean:.6g}, error={self.error:.3g}, n={self.n})"


@dataclass(frozen=True, repr=False)
class CoverageBand:
    """Where the coverage of a rule lies, over all calibrations with ``n`` rows.

    Exact for keys that are never tied. Ties raise coverage: where ``tied`` is true (other calibration rows have the
    very key of the threshold) ``low`` and ``mean`` are lower limits, and ``high`` may be exceeded.
    """

    low: float
    high: float
    mean: float
    confidence: float
    n: int
    tied: bool = False

    def __repr__(self) -> str:
        ties = ", tied: coverage may be higher" if self.tied else ""
        return (
            f"CoverageBand({self.confidence:.0%} within {self.low:.4f} to {self.high:.4f}, mean {self.mean:.4f}, "
            f"n={self.n}{ties})"
        )


@dataclass(frozen=True, eq=False, repr=False)
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
        return self.counts / max(1, self.counts.sum())

    def __repr__(self) -> str:
        shares = ", ".join(f"{share:.3f}" for share in self.distribution[:5])
        more = ", …" if len(self.counts) > 5 else ""
        cut = "" if self.pi_star is None else f", pi_star={self.pi_star:.6g}"
        return f"RankProfile(r_star={self.r_star}{cut}, size_bounds={self.size_bounds}, distribution=[{shares}{more}])"
