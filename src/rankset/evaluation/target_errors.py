"""Standard errors of comparisons with a target: what each row adds to the means over all random halves.

A row that tests adds its own value. A row that calibrates moves the threshold. Let R(t) be the mean loss beyond the
threshold t. In a random half, it is close to a normal variable, so the chance that the threshold of the half is at or
before t is the chance that this variable is at most what alpha allows. A row changes it by its own loss beyond t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from rankset.core import lexicographic, parallel
from rankset.core.alpha import rows_needed
from rankset.core.lexicographic import Keys
from rankset.core.sorted_keys import SortedKeys
from rankset.core.weights import Weights
from rankset.evaluation.metrics import Bools, Floats, Ints
from rankset.evaluation.resampling import MOST_STEPS
from rankset.rules.batch import Batch
from rankset.rules.target_entries import chosen_entries, true_labels

RISK = "risk"
OF_ALL_ROWS = ("size", "empty")
"""Measures that are means over all rows; others are means over rows with labels."""
FAR = 5.2
"""Thresholds so many standard deviations away, on either side, are left out."""
SMALLEST = 1e-12
"""Smaller standard deviations are rounding errors."""
NUMBERS = 8
"""Numbers of a row that are kept for each threshold: blocks are so much smaller."""


class _Entries(NamedTuple):
    """Row, keys and weight of every calibration entry, and which rows have true labels."""

    rows: Ints
    keys: Keys
    shares: Floats
    labelled: Bools


def effects_of_rows(batch: Batch, alpha: Fraction, measures: tuple[str, ...]) -> Floats:
    """Return what each row adds to the mean of each measure over all halves (measure, row).

    NaN if there are several thresholds, or if halves can have too few rows with labels for ``alpha``.
    """
    n, unknown = batch.shape[0], np.full((len(measures), batch.shape[0]), np.nan)
    if batch.spec.shared_group is None:
        return unknown
    entries, share = _entries(batch), (n // 2) / n
    labelled = int(entries.labelled.sum())
    expected = labelled * share
    noise = math.sqrt(expected * (1 - share) * (1 - labelled / n))
    if expected - FAR * noise < rows_needed(alpha):
        return unknown
    allowed, scale = (float(alpha) * (expected + 1) - 1) / expected, (1 - share) / expected
    tables = _Tables(batch, _thresholds(entries, allowed, scale), measures)
    sums, squares = tables.sums()
    means = sums / np.array([[n] if name in OF_ALL_ROWS else [labelled] for name in measures])
    chances, density = _law(means[0], squares / labelled - means[0] ** 2, allowed, scale)
    steps = np.diff(means, axis=1, append=means[:, -1:]) * density
    tests, calibrations = tables.effects(means, chances, steps)
    weights = np.where(entries.labelled, n / labelled, 0.0)  # rows without labels do not calibrate
    own = np.array([np.ones(n) if name in OF_ALL_ROWS else weights for name in measures])
    return tests * own + calibrations * weights


@dataclass(frozen=True)
class _Tables:
    """The measures of all rows at each of some thresholds, block by block."""

    batch: Batch
    thresholds: Keys
    measures: tuple[str, ...]

    def sums(self) -> tuple[Floats, Floats]:
        """Return the sums of the measures at each threshold (measure, threshold), and those of squares of losses."""

        def of_block(part: slice) -> Floats:
            values, labelled = self._values(part)
            own = [one if name in OF_ALL_ROWS else one[labelled] for name, one in values.items()]
            return np.array([one.sum(axis=0) for one in (*own, own[0] ** 2)])

        found = np.sum(self._map(of_block), axis=0)
        return found[:-1], found[-1]

    def effects(self, means: Floats, chances: Floats, steps: Floats) -> tuple[Floats, Floats]:
        """Return what each row adds when it tests, and when it calibrates (measure, row).

        ``steps`` are the changes of the means from a threshold to the next, times the density of the mean loss.
        """

        def of_block(part: slice) -> Floats:
            values, _ = self._values(part)
            tests = [(one - mean) @ chances for one, mean in zip(values.values(), means, strict=True)]
            beyond = values[RISK] - means[0]
            return np.array([tests, [beyond @ step for step in steps]])

        tests, calibrations = np.concatenate(self._map(of_block), axis=2)
        return tests, calibrations

    def _map(self, function: Callable[[slice], Floats]) -> list[Floats]:
        n_rows, n_columns = self.batch.shape
        return parallel.map_blocks(function, n_rows, max(n_columns, NUMBERS * len(self.thresholds[0])))

    @cached_property
    def _table(self) -> SortedKeys:
        return SortedKeys(self.thresholds)

    def _values(self, part: slice) -> tuple[dict[str, Floats], Bools]:
        """Return the measures of each row of a block at each threshold, by name, and which rows have labels."""
        batch, shape = self.batch, (part.stop - part.start, len(self.thresholds[0]))
        cells, _, keys = batch.all_keys(part)
        kept = batch.candidates(cells, part)
        sizes = _up_to(cells.row, self._table.before(keys), np.ones(cells.size) if kept is None else kept, shape)
        labels = true_labels(batch, part)
        first = self._table.before(labels.keys)
        places, weights = chosen_entries(batch.spec.target, labels)
        shares = _shares(places, weights)
        kept_shares = _up_to(labels.row[places], first[places], shares, shape)
        risk = np.bincount(labels.row[places], shares, shape[0])[:, np.newaxis] - kept_shares
        counts = np.bincount(labels.row, minlength=shape[0])[:, np.newaxis]
        hits = _up_to(labels.row, first, np.ones(len(labels)), shape)
        recall = hits / np.maximum(counts, 1)
        known = {RISK: risk, "recall": recall, "all labels": hits == counts, "size": sizes, "empty": sizes == 0}
        return {name: known[name].astype(np.float64) for name in self.measures}, counts[:, 0] > 0


def _up_to(rows: Ints, first: Ints, weights: Floats | Bools, shape: tuple[int, int]) -> Floats:
    """Return for each row and threshold the weight of what a threshold keeps, from number ``first`` on."""
    n_rows, count = shape
    flat = np.bincount(rows * (count + 1) + first, weights, n_rows * (count + 1))
    return flat.reshape(n_rows, count + 1)[:, :count].cumsum(axis=1)


def _shares(places: Ints, weights: Weights | None) -> Floats:
    return np.ones(len(places)) if weights is None else weights[0] / weights[1]


def _entries(batch: Batch) -> _Entries:
    """Return the calibration entries of all rows."""
    parts = batch.map_blocks(partial(_entries_of_block, batch))
    labelled = np.zeros(batch.shape[0], dtype=np.bool_)
    for _, _, _, rows in parts:
        labelled[rows] = True
    keys = tuple(np.concatenate(some) for some in zip(*(part[1] for part in parts), strict=True))
    return _Entries(np.concatenate([part[0] for part in parts]), keys, np.concatenate([p[2] for p in parts]), labelled)


def _entries_of_block(batch: Batch, part: slice) -> tuple[Ints, Keys, Floats, Ints]:
    """Return rows, keys and weights of the entries of a block, and the rows that have labels."""
    labels = true_labels(batch, part)
    places, weights = chosen_entries(batch.spec.target, labels)
    rows = part.start + labels.row
    return rows[places], tuple(key[places] for key in labels.keys), _shares(places, weights), rows


def _thresholds(entries: _Entries, allowed: float, scale: float) -> Keys:
    """Return the thresholds that halves can have, from strict to loose; some of them if there are many."""
    order, labelled = lexicographic.argsort(entries.keys), entries.labelled
    keys, shares = tuple(key[order] for key in entries.keys), entries.shares[order]
    places = np.flatnonzero(
        np.append(np.any([key[1:] != key[:-1] for key in keys], axis=0), True)
    )  # last of equal keys
    risks = np.append(shares[::-1].cumsum()[::-1][1:], 0.0)[places] / labelled.sum()
    middle = min(int(np.searchsorted(-risks, -allowed)), len(places) - 1)
    after = slice(int(places[middle]) + 1, None)
    lost = np.bincount(entries.rows[order[after]], shares[after], len(labelled))[labelled]
    near = np.abs(risks - allowed) <= FAR * math.sqrt(float(lost.var()) * scale)
    near[middle] = True
    first, last = np.flatnonzero(near)[[0, -1]]
    chosen = np.linspace(max(first - 1, 0), min(last + 1, len(places) - 1), MOST_STEPS).round().astype(np.int64)
    return tuple(key[places[np.unique(chosen)]] for key in keys)


def _law(risks: Floats, variances: Floats, allowed: float, scale: float) -> tuple[Floats, Floats]:
    """Return the chance of each threshold over halves, and the density there of the mean loss of a half.

    ``risks`` and ``variances`` are those of the losses of rows, of which the mean of a half has ``scale`` times the
    variance.
    """
    deviations = np.sqrt(np.maximum(variances, 0.0) * scale)
    safe = np.maximum(deviations, SMALLEST)
    distances = np.clip((allowed - risks) / safe, -40.0, 40.0)
    reached = np.array([0.5 * math.erfc(-one / math.sqrt(2)) for one in distances.tolist()])
    reached[-1] = 1.0
    density = np.where(deviations > SMALLEST, np.exp(-(distances**2) / 2) / (math.sqrt(2 * math.pi) * safe), 0.0)
    density[-1] = 0.0
    return np.diff(np.maximum.accumulate(reached), prepend=0.0), density
