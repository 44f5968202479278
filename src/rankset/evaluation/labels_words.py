"""What a ``LabelsEvaluation`` prints about its promise and about single labels, and its data frames."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from rankset.core.coverage_law import binomial_interval
from rankset.evaluation.evaluation_remarks import proven_lines
from rankset.evaluation.labels_by_group import rows_in_words
from rankset.evaluation.metrics import format_value
from rankset.inputs.vocabulary import short
from rankset.rules.sentences import promise_sentence
from rankset.targets.base import forbids_more_labels, is_about_false_labels

if TYPE_CHECKING:
    from rankset.evaluation.several_labels import LabelRecall, LabelsEvaluation

SHOWN = 5
"""Number of labels listed in the printed table: those with the lowest recall, or most often wrong in sets."""
NAME_WIDTH = 20
"""Names of labels have at least so many places in the printed table."""
GAP = "mean gap between the recall of a label and 1 - alpha"


class WorstLabels(NamedTuple):
    """The labels that are served worst: what is shown of them, and name, value and rows of each."""

    title: str
    labels: list[tuple[str, float, str]]

    def lines(self) -> list[str]:
        """Return the lines of a printed table."""
        width = max([NAME_WIDTH, *(len(name) + 1 for name, _, _ in self.labels)])
        told = [f"  {name:<{width}}{value:>8.4f}  {rows}" for name, value, rows in self.labels]
        return [f"Labels with {self.title}", *told] if told else []


def title_of(evaluation: LabelsEvaluation) -> str:
    """Return the title: rows, alpha and target. A promise about false labels is also about rows without labels."""
    sure = "" if evaluation.sure is None else f" with confidence {evaluation.sure:g}"
    asked = f"at alpha={evaluation.alpha:g}{sure}, target {evaluation.target!r}"
    n, aside = evaluation.n, evaluation.set_aside
    if forbids_more_labels(evaluation.target):
        known = evaluation.observed_rows is not None and is_about_false_labels(evaluation.target)
        some = f", {evaluation.observed_rows:,} of them with a false label," if known else ""
        return f"Evaluation of {n + aside:,} rows{some} {asked}"
    without = f", {aside:,} rows without labels set aside" if aside else ""
    return f"Evaluation of {n:,} rows with labels {asked}{without}"


def promise_of(evaluation: LabelsEvaluation) -> list[str]:
    """Return what is promised, and what is proven if it is less, in words."""
    alpha, proven = evaluation.alpha, evaluation.proven
    words = promise_sentence(evaluation.target, alpha, by_label=evaluation.by_label)
    less = proven_lines(proven, alpha)
    if less:
        return [f"usual, but not proven: {words}", *less]
    sure = "" if evaluation.sure is None else f" for this calibration with confidence {evaluation.sure:g}"
    return [f"promised{sure}: {words}"]


def gap_of(evaluation: LabelsEvaluation) -> list[tuple[str, str, str]]:
    """Return the line about the gap of labels; none if the target does not promise that labels are in sets."""
    few = forbids_more_labels(evaluation.target)
    return [] if few else [("label gap", format_value(evaluation.label_gap), GAP)]


def worst_labels(evaluation: LabelsEvaluation) -> WorstLabels:
    """Return the labels with the lowest recall; if the target is about false labels, those most often wrong in sets."""
    if not forbids_more_labels(evaluation.target):
        lowest = sorted(evaluation.labels, key=lambda one: (one.recall, -one.n))[:SHOWN]
        told = [(short(str(one.name)), one.recall, rows_in_words(one.n)) for one in lowest]
        return WorstLabels("the lowest recall", told)
    n = evaluation.n + evaluation.set_aside
    known = [one for one in (*evaluation.labels, *evaluation.unseen) if not math.isnan(one.false)]
    most = sorted(known, key=lambda one: (-one.false, one.n))[:SHOWN]
    told = [(short(str(one.name)), one.false, f"{rows_in_words(n - one.n)} without it") for one in most]
    return WorstLabels("the largest share of rows without them whose sets contain them", told)


def number_lines(evaluation: LabelsEvaluation) -> list[str]:
    """Return the lines about rows with 0, 1, 2, … labels."""
    told = [
        f"  {one.name!s:<{NAME_WIDTH}}{format_value(one.recall):>8}  {rows_in_words(one.n)}, mean size {one.kept:.3f}"
        for one in evaluation.by_number
    ]
    return ["Recall of rows by their number of labels", *told]


def metric_columns(evaluation: LabelsEvaluation) -> dict[Any, Any]:
    """Return the columns of the data frame of all measures."""
    none = (math.nan, math.nan)
    limits = {"recall": evaluation.recall_interval, "all labels": evaluation.all_labels_interval}
    lines = [line for line in evaluation._lines() if line[0]]
    names, values = [name for name, _, _ in lines], [evaluation._value(name) for name, _, _ in lines]
    return {
        "metric": names,
        "value": values,
        "low": [limits.get(name, none)[0] for name in names],
        "high": [limits.get(name, none)[1] for name in names],
        "explanation": [remark for _, _, remark in lines],
    }


def label_columns(evaluation: LabelsEvaluation) -> dict[Any, Any]:
    """Return the columns of the data frame of all labels, those that no row has last."""
    labels = (*evaluation.labels, *evaluation.unseen)
    ends = [_interval(one, evaluation.confidence) for one in labels]
    return {
        "label": [one.name for one in labels],
        "rows": [one.n for one in labels],
        "recall": [one.recall for one in labels],
        "low": [low for low, _ in ends],
        "high": [high for _, high in ends],
        "kept": [one.kept for one in labels],
        "false": [one.false for one in labels],
    }


def _interval(one: LabelRecall, confidence: float) -> tuple[float, float]:
    """Return the exact interval of the recall of a label; from 0 to 1 if no row has it."""
    return binomial_interval(round(one.recall * one.n), one.n, confidence) if one.n else (0.0, 1.0)
