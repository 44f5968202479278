"""Answers of a rule about itself: Estimate, CoverageBand, RankProfile."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, repr=False)
class Estimate:
    """A mean over ``n`` rows with its standard error, returned by ``Rule.expected_size``.

    Parameters
    ----------
    mean : the mean.
    error : its standard error; infinite for one row.
    n : number of rows.

    Examples
    --------
    >>> import rankset as rs
    >>> rs.Estimate(mean=1.5, error=0.1, n=200)
    Estimate(mean=1.5, error=0.1, n=200)
    """

    mean: float
    error: float
    n: int

    def __repr__(self) -> str:
        return f"Estimate(mean={self.mean:.6g}, error={self.error:.3g}, n={self.n})"


@dataclass(frozen=True, repr=False)
class CoverageBand:
    """The range of a rule's coverage over all calibrations with ``n`` rows, returned by ``Rule.coverage_band``.

    The band is exact if no keys are tied. Ties raise coverage: if ``tied`` is true, other calibration rows have the key
    of the threshold too; then ``low`` and ``mean`` are lower limits, and coverage may exceed ``high``.

    Attributes
    ----------
    low, high : the ends of the band.
    mean : the mean coverage.
    confidence : the share of calibrations whose coverage lies in the band.
    n : number of calibration rows.
    tied : whether the key of the threshold occurs more than once.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels).coverage_band(0.1)
    CoverageBand(90% within 0.8683 to 0.9290, mean 0.9004, n=260)
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
    """The ranks of the true labels at calibration, returned by ``Rule.rank_profile``.

    A set contains every label ranked before ``r_star``. It contains the label at ``r_star`` if its probability is at
    least ``threshold_prob``.

    Attributes
    ----------
    r_star : the paper's r*.
    threshold_prob : the true label's probability in the calibration row at the threshold; None if probabilities do not
        matter. It is not the paper's pi*, with which coverage can fall below 1 - alpha
        (``rankset.paper.printed_rule`` has it).
    counts : how many calibration rows have their true label at rank 1, 2, …, K.
    size_bounds : the smallest and the largest size of a set; None if the labels of a row have different thresholds.
        ``Ragged`` rows have at most as many labels as candidates.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, score=rs.TopK()).rank_profile(0.1).size_bounds
    (3, 3)
    """

    r_star: int
    threshold_prob: float | None
    counts: NDArray[np.int64]
    size_bounds: tuple[int, int] | None

    @property
    def distribution(self) -> NDArray[np.float64]:
        """Share of calibration rows whose true label has rank 1, 2, …, K."""
        return self.counts / max(1, self.counts.sum())

    def __repr__(self) -> str:
        shares = ", ".join(f"{share:.3f}" for share in self.distribution[:5])
        more = ", …" if len(self.counts) > 5 else ""
        cut = "" if self.threshold_prob is None else f", threshold_prob={self.threshold_prob:.6g}"
        return f"RankProfile(r_star={self.r_star}{cut}, size_bounds={self.size_bounds}, distribution=[{shares}{more}])"
