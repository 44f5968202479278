"""The results of one score for every alpha of the slider in the report."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import coverage_law, parallel
from rankset.evaluation.metrics import METRICS
from rankset.inputs.prepare import Prepared
from rankset.inputs.vocabulary import short
from rankset.rules.rule import Rule

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CONFIDENCE = 0.9
SHOWN_ROWS = 100
"""Number of ambiguous rows that are listed."""
SHOWN_LABELS = 25
"""Number of labels listed for an ambiguous row, those with the largest p-values."""
MOST_CLASSES = 2000
"""Classes and groups are listed up to this number of them."""


@dataclass(frozen=True)
class LabelledRows:
    """Test rows with labels and groups, and the levels to look at."""

    data: Prepared
    labels: Ints
    group_codes: Ints
    alphas: tuple[Fraction, ...]
    alpha: Fraction

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def p_values(self, rule: Rule, rows: Ints) -> Floats:
        """Return the p-values of every label of some rows."""
        some = self.data.take(rows)
        return rule._p_values(some if rule.condition.needs_groups else replace(some, groups=None))

    def p_value_blocks(self, rule: Rule) -> Iterator[tuple[slice, Floats]]:
        """Yield the p-values of all rows, block by block."""
        for part in parallel.split(self.n, self.data.n_columns):
            yield part, self.p_values(rule, np.arange(part.start, part.stop))


def describe_score(rule: Rule, rows: LabelledRows) -> dict[str, Any]:
    """Return everything that the page shows of one rule, ready for JSON."""
    true, second, sizes = _p_values_and_sizes(rule, rows)
    listed = np.lexsort((-second, -sizes[rows.alphas.index(rows.alpha)]))[:SHOWN_ROWS]
    ambiguous = [
        _ambiguous_row(int(row), int(rows.labels[row]), sizes[:, row], p_values)
        for row, p_values in zip(listed, rows.p_values(rule, listed), strict=True)
    ]
    laws = _laws(rule, rows) if rule.spec.n_groups == 1 else {}
    return _at_levels(rows, true, sizes) | {"name": short(repr(rule.score), 80), **laws, "ambiguous": ambiguous}


def _p_values_and_sizes(rule: Rule, rows: LabelledRows) -> tuple[Floats, Floats, Ints]:
    """The p-value of each row's label, the second largest of the row, and the set sizes (alpha, row)."""
    true, second = np.empty(rows.n), np.zeros(rows.n)
    sizes = np.empty((len(rows.alphas), rows.n), dtype=np.int64)
    for part, p_values in rows.p_value_blocks(rule):
        columns = rows.labels[part]
        true[part] = np.where(columns < 0, 0.0, p_values[np.arange(len(p_values)), columns])  # absent: in no set
        for place, alpha in enumerate(map(float, rows.alphas)):
            sizes[place, part] = (p_values > alpha).sum(axis=1)
        if rows.data.n_columns > 1:
            second[part] = np.partition(p_values, -2, axis=1)[:, -2]
    return true, second, sizes


def _at_levels(rows: LabelledRows, true: Floats, sizes: Ints) -> dict[str, Any]:
    """Metrics, intervals, histograms, and figures by class and group: a list with one entry per level for each."""
    metrics: dict[str, list[float | None]] = {name: [] for name in METRICS}
    others: dict[str, list[Any]] = {"interval": [], "histogram": []}
    by_class: dict[str, list[Any]] = {"class_coverage": [], "class_size": []}
    by_group: dict[str, list[Any]] = {"group_coverage": [], "group_size": []}
    for alpha, widths in zip(rows.alphas, sizes, strict=True):
        covered = true > float(alpha)
        for name, metric in METRICS.items():
            metrics[name].append(_rounded(metric.formula(covered, widths, rows.labels, alpha)))
        ends = coverage_law.binomial_interval(int(covered.sum()), rows.n, CONFIDENCE)
        others["interval"].append([_rounded(end) for end in ends])
        others["histogram"].append(np.bincount(widths).tolist())
        _add_means(by_class, rows.labels, rows.data.n_columns, (covered, widths), (4, 3))
        _add_means(by_group, rows.group_codes, int(rows.group_codes.max()) + 1, (covered, widths), (4, 4))
    return {"metrics": metrics, **others, **by_class, **by_group}


def _add_means(
    lists: dict[str, list[Any]], codes: Ints, n: int, row_values: tuple[NDArray[Any], ...], digits: tuple[int, ...]
) -> None:
    """Append to each list the means of its row values by code, unless there are too many codes to list."""
    if n > MOST_CLASSES:
        return
    named = codes >= 0  # rows with absent labels have no class
    codes, row_values = codes[named], tuple(values[named] for values in row_values)
    counts = np.maximum(np.bincount(codes, minlength=n), 1)
    for means, values, places in zip(lists.values(), row_values, digits, strict=True):
        found = np.bincount(codes, weights=values, minlength=n) / counts
        means.append([_rounded(value, places) for value in found])


def _laws(rule: Rule, rows: LabelledRows) -> dict[str, Any]:
    """Expected range of coverage at every level, whether ties may raise it, and the ranks of the paper."""
    known = [law for alpha in rows.alphas if (law := rule.at(alpha).law) is not None]
    ranges = [coverage_law.sampling_range(rows.n, law.least_k, law.n, CONFIDENCE) for law in known]
    laws: dict[str, Any] = {
        "band": [[_rounded(end) for end in ends] for ends in ranges],
        "tied": [not law.exact for law in known],
    }
    if rule.spec.traits.orders_by_rank:
        profiles = [rule.rank_profile(alpha) for alpha in rows.alphas]
        laws |= {"ranks": profiles[0].counts.tolist(), "r_star": [profile.r_star for profile in profiles]}
        laws |= {"absent": profiles[0].absent} if profiles[0].absent else {}
    return laws


def _ambiguous_row(row: int, label: int, sizes: Ints, p_values: Floats) -> dict[str, Any]:
    """A row with many labels: its set size at each level, and its labels with the largest p-values."""
    largest = np.argsort(-p_values, kind="stable")[:SHOWN_LABELS].tolist()
    labels = [[column, float(p_values[column])] for column in largest]
    return {"row": row, "label": label, "sizes": sizes.tolist(), "labels": labels}


def _rounded(value: float, digits: int = 5) -> float | None:
    """``value`` rounded, None where it is not defined: JSON has no NaN."""
    return None if math.isnan(value) else round(float(value), digits)
