"""What ``Pooled`` would do for the classes: measured on random halves of the test rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from rankset.conditions import Condition, Marginal, Pooled
from rankset.core import parallel
from rankset.core.alpha import rows_needed
from rankset.errors import silent
from rankset.evaluation.metrics import METRICS, Bools
from rankset.evaluation.resampling import Split, halves
from rankset.inputs.prepare import Prepared
from rankset.reports.tested import MOST_CLASSES, Ints, LabelledRows, TestedRule
from rankset.rules.rule import calibrate_prepared
from rankset.rules.spec import NO_NAMES, ONE_LABEL, RuleSpec

HALVES = 5
"""Largest number of random halves."""
MOST_CELLS = 5_000_000
"""Largest number of (row, label) pairs that are looked at, in all halves together; for more rows nothing is shown."""
FEWEST_ROWS = 50
"""A half with fewer rows says nothing about classes."""
GAP, SIZE = "RMS class gap", "size"
DIGITS = 4


def with_pooled(rule: TestedRule, data: Prepared | None, rows: LabelledRows) -> dict[str, Any]:
    """Return coverage by class, RMS class gap and mean size with ``Pooled()`` at every level, ready for JSON.

    Rows of one half of the test rows calibrate, but not more than the rule has; the other half tests. Gap and size have
    two numbers: those of one threshold for all rows on the same halves, and those of ``Pooled()``. At levels for which
    there are too few rows, entries are None. Nothing is returned for rules with another condition than ``Marginal()``,
    and where the question makes no sense or takes long.
    """
    count = 0 if data is None else _halves(rule.spec, data, rows)
    if data is None or not count:
        return {}
    plain = replace(data, groups=None, ids=data.ids if rule.spec.with_ids else None)
    n_cal = min(rows.n // 2, int(rule.counts.sum()))
    splits = [(cal[:n_cal], test) for cal, test in halves(rows.n, count, 0)]
    now, then = (_tested(rule.spec, condition, plain, splits, rows) for condition in (Marginal(), Pooled()))
    enough = [n_cal >= rows_needed(alpha) for alpha in rows.alphas]
    pairs: dict[str, list[Any]] = {
        name: [pair if known else None for pair, known in zip(_pairs(now, then, name), enough, strict=True)]
        for name in (GAP, SIZE)
    }
    coverage = [one if known else None for one, known in zip(_coverage(then, len(rows.classes)), enough, strict=True)]
    told = {"halves": count, "rows": n_cal, "coverage": coverage, "gap": pairs[GAP], "size": pairs[SIZE]}
    return {"pooled": told}


def _halves(spec: RuleSpec, data: Prepared, rows: LabelledRows) -> int:
    """Return on how many halves ``Pooled`` is tried; 0 if it is not."""
    sensible = (
        isinstance(spec.condition, Marginal)
        and not spec.weighted
        and spec.target == ONE_LABEL
        and data.counts is None
        and rows.options is None
        and rows.n // 2 >= FEWEST_ROWS
        and len(rows.classes) <= MOST_CLASSES
        and not (rows.labels < 0).any()
        and len(np.unique(rows.labels)) > 1
    )
    return min(HALVES, MOST_CELLS // (rows.n * data.n_columns)) if sensible else 0


@dataclass(frozen=True)
class TestedHalf:
    """The rows of a half that tests, at every level: whether sets cover them (level, row), sizes, and labels."""

    covered: Bools
    sizes: Ints
    labels: Ints
    alphas: Sequence[Fraction]

    def values(self, name: str) -> list[float]:
        """Return a metric at every level."""
        formula = METRICS[name].formula
        return [
            formula(hits, widths, self.labels, alpha)
            for hits, widths, alpha in zip(self.covered, self.sizes, self.alphas, strict=True)
        ]


def _tested(
    spec: RuleSpec, condition: Condition, data: Prepared, splits: Sequence[Split], rows: LabelledRows
) -> list[TestedHalf]:
    """Calibrate each half with a condition, and test it on the other half."""
    asked = replace(spec, condition=condition, groups=NO_NAMES, guaranteed=True)
    with silent():
        return [_tested_half(asked, data, split, rows) for split in splits]


def _tested_half(spec: RuleSpec, data: Prepared, split: Split, rows: LabelledRows) -> TestedHalf:
    cal, test = split
    rule, labels = calibrate_prepared(spec, data.take(cal)), rows.labels[test]
    levels = [float(alpha) for alpha in rows.alphas]
    covered = np.empty((len(levels), len(test)), dtype=bool)
    sizes = np.empty((len(levels), len(test)), dtype=np.int64)
    for part in parallel.split(len(test), data.n_columns):
        p_values = rule._p_values(data.take(test[part]))
        true = p_values[np.arange(len(p_values)), labels[part]]
        for place, level in enumerate(levels):
            covered[place, part] = true > level
            sizes[place, part] = np.count_nonzero(p_values > level, axis=1)
    return TestedHalf(covered, sizes, labels, rows.alphas)


def _pairs(now: Sequence[TestedHalf], then: Sequence[TestedHalf], name: str) -> list[list[float | None]]:
    """Return the mean of a metric over the halves at every level, for both conditions; None if it is not defined."""
    means = [np.mean([half.values(name) for half in some], axis=0).tolist() for some in (now, then)]
    return [[None if math.isnan(one) else round(one, DIGITS) for one in pair] for pair in zip(*means, strict=True)]


def _coverage(then: Sequence[TestedHalf], n_columns: int) -> list[list[float | None]]:
    """Return the coverage of every class at every level, over all halves; None for classes without tested rows."""
    labels = np.concatenate([half.labels for half in then])
    rows = np.bincount(labels, minlength=n_columns)
    answer = []
    for hits in np.concatenate([half.covered for half in then], axis=1):
        found = np.bincount(labels[hits], minlength=n_columns) / np.maximum(rows, 1)
        answer.append([round(one, DIGITS) if n else None for one, n in zip(found.tolist(), rows.tolist(), strict=True)])
    return answer
