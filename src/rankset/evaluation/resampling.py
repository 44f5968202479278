"""Random halves: one calibrates, the other tests, many times; every score ranks its cells once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rankset.core import lexicographic, parallel
from rankset.core.alpha import threshold_position
from rankset.rules.batch import Batch

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RowMeasure = Callable[[Bools, Ints], NDArray[np.generic]]
"""A number for every row, from whether it is covered and the size of its set."""

MOST_STEPS = 64
"""At how many thresholds, at most, measures are looked at to see how they change with the threshold."""
RARE = 1e-7
"""Thresholds less likely than this, on either side, are left out."""


def halves(n: int, repeats: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Random halves of ``n`` rows, the first to calibrate."""
    rng = np.random.default_rng(seed)
    for _ in range(repeats):
        rows = rng.permutation(n)
        yield rows[: n // 2], rows[n // 2 :]


@dataclass(frozen=True)
class Ranked:
    """Every cell's place in a score's order, found once: a score is a fixed function of the row.

    ``rows`` are the cells' rows in that order, ``ends[place]`` tells how many cells are not after a place, and
    ``labels`` are the places of the true labels' cells.
    """

    rows: Ints
    ends: Ints
    labels: Ints

    @classmethod
    def of(cls, batch: Batch, columns: Ints) -> Ranked:
        """The places of all cells of ``batch``, whose labels stand in ``columns``."""
        parts = [(part, *batch.all_keys(part)) for part in parallel.split(*batch.shape)]
        keys = tuple(np.concatenate(pieces) for pieces in zip(*(keys for *_, keys in parts), strict=True))
        rows = np.concatenate([part.start + cells.row for part, cells, *_ in parts])
        true = np.concatenate([cells.column for _, cells, *_ in parts]) == columns[rows]
        if batch.padded:
            candidates = np.concatenate([batch.candidates(cells, part) for part, cells, *_ in parts])
            keys, rows, true = tuple(key[candidates] for key in keys), rows[candidates], true[candidates]
        sorting = lexicographic.argsort(keys)
        new = np.zeros(len(sorting), dtype=np.bool_)
        for key in keys:
            ordered = key[sorting]
            new[1:] |= ordered[1:] != ordered[:-1]
        places = np.empty(len(sorting), dtype=np.int64)
        places[sorting] = new.cumsum()
        labels = np.empty(len(columns), dtype=np.int64)
        labels[rows[true]] = places[true]
        return cls(rows[sorting], np.append(np.flatnonzero(new), len(new)), labels)

    def sizes(self, place: int) -> Ints:
        """How many cells of each row are not after ``place``."""
        return np.bincount(self.rows[: self.ends[place]], minlength=len(self.labels))

    def influences(self, n_cal: int, alpha: Fraction, measures: Sequence[RowMeasure]) -> tuple[Floats, Floats]:
        """What each row adds to the mean of each measure when it tests, and when it calibrates (measure, row).

        Over halves A, which calibrates, and B, which tests, a mean over B is close to a constant plus the mean of the
        first over B plus the mean of the second over A. A row that calibrates acts through the threshold alone, by
        pulling it towards its label.
        """
        places, chances, pulls = self._thresholds(n_cal, alpha)
        tests = np.zeros((len(measures), len(self.labels)))
        levels = np.empty((len(measures), len(places)))
        for step, (place, chance, sizes) in enumerate(zip(places, chances, self._growing(places), strict=True)):
            covered = self.labels <= place
            for number, measure in enumerate(measures):
                values = measure(covered, sizes).astype(np.float64)
                tests[number] += chance * values
                levels[number, step] = values.mean()
        # a calibration row makes it more likely that the threshold is not after a place, for every place that is not
        # before its label; what the mean would change by from that place to the next one is then lost
        changes = np.diff(levels, axis=1) * pulls[:-1]
        sums = np.concatenate((changes[:, ::-1].cumsum(axis=1)[:, ::-1], np.zeros((len(measures), 1))), axis=1)
        later = np.searchsorted(places[:-1], self.labels)
        return tests, -sums[:, later]

    def _thresholds(self, n_cal: int, alpha: Fraction) -> tuple[Ints, Floats, Floats]:
        """The places a threshold can take, how likely each is over random halves, and how strongly one calibration row
        that is not after it raises the chance that the threshold is not after it either, times ``n_cal``."""
        n, k = len(self.labels), threshold_position(n_cal, alpha)
        if k > n_cal:
            return np.array([len(self.ends) - 1]), np.ones(1), np.zeros(1)
        # the k-th of n_cal rows, drawn without replacement, is the x-th of all n
        logs = np.append(0.0, np.log(np.arange(1, n + 1)).cumsum())
        x = np.arange(k, n - n_cal + k + 1)
        chances = np.exp(
            (logs[x - 1] - logs[x - k] - logs[k - 1])
            + (logs[n - x] - logs[n_cal - k] - logs[n - x - n_cal + k])
            - (logs[n] - logs[n_cal] - logs[n - n_cal])
        )
        within = chances.cumsum()
        first, last = np.searchsorted(within, [RARE, 1 - RARE])
        steps = np.unique(np.linspace(first, min(last, len(x) - 1), MOST_STEPS).round().astype(np.int64))
        known = np.sort(self.labels)
        places = np.unique(known[x[steps] - 1])
        counts = np.searchsorted(known, places, side="right")  # of labels that are not after a place
        reached = within[np.minimum(counts, x[-1]) - k]
        reached[-1] = 1.0
        pulls = np.where(counts <= x[-1], chances[np.minimum(counts, x[-1]) - k], 0.0) * counts * n_cal / k
        return places, np.diff(reached, prepend=0.0), pulls

    def _growing(self, places: Ints) -> Iterator[Ints]:
        """The sizes of all rows at each of some places, in order."""
        sizes, start = np.zeros(len(self.labels), dtype=np.int64), 0
        for end in self.ends[places]:
            sizes = sizes + np.bincount(self.rows[start:end], minlength=len(self.labels))
            start = end
            yield sizes

    def outcome(self, cal: Ints, test: Ints, alpha: Fraction) -> tuple[Bools, Ints]:
        """Which rows of ``test`` are covered, and the sizes of their sets, at ``alpha``, calibrated on ``cal``."""
        k = threshold_position(len(cal), alpha)
        known = np.sort(self.labels[cal])
        place = len(self.ends) - 1 if k > len(cal) else int(known[k - 1])
        return self.labels[test] <= place, self.sizes(place)[test]
