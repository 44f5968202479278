"""Results of methods of ``Rule``: ``Estimate``, ``CoverageBand``, ``RankProfile``."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankset.errors import RuleError


@dataclass(frozen=True, repr=False)
class Estimate:
    """A mean over ``n`` rows with its standard error, returned by ``Rule.expected_size``.

    Parameters
    ----------
    mean
        The mean.
    error
        The standard error of the mean. Infinite if there is only one row.
    n
        Number of rows.

    Examples
    --------
    >>> import rankset as rs
    >>> rs.Estimate(mean=1.5, error=0.1, n=200)
    Estimate(mean=1.5, error=0.1, n=200)
    """

    mean: float
    error: float
    n: int

    @classmethod
    def of_sizes(cls, sizes: NDArray[np.int64]) -> Estimate:
        """Return the mean of set sizes.

        Parameters
        ----------
        sizes
            Array (n,) of the number of labels in each set.

        Returns
        -------
        Estimate

        Raises
        ------
        RuleError
            If there are no sets.

        Examples
        --------
        >>> import numpy as np, rankset as rs
        >>> rs.Estimate.of_sizes(np.array([1, 2, 2, 1]))
        Estimate(mean=1.5, error=0.289, n=4)
        """
        if len(sizes) == 0:
            raise RuleError.no_unlabelled_rows()
        error = sizes.std(ddof=1) / math.sqrt(len(sizes)) if len(sizes) > 1 else math.inf
        return cls(float(sizes.mean()), float(error), len(sizes))

    def __repr__(self) -> str:
        return f"Estimate(mean={self.mean:.6g}, error={self.error:.3g}, n={self.n})"


@dataclass(frozen=True, repr=False)
class CoverageBand:
    """The range in which the coverage of a rule is expected, returned by ``Rule.coverage_band``.

    The band is exact if all calibration rows have different score values. If ``tied`` is True, several calibration rows
    have the same score value as the threshold. Then ``low`` and ``mean`` are lower limits, and coverage can be larger
    than ``high``.

    If labels of calibration rows are ``rankset.ABSENT``, coverage cannot exceed the share of rows whose true label is
    among the candidates. This share is not known, so neither is the mean. Over all calibrations, coverage is below
    ``low`` and above ``high`` at most as often as without absent labels. This holds for every share.

    Attributes
    ----------
    low, high
        The ends of the band.
    mean
        The mean coverage. NaN if ``absent`` is not 0.
    confidence
        The probability that the coverage is between ``low`` and ``high``. With absent labels, at least this.
    n
        Number of calibration rows that were used for the threshold.
    tied
        Whether several calibration rows have the same score value as the threshold.
    attained
        Whether coverage of 1 - alpha can be attained. If False, the true labels of too many calibration rows are
        ``rankset.ABSENT``, and every candidate is in its set. The band is then about the share of rows whose true label
        is among the candidates. This depends on the calibration rows: with other rows the same alpha can be attained.
    absent
        Number of calibration rows with the label ``rankset.ABSENT``.
    outer
        True if a part of a row can be missed, as with the targets ``Recall`` and ``Cost``. Coverage is then 1 minus the
        mean loss. Its exact distribution is not known, so ``mean`` is NaN, and the band is wider than that of rows that
        are missed or not: coverage is below ``low``, and above ``high``, at most as often as ``confidence`` says.

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
    attained: bool = True
    absent: int = 0
    outer: bool = False

    def __repr__(self) -> str:
        if self.absent:
            return self._repr_with_absent()
        if self.outer:
            limits = f"{self.low:.4f} to {self.high:.4f}"
            return f"CoverageBand(1 - expected loss, at least {self.confidence:.0%} within {limits}, n={self.n})"
        note = ", tied: coverage may be higher" if self.tied else ""
        return (
            f"CoverageBand({self.confidence:.0%} within {self.low:.4f} to {self.high:.4f}, mean {self.mean:.4f}, "
            f"n={self.n}{note})"
        )

    def _repr_with_absent(self) -> str:
        note = ", tied: coverage may be higher" if self.tied else ""
        limit = "coverage is at most the share of labels among the candidates"
        absent = limit if self.attained else "1 - alpha cannot be attained"
        return (
            f"CoverageBand(at least {self.confidence:.0%} within {self.low:.4f} to {self.high:.4f}, "
            f"n={self.n}{note}, {self.absent} absent: {absent})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class RankProfile:
    """The ranks of the true labels in the calibration rows, returned by ``Rule.rank_profile``.

    The most likely label of a row has rank 1. A set contains all labels with a rank below ``r_star``. With the score
    ``Rank`` it also contains the label with rank ``r_star`` if the probability of this label is at least
    ``threshold_prob``. With the score ``TopK`` it always contains this label.

    Attributes
    ----------
    r_star
        The largest rank that a label in a set can have. The paper calls it r*.
    threshold_prob
        The smallest probability with which a label of rank ``r_star`` is in the set. None if the score
        does not use probabilities, or if every set contains all labels. This number is not the paper's pi*. The paper
        computes pi* in another way, and coverage can then be below 1 - alpha (see ``rankset.paper.printed_rule``).
    counts
        The number of calibration rows whose true label has rank 1, 2, …, K.
    size_bounds
        The smallest and the largest possible size of a set. None if the labels of a row have different
        thresholds. ``Ragged`` rows with few candidates can have smaller sets.
    absent
        The number of calibration rows whose true label has no rank, because it is not among the candidates.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, method=rs.TopK()).rank_profile(0.1).size_bounds
    (3, 3)
    """

    r_star: int
    threshold_prob: float | None
    counts: NDArray[np.int64]
    size_bounds: tuple[int, int] | None
    absent: int = 0

    @property
    def distribution(self) -> NDArray[np.float64]:
        """Fraction of calibration rows whose true label has rank 1, 2, …, K. Rows with an absent label count, too."""
        return self.counts / max(1, self.counts.sum() + self.absent)

    def __repr__(self) -> str:
        shares = ", ".join(f"{share:.3f}" for share in self.distribution[:5])
        more = ", …" if len(self.counts) > 5 else ""
        cut = "" if self.threshold_prob is None else f", threshold_prob={self.threshold_prob:.6g}"
        absent = f", absent={self.absent}" if self.absent else ""
        return (
            f"RankProfile(r_star={self.r_star}{cut}, size_bounds={self.size_bounds}, "
            f"distribution=[{shares}{more}]{absent})"
        )
