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
    """The distribution of the true label's rank over the calibration rows, and where it is cut.

    A set holds every label ranked before ``r_star``, and the one at ``r_star`` if its probability is at least
    ``threshold_prob`` (None: no such condition).

    * ``r_star`` is the paper's r*.
    * ``threshold_prob`` is not the paper's pi*. It is taken from the rows whose true label has rank r*: the probability
      of the true label at the threshold, which makes coverage exact. The paper's pi* (step 6 of its Algorithm 1;
      ``rankset.paper.printed_rule`` has it) is taken from the r*-th largest probability of all rows; coverage can
      fall below 1 - alpha with it.
    * ``size_bounds`` holds the least and the largest size of a set; None where the labels of a row have different
      thresholds (``PerLabel``), so that sizes are not bounded by one r*. A row with fewer candidates than
      that (``Ragged``) has at most as many labels as candidates.
    """

    r_star: int
    threshold_prob: float | None
    counts: NDArray[np.int64]
    size_bounds: tuple[int, int] | None

    @property
    def distribution(self) -> NDArray[np.float64]:
        """The share of calibration rows whose true label has rank 1, 2, …, K."""
        return self.counts / max(1, self.counts.sum())

    def __repr__(self) -> str:
        shares = ", ".join(f"{share:.3f}" for share in self.distribution[:5])
        more = ", …" if len(self.counts) > 5 else ""
        cut = "" if self.threshold_prob is None else f", threshold_prob={self.threshold_prob:.6g}"
        return f"RankProfile(r_star={self.r_star}{cut}, size_bounds={self.size_bounds}, distribution=[{shares}{more}])"
