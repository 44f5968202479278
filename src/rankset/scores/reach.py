"""``Reach``: limits that every label in a set satisfies. With these limits, rows are sorted only in part."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.lexicographic import Keys
from rankset.errors import ScoreError
from rankset.scores.base import Score
from rankset.scores.declarations import declared

Limit = NDArray[Any] | float


@dataclass(frozen=True)
class Reach:
    """Limits that every label in a set satisfies. Returned by the optional method ``reach(bounds)`` of a score.

    The limits make prediction faster, because only part of each row must be sorted.

    ``bounds`` contains thresholds in the same form as the result of ``keys``: a tuple of arrays with one entry per
    threshold. If the keys of a label are not larger than a threshold, the label must satisfy all four limits for this
    threshold. Limits that are too wide only cost time. Limits that are too narrow remove labels from the sets, and
    the guarantee does not hold.

    Parameters
    ----------
    rank : float or array, default inf
        Largest rank of a label in a set.
    before : float or array, default inf
        Largest total probability of the labels that are ranked before a label in a set.
    prob : float or array, default -inf
        Smallest probability of a label in a set.
    behind : float or array, default inf
        Largest difference between the second largest probability of the row and the probability of a label in a set.

    Examples
    --------
    >>> import rankset as rs
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Unlikely:
    ...     features = ("prob",)
    ...     def keys(self, cells):
    ...         return (-cells.prob,)
    ...     def reach(self, bounds):
    ...         return rs.Reach(prob=-bounds[0])
    >>> probs, labels = rs.datasets.load("marketing")
    >>> sets = rs.calibrate(probs, labels, method=Unlikely()).predict(probs, alpha=0.1)
    >>> sets == rs.calibrate(probs, labels, method=rs.Thr()).predict(probs, alpha=0.1)
    True
    """

    rank: Limit = math.inf
    before: Limit = math.inf
    prob: Limit = -math.inf
    behind: Limit = math.inf


REACHES = ("rank", "before", "prob", "behind")


def reach_of(score: Score, bounds: Keys) -> Reach:
    """Return the checked limits of ``score`` for the thresholds ``bounds``, or infinite limits without ``reach``."""
    with np.errstate(all="ignore"):  # infinite limits are allowed
        own = declared(score, "reach")
        found = Reach() if own is None else own(bounds)
    if not isinstance(found, Reach):
        raise ScoreError.reach(score, "a rankset.Reach", type(found).__name__)
    return Reach(*(_limit(score, name, getattr(found, name), bounds[0]) for name in REACHES))


def _limit(score: Score, name: str, limit: object, bounds: NDArray[Any]) -> NDArray[np.float64]:
    """Return ``limit`` as an array with one entry for each of ``bounds``."""
    expected = f"numbers or arrays of shape {bounds.shape}, without NaN"
    try:
        limits = np.broadcast_to(np.asarray(limit, dtype=np.float64), bounds.shape)
    except (TypeError, ValueError):
        raise ScoreError.reach(score, expected, f"{name}={limit!r}") from None
    if np.isnan(limits).any():
        raise ScoreError.reach(score, expected, f"{name}={limit!r}")
    return limits
