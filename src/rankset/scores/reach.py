"""How far down its row a label can be and still be kept: what a score declares so that rows are sorted only in part."""

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
    """How far down its row a label can be and still be kept. A score's ``reach(bounds)`` returns it.

    ``bounds`` are thresholds in the form that ``keys`` returns: a tuple of arrays with one entry per threshold. Every
    label whose keys do not exceed a threshold must satisfy all four limits. Limits that are wider than necessary cost
    time. A limit that is too narrow drops labels, and the guarantee does not hold.

    Parameters
    ----------
    rank : float or array, default inf
        Largest rank.
    before : float or array, default inf
        Largest mass of the labels ranked before the label.
    prob : float or array, default -inf
        Smallest probability.
    behind : float or array, default inf
        Largest difference between the second largest entry of the row and the label's entry.

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
    >>> sets = rs.calibrate(probs, labels, score=Unlikely()).predict(probs, alpha=0.1)
    >>> sets == rs.calibrate(probs, labels, score=rs.Thr()).predict(probs, alpha=0.1)
    True
    """

    rank: Limit = math.inf
    before: Limit = math.inf
    prob: Limit = -math.inf
    behind: Limit = math.inf


REACHES = ("rank", "before", "prob", "behind")


def reach_of(score: Score, bounds: Keys) -> Reach:
    """Return the reach that ``score`` declares for the thresholds ``bounds``, checked; no limits if it has none."""
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
