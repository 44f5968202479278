"""``CoverageLaw``: the parameters of the distribution of coverage."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CoverageLaw:
    """Parameters of the distribution of coverage.

    The threshold is the ``k``-th of ``n`` sorted calibration keys. If ``exact`` is True, coverage has the distribution
    Beta(k, n + 1 - k). If ``exact`` is False, there are ties, and coverage is at least as high.
    """

    k: int
    n: int
    exact: bool
