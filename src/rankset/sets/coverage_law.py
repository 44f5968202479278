"""``CoverageLaw``: the parameters of the distribution of coverage."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CoverageLaw:
    """Parameters of the distribution of coverage.

    The threshold is the ``k``-th of ``n`` sorted calibration keys. If ``exact`` is True, coverage has the distribution
    Beta(k, n + 1 - k). If ``exact`` is False, there are ties, and coverage is at least as high.

    ``absent`` is the number of calibration rows whose true label is not among the candidates. Their keys are the last.
    Coverage is then the smaller of a number with this distribution (larger if there are ties) and the share of rows
    whose true label is among the candidates, which is not known.
    If the k-th key is one of them, no threshold gives a coverage of 1 - alpha: ``attained`` is False.

    ``outer``: a part of a row can be missed. Coverage is then 1 minus the mean loss, which varies at most as much.
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
