"""Random splits of the rows into a calibration half and a test half. Every score is sorted once for all splits.

``SortedCells`` is for one threshold. ``resampling_by_group`` is for a threshold per group of a condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rankset.core import lexicographic
from rankset.core.alpha import threshold_position
from rankset.core.lexicographic import Keys
from rankset.evaluation.cell_keys import all_cells, threshold_at_label
from rankset.evaluation.metrics import Bools, Floats, Formula, Ints, MeanOverRows, RowValues
from rankset.rules.batch import Batch

Split = tuple[Ints, Ints]
"""Row numbers for calibration, and row numbers for testing."""

MOST_STEPS = 64
"""Largest number of thresholds at which measures are computed to see how they change with the threshold."""
CELLS_AT_ONCE = 100_000
"""Thresholds are looked at together while their number times the number of rows is at most this."""
RARE = 1e-7
"""Thresholds less likely than this, on either side, are left out."""


def halves(n: int, repeats: int, seed: int) -> list[Split]:
    """Return random halves of ``n`` rows."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(n) for _ in range(repeats)]
    return [(rows[: n // 2], rows[n // 2 :]) for rows in orders]


def furthest_threshold(n: int, alphas: Sequence[Fraction]) -> int | None:
    """Return a number of labels, in the order of a score, after which no threshold of half of ``n`` rows can be.

    None if half of the rows is too few for one of ``alphas``.

    >>> furthest_threshold(1000, [Fraction(1, 10)])
    951
    """
    n_cal = n // 2
    k = threshold_position(n_cal, min(alphas))
    return None if k > n_cal else n - n_cal + k


def sort_cells(keys: Keys) -> tuple[Ints, Bools]:
    """Return the order that sorts cells by ``keys``, and whether each sorted cell differs from the one before."""
    sorting = lexicographic.argsort(keys)
    new = np.zeros(len(sorting), dtype=np.bool_)
    for key in keys:
        ordered = key[sorting]
        new[1:] |= ordered[1:] != ordered[:-1]
    return sorting, new


def label_places(sorting: Ints, new: Bools, rows: Ints, true: Bools, n: int) -> Ints:
    """Return the places of the true labels' cells, one for each of ``n`` rows; absent labels are after all cells."""
    places = np.empty(len(sorting), dtype=np.int64)
    places[sorting] = new.cumsum()
    labels = np.full(n, int(new.sum()) + 1, dtype=np.int64)
    labels[rows[true]] = places[true]
    return labels


@dataclass(frozen=True)
class SortedCells:
    """All cells sorted by a score: which cells a threshold keeps follows from their places, for every half.

    Equal cells share a place. ``rows`` are the rows of the cells in sorted order, ``ends[place]`` is the number of
    cells up to a place, and ``labels`` are the places of the true labels' cells, one per row. The place of an absent
    label is after that of every cell.
    """

    rows: Ints
    ends: Ints
    labels: Ints

    @classmethod
    def of(cls, batch: Batch, columns: Ints, furthest: int | None = None) -> SortedCells:
        """Sort the cells of ``batch``; ``columns`` are the columns of the rows' labels.

        If no threshold is after label number ``furthest``, counted from 1 in the order of the score, cells after it are
        left out, and the labels after it share a place after that of every cell.
        """
        keys, rows, true, _ = all_cells(batch, columns, threshold_at_label(batch, columns, furthest))
        sorting, new = sort_cells(keys)
        return cls(
            rows[sorting],
            np.append(np.flatnonzero(new), len(new)),
            label_places(sorting, new, rows, true, len(columns)),
        )

    @property
    def last(self) -> int:
        """The place of the last cells: a threshold there, or after it, keeps every label."""
        return len(self.ends) - 1

    def measure(self, splits: Sequence[Split], labels: Ints, alpha: Fraction, formulas: Sequence[Formula]) -> Floats:
        """Return every formula on every split, as an array (formula, split).

        The first half of a split calibrates at ``alpha``, the second one tests; ``labels`` are the columns of all rows'
        labels. All splits have the same size.
        """
        answers = np.empty((len(formulas), len(splits)))
        k, last = threshold_position(len(splits[0][0]), alpha) if splits else 0, self.last
        for number, (cal, test) in enumerate(splits):
            place = last if k > len(cal) else min(last, int(np.sort(self.labels[cal])[k - 1]))
            sizes = np.bincount(self.rows[: self.ends[place]], minlength=len(self.labels))[test]
            covered, columns = self.labels[test] <= place, labels[test]
            for row, formula in enumerate(formulas):
                answers[row, number] = formula(covered, sizes, columns, alpha)
        return answers

    def effects(self, n_cal: int, alpha: Fraction, formulas: Sequence[MeanOverRows]) -> Floats:
        """Return what each row adds to the mean of each formula over all halves, in which it tests or calibrates."""
        tests, calibrations = self.influences(n_cal, alpha, [formula.row_values for formula in formulas])
        return tests + calibrations

    def influences(self, n_cal: int, alpha: Fraction, measures: Sequence[RowValues]) -> tuple[Floats, Floats]:
        """Return what each row adds to the mean of each measure when it tests, and when it calibrates (measure, row).

        Over halves A, which calibrates, and B, which tests, a mean over B is close to a constant plus the mean of the
        first over B plus the mean of the second over A. A row that calibrates acts through the threshold alone, by
        pulling it towards its label.
        """
        places, chances, pulls = self._thresholds(n_cal, alpha)
        tests, levels = self._at_places(places, chances, measures)
        # a calibration row raises the chance that the threshold is at or before a place, for every place at or after
        # its label; the change of the mean from that place to the next one is then lost
        changes = np.diff(levels, axis=1) * pulls[:-1]
        sums = np.concatenate((changes[:, ::-1].cumsum(axis=1)[:, ::-1], np.zeros((len(measures), 1))), axis=1)
        later = np.searchsorted(places[:-1], self.labels)
        return tests, -sums[:, later]

    def _at_places(self, places: Ints, chances: Floats, measures: Sequence[RowValues]) -> tuple[Floats, Floats]:
        """The mean of each measure's row values, weighted by ``chances`` (measure, row), and their means (measure,
        place)."""
        n = len(self.labels)
        weighted, means = np.zeros((len(measures), n)), np.empty((len(measures), len(places)))
        sizes, start = np.zeros(n, dtype=np.int64), 0
        at_once = max(1, CELLS_AT_ONCE // n)
        for first in range(0, len(places), at_once):
            some = places[first : first + at_once]
            table = np.empty((len(some), n), dtype=np.int64)
            for step, end in enumerate(self.ends[some]):
                table[step] = sizes = sizes + np.bincount(self.rows[start:end], minlength=n)
                start = end
            covered = self.labels <= some[:, np.newaxis]
            for number, measure in enumerate(measures):
                for step, values in enumerate(measure(covered, table).astype(np.float64), first):
                    weighted[number] += chances[step] * values
                    means[number, step] = values.mean()
        return weighted, means

    def _thresholds(self, n_cal: int, alpha: Fraction) -> tuple[Ints, Floats, Floats]:
        """The places a threshold can have, the chance of each over random halves, and how much one calibration row at
        or before a place raises the chance that the threshold is at or before it, times ``n_cal``."""
        n, k = len(self.labels), threshold_position(n_cal, alpha)
        if k > n_cal:
            return np.array([self.last]), np.ones(1), np.zeros(1)
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
        places = np.unique(np.minimum(known[x[steps] - 1], self.last))
        counts = np.searchsorted(known, places, side="right")  # labels at or before a place
        reached = within[np.clip(counts, k, x[-1]) - k]
        reached[-1] = 1.0
        pulls = np.where(counts <= x[-1], chances[np.clip(counts, k, x[-1]) - k], 0.0) * counts * n_cal / k
        return places, np.diff(reached, prepend=0.0), pulls
