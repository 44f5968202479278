"""``CoverageLaw``: the parameters of the distribution of coverage."""

from dataclasses import dataclass

from rankset.core import coverage_law


@dataclass(frozen=True)
class CoverageLaw:
    """Parameters of the distribution of coverage.

    The threshold is the ``k``-th of ``n`` sorted calibration keys. If ``exact`` is True, coverage has the distribution
    Beta(k, n + 1 - k). If ``exact`` is False, there are ties, and coverage is at least as high.

    ``absent`` is the number of calibration rows whose true label is not among the candidates. Their keys are the last.
    Coverage is then the smaller of a number with this distribution (larger if there are ties) and the share of rows
    whose true label is among the candidates, which is not known.
    If the k-th key is one of them, no threshold gives a coverage of 1 - alpha: ``attained`` is False.

    ``outer``: a part of a row can be missed. Coverage is then 1 minus the mean loss. Its distribution is not known, but
    ranges that contain it often enough are (``core.coverage_law``).
    """

    k: int
    n: int
    exact: bool
    absent: int = 0
    outer: bool = False

    @property
    def attained(self) -> bool:
        """False if so many labels are absent that every set contains all candidates."""
        return self.absent == 0 or self.k <= self.n - self.absent

    @property
    def least_k(self) -> int:
        """The position of the key up to which labels are certainly kept: ``k``, or that of the last label's key."""
        return self.k if self.attained else self.n - self.absent

    def sampling_range(self, m: int, confidence: float) -> tuple[float, float]:
        """Return the range that holds the coverage of ``m`` rows with probability ``confidence``, or with at least it.

        Parameters
        ----------
        m
            Number of test rows.
        confidence
            The probability, strictly between 0 and 1.

        Returns
        -------
        low, high : float

        Examples
        --------
        >>> from rankset.sets import CoverageLaw
        >>> CoverageLaw(90, 99, exact=True).sampling_range(100, 0.9)
        (0.82, 0.96)
        """
        if self.k > self.n:
            return 1.0, 1.0
        if self.outer:
            low, high = coverage_law.outer_sampling_range(m, self.k, self.n, confidence)
            return low, high if self.exact else 1.0
        low, high = coverage_law.sampling_range(m, self.least_k, self.n, confidence)
        if not self.attained:  # every candidate is kept, so coverage is below the level of the first absent label's key
            return low, coverage_law.sampling_range(m, self.least_k + 1, self.n, confidence)[1]
        return low, high if self.exact else 1.0
