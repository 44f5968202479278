"""``CoverageLaw``: what sets know about the distribution of their coverage."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CoverageLaw:
    """Position k of the threshold among n calibration keys, which gives the distribution of coverage.

    Without ``exact`` it gives a lower limit only.
    """

    k: int
    n: int
    exact: bool
