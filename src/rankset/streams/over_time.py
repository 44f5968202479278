"""``OverTime``: the history of a stream as numbers to draw, for reports and figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankset.core.binomial_tails import at_least, at_most

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALARMS = ("labels", "outputs", "coverage")
CONFIDENCE = 0.95
"""Share of the blocks that lie inside the band, at least, if each label is missed with probability alpha."""


@dataclass(frozen=True, eq=False)
class OverTime:
    """Numbers of a stream, one entry per block of rows; NaN where a block has no rows or no labels.

    Attributes
    ----------
    row : number of rows up to the end of the block.
    rows, labels, misses : number of rows, of labels that came, and of labels that their set missed, in the block.
    coverage : share of the labels of the block that were in the set of their row.
    low, high : band of coverage. A block lies outside with probability 1 - CONFIDENCE at most, if each of its labels is
        missed with probability alpha, independently of the others.
    running : share of all labels up to the end of the block that were in the set of their row.
    size : mean number of labels in the sets of the block.
    level : level at the end of the block.
    evidence : logarithms to base 10 of the evidence at the end of the block, by the name of the alarm.
    """

    row: Floats
    rows: Floats
    labels: Floats
    misses: Floats
    coverage: Floats
    low: Floats
    high: Floats
    running: Floats
    size: Floats
    level: Floats
    evidence: dict[str, Floats]

    @classmethod
    def of(cls, history: Mapping[str, Floats], alpha: float) -> OverTime:
        """Return the numbers of a history, as ``Stream.history`` returns it."""
        labels, misses = history["labels"], history["misses"]
        low, high = binomial_band(labels.astype(np.int64), 1 - alpha)
        return cls(
            row=history["row"],
            rows=history["rows"],
            labels=labels,
            misses=misses,
            coverage=1 - _share(misses, labels),
            low=low,
            high=high,
            running=1 - _share(misses.cumsum(), labels.cumsum()),
            size=_share(history["sizes"], history["rows"]),
            level=history["level"],
            evidence={name: history[f"log_{name}"] / math.log(10) for name in ALARMS},
        )

    @property
    def below(self) -> NDArray[np.bool_]:
        """Which blocks lie below the band."""
        return self.coverage < self.low

    @property
    def above(self) -> NDArray[np.bool_]:
        """Which blocks lie above the band."""
        return self.coverage > self.high


def finished(counts: Floats) -> NDArray[np.bool_]:
    """Return which blocks are worth drawing while rows and labels still come, given their numbers of rows or labels.

    The last block that has any is left out until it has half as many as the one before: shares of few labels differ
    much by chance, and would look like a change at the end.

    >>> finished(np.array([50.0, 50.0, 3.0])).tolist()
    [True, True, False]
    >>> finished(np.array([3.0])).tolist()
    [True]
    """
    found, places = counts > 0, np.flatnonzero(counts)
    if len(places) > 1 and 2 * counts[places[-1]] < counts[places[-2]]:
        found[places[-1]] = False
    return found


def _share(part: Floats, whole: Floats) -> Floats:
    """Return quotients; NaN where the whole is 0."""
    return np.divide(part, whole, out=np.full(len(whole), math.nan), where=whole > 0)


def binomial_band(counts: Ints, share: float) -> tuple[Floats, Floats]:
    """Return for every count the smallest and the largest share of hits that are not outside the band.

    Fewer hits than the first one, and more than the second one, have probability (1 - CONFIDENCE) / 2 at most, if each
    is one with probability ``share``. NaN where the count is 0.

    >>> low, high = binomial_band(np.array([50, 1000]), 0.9)
    >>> low.tolist(), high.tolist()
    ([0.82, 0.881], [0.98, 0.918])
    """
    different, places = np.unique(counts, return_inverse=True)
    ends = np.array([_ends(int(count), share) for count in different]).reshape(-1, 2)[places]
    return ends[:, 0], ends[:, 1]


def _ends(count: int, share: float) -> tuple[float, float]:
    """Return the ends of the band of one count."""
    if count == 0:
        return math.nan, math.nan
    width = 20 + 8 * math.isqrt(count)
    middle = int(count * share)
    near = np.arange(max(0, middle - width), min(count, middle + width) + 1)
    outside, tail = np.full(len(near), count), (1 - CONFIDENCE) / 2
    low = near[at_most(near, outside, share) > tail][0]
    high = near[at_least(near, outside, share) > tail][-1]
    return float(low / count), float(high / count)
