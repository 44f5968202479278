"""The results of one score for every alpha of the slider in the report."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.conditions import condition_in_words
from rankset.core import coverage_law, parallel
from rankset.core.alpha import smallest_alpha
from rankset.evaluation.class_ranges import ClassCounts, class_ranges
from rankset.evaluation.metrics import METRICS, class_counts
from rankset.inputs.vocabulary import short
from rankset.reports.tested import CONFIDENCE, MOST_CLASSES, SURE, Floats, Ints, LabelledRows, TestedRule
from rankset.rules.sentences import proven_by_sharing

SHOWN_ROWS = 100
"""Number of ambiguous rows that are listed."""
SHOWN_LABELS = 25
"""Number of labels listed for an ambiguous row, those with the largest p-values."""
COVERAGE_DIGITS, SIZE_DIGITS = 4, 3
"""Digits of the coverage and the mean size of a class or group, on the page as in an ``Evaluation``."""

LONGEST_TEXT = 400
"""Longer texts of scores are truncated."""


def describe_score(rule: TestedRule, rows: LabelledRows, label: str) -> dict[str, Any]:
    """Return everything that the page shows of one rule, ready for JSON. ``label`` is its name on the page."""
    sure = rule.sure_alphas(rows.alphas)
    true, second, sizes, sure_sizes = _p_values_and_sizes(rule, rows, sure or [])
    listed = np.lexsort((-second, -sizes[rows.alphas.index(rows.alpha)]))[:SHOWN_ROWS]
    ambiguous = [
        _ambiguous_row(int(row), rows, sizes[:, row], p_values)
        for row, p_values in zip(listed, rule.p_values(listed), strict=True)
    ]
    return _at_levels(rows, true, sizes, len(rows.classes)) | {
        "name": short(repr(rule.spec.score), 80),
        "label": label,
        "text": short(repr(rule.spec.score), LONGEST_TEXT),
        "guarantee": _guarantee(rule),
        "proven": [rule.proven(alpha) for alpha in rows.alphas],
        **rule.laws(rows.n, rows.alphas),
        **_exchangeability(rule, rows),
        **_sure(sure, true, sure_sizes),
        "ambiguous": ambiguous,
    }


def sizes_of_groups(rule: TestedRule) -> list[tuple[int, int]]:
    """Return calibration rows and absent labels of each group; of all together if groups share rows."""
    if rule.spec.sharing is not None:
        return [(int(rule.counts.sum()), int(rule.absent.sum()))]
    return list(zip(rule.counts.tolist(), rule.absent.tolist(), strict=True))


def _guarantee(rule: TestedRule) -> dict[str, Any]:
    """What the guarantee of one rule depends on: its condition, its groups, and its calibration rows.

    It is "about" all rows, every group, or the mean over classes. Groups that share rows need enough rows together.
    """
    spec, sizes = rule.spec, sizes_of_groups(rule)
    lost = [] if spec.weighted else [smallest_alpha(*size) for size in sizes if size[1]]
    return {
        "condition": condition_in_words(spec.condition),
        "groups": spec.n_groups,
        "about": "classes" if spec.balanced else "groups" if spec.promises_by_group else "rows",
        **({} if spec.sharing is None else {"shared": proven_by_sharing(spec)}),
        "rows": sum(rows for rows, _ in sizes),
        "smallest": min(rows for rows, _ in sizes),
        "absent": sum(absent for _, absent in sizes),
        "least": float(max(lost, default=0)),
        **weight_facts(rule),
    }


def weight_facts(rule: TestedRule) -> dict[str, Any]:
    """How many rows of equal weight are as many, and what is proven if rows have weights of their own."""
    if rule.effective_rows is None:
        return {}
    own = {"weighted": proven_by_sharing(rule.spec)} if rule.spec.weighted else {}
    return {"effective": round(rule.effective_rows), **own}


def _exchangeability(rule: TestedRule, rows: LabelledRows) -> dict[str, Any]:
    """Whether the test rows look like the calibration rows; nothing if it cannot be said."""
    found = rule.exchangeability(rows.labels)
    if found is None:
        return {}
    return {"exchangeable": {"looks": found.looks_exchangeable, "p": found.p_value, "rows": found.rows}}


def _sure(alphas: list[float] | None, true: Floats, sizes: Ints) -> dict[str, Any]:
    """Coverage and mean size of the sets that keep their promise with a confidence; nothing if it is not known."""
    if alphas is None:
        return {}
    coverage = [float((true > alpha).mean()) for alpha in alphas]
    return {"sure": {"confidence": SURE, "coverage": coverage, "size": (sizes / len(true)).tolist()}}


def _p_values_and_sizes(rule: TestedRule, rows: LabelledRows, sure: list[float]) -> tuple[Floats, Floats, Ints, Ints]:
    """The p-value of each row's label, the second largest of the row, the set sizes (alpha, row), and the sums of the
    set sizes at the alphas ``sure``."""
    true, second, sure_sizes = np.empty(rows.n), np.zeros(rows.n), np.zeros(len(sure), dtype=np.int64)
    sizes = np.empty((len(rows.alphas), rows.n), dtype=np.int64)
    n_columns = len(rows.classes)
    for part in parallel.split(rows.n, n_columns):
        p_values = rule.p_values(np.arange(part.start, part.stop))
        columns = rows.labels[part]
        true[part] = np.where(columns < 0, 0.0, p_values[np.arange(len(p_values)), columns])  # absent: in no set
        for place, alpha in enumerate(map(float, rows.alphas)):
            sizes[place, part] = (p_values > alpha).sum(axis=1)
        sure_sizes += np.array([np.count_nonzero(p_values > alpha) for alpha in sure], dtype=np.int64)
        if n_columns > 1:
            second[part] = np.partition(p_values, -2, axis=1)[:, -2]
    return true, second, sizes, sure_sizes


def _at_levels(rows: LabelledRows, true: Floats, sizes: Ints, n_columns: int) -> dict[str, Any]:
    """Metrics, intervals, histograms, and figures by class and group: a list with one entry per level for each."""
    metrics: dict[str, list[float | None]] = {name: [] for name in METRICS}
    others: dict[str, list[Any]] = {"interval": [], "histogram": []}
    by_class: dict[str, list[Any]] = {"class_hits": [], "class_size": []}
    by_group: dict[str, list[Any]] = {"group_coverage": [], "group_size": []}
    for alpha, widths in zip(rows.alphas, sizes, strict=True):
        covered = true > float(alpha)
        for name, metric in METRICS.items():
            metrics[name].append(_or_none(metric.formula(covered, widths, rows.labels, alpha)))
        ends = coverage_law.binomial_interval(int(covered.sum()), rows.n, CONFIDENCE)
        others["interval"].append([_or_none(end) for end in ends])
        others["histogram"].append(np.bincount(widths).tolist())
        if n_columns <= MOST_CLASSES:
            by_class["class_hits"].append(np.bincount(rows.labels[covered], minlength=n_columns).tolist())
            by_class["class_size"].append(_means(rows.labels, n_columns, widths, SIZE_DIGITS))
        n_groups = int(rows.group_codes.max()) + 1
        if n_groups <= MOST_CLASSES:
            by_group["group_coverage"].append(_means(rows.group_codes, n_groups, covered, COVERAGE_DIGITS))
            by_group["group_size"].append(_means(rows.group_codes, n_groups, widths, SIZE_DIGITS))
    return {"metrics": metrics, **others, **by_class, **by_group, **_class_intervals(rows, true)}


def _means(codes: Ints, n: int, values: NDArray[Any], digits: int) -> list[float]:
    """The means of row values by code, rounded once, to the digits that the page shows."""
    named = codes >= 0  # rows with absent labels have no class
    codes, values = codes[named], values[named]
    found = np.bincount(codes, weights=values, minlength=n) / np.maximum(np.bincount(codes, minlength=n), 1)
    return [round(float(value), digits) for value in found]


def _class_intervals(rows: LabelledRows, true: Floats) -> dict[str, Any]:
    """Intervals of metrics of classes at every level, by name, and how many classes are below 1 - alpha at least."""
    counts = [class_counts(true > float(alpha), rows.labels) for alpha in rows.alphas]
    found = ClassCounts(np.array([hits for hits, _ in counts]), counts[0][1])
    ranges = class_ranges(found, list(rows.alphas), CONFIDENCE)
    below = found.below(np.array([float(1 - alpha) for alpha in rows.alphas]), CONFIDENCE)
    return {
        "ranges": {name: [[_or_none(end) for end in ends] for ends in some] for name, some in ranges.items()},
        "surely_below": [0 if math.isnan(low) else round(low * len(found.rows)) for low, _ in below],
    }


def _ambiguous_row(row: int, rows: LabelledRows, sizes: Ints, p_values: Floats) -> dict[str, Any]:
    """A row with many labels: its id, its set size at each level, and its labels with the largest p-values."""
    largest = np.argsort(-p_values, kind="stable")[:SHOWN_LABELS].tolist()
    labels = [[column, float(p_values[column])] for column in largest]
    name = rows.id_of(row)
    told: dict[str, Any] = {"row": row, "label": int(rows.labels[row]), "sizes": sizes.tolist(), "labels": labels}
    if rows.options is not None:
        shown = [
            column for column in (*largest, told["label"]) if column >= 0 and rows.options[row, column] is not None
        ]
        told["names"] = {str(column): rows.option_of(row, column) for column in shown}
    return told if name is None else {"id": name, **told}


def _or_none(value: float) -> float | None:
    """``value`` with all its digits, None where it is not defined: JSON has no NaN. The page rounds it."""
    return None if math.isnan(value) else float(value)
