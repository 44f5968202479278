"""The study of rules with several labels per row: recall and all labels for fifty values of alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset import progress
from rankset.conditions import condition_in_words
from rankset.core.alpha import Alpha, rows_needed
from rankset.errors import InputError, once
from rankset.evaluation.evaluate_several import evaluate_several
from rankset.evaluation.several_labels import LabelsEvaluation
from rankset.evaluation.shares import groups_of
from rankset.inputs.labels_of_rows import LabelLists
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Names, distinct_labels, short
from rankset.reports.levels import LONGEST_TEXT, weight_facts
from rankset.reports.results import Study
from rankset.reports.rule_names import rule_names
from rankset.reports.tested import CONFIDENCE, MOST_CLASSES, NAME_WIDTH, SURE, TestedRule, levels_with
from rankset.rules.sentences import promise_template
from rankset.sets import PredictionSets
from rankset.targets.names import measure_of

Floats = NDArray[np.float64]

MEASURES = {
    "recall": "mean share of a row's labels that the set contains",
    "all labels": "share of rows whose sets contain all their labels",
    "any label": "share of rows whose sets contain at least one of their labels",
    "micro recall": "share of all labels of all rows",
    "precision": "mean share of true labels in sets that are not empty",
    "size": "mean number of labels in a set",
    "empty": "share of empty sets",
}
"""What is measured at every alpha, and how."""
ATTRIBUTES = {"size": "mean_size", "empty": "empty_rate"}
"""Attributes of a ``LabelsEvaluation`` that have other names."""


class RowsOfLabels:
    """The true labels and groups of the test rows, the names of the columns, and the levels to look at.

    ``groups`` is None if there are no groups, or too many to list.
    """

    def __init__(self, truths: LabelLists, classes: Names, alpha: Alpha, groups: NDArray[Any] | None = None) -> None:
        """Keep the labels and groups; ``alpha`` is shown first."""
        self.truths, self.classes = truths, classes
        found = groups_of(groups, len(truths), RowIndex())
        self.groups = None if found is None or len(found.names) > MOST_CLASSES else found
        self.alphas, self.alpha = levels_with(alpha)
        self.labelled = int(np.count_nonzero(truths.sizes))
        if not self.labelled:
            raise InputError.no_rows_to_evaluate()


def study_several(
    rules: Sequence[TestedRule],
    rows: RowsOfLabels,
    *,
    names: Sequence[str] | None = None,
    show_progress: bool = False,
) -> Study:
    """Return the results of rules whose rows can have several labels."""
    labels = rule_names([rule.spec for rule in rules], names)
    shown = progress.bar(rules, "report", show=show_progress, unit="scores")
    with once():
        scores = [_rule(rule, rows, label) for rule, label in zip(shown, labels, strict=True)]
    counts = np.bincount(rows.truths.codes, minlength=len(rows.classes))
    facts = {
        "several": True,
        "rows": len(rows.truths),
        "set_aside": len(rows.truths) - rows.labelled,
        "calibration": int(scores[0]["guarantee"]["rows"]),
        "alphas": [float(alpha) for alpha in rows.alphas],
        "alpha": float(rows.alpha),
        "confidence": CONFIDENCE,
        "sure": SURE,
        "classes": distinct_labels(rows.classes.values, NAME_WIDTH),
        "counts": counts.tolist(),
        "needed": [int(rows_needed(alpha)) for alpha in rows.alphas],
        "metrics": [{"name": name, "explanation": text} for name, text in MEASURES.items()],
    }
    return Study({**facts, "scores": scores})


def _rule(rule: TestedRule, rows: RowsOfLabels, label: str) -> dict[str, Any]:
    """Return everything that the page shows of one rule, ready for JSON."""
    p_values, spec = rule.p_values(np.arange(len(rows.truths))), rule.spec
    found = [_evaluated(p_values, float(alpha), alpha, rows, rule) for alpha in rows.alphas]
    told = {
        "name": short(repr(spec.score), 80),
        "label": label,
        "text": short(f"{spec.score!r}, {spec.target!r}", LONGEST_TEXT),
        "target": short(repr(spec.target), NAME_WIDTH),
        "promise": promise_template(spec.target, by_label=spec.promises_by_label),
        "by_label": spec.promises_by_label,
        "measure": measure_of(spec.target),
        "observed": [one.observed for one in found],
        "guarantee": _guarantee(rule),
        "proven": [rule.proven(alpha) for alpha in rows.alphas],
        "metrics": {name: [_measured(one, name) for one in found] for name in MEASURES},
        "recall_interval": [list(one.recall_interval) for one in found],
        "all_interval": [list(one.all_labels_interval) for one in found],
        "by_number": [
            [
                [part.name, part.n, None if np.isnan(part.recall) else round(part.recall, 4), round(part.kept, 3)]
                for part in one.by_number
            ]
            for one in found
        ],
        **_by_label(found, rows),
        **_by_group(found, rows),
    }
    sure = rule.sure_alphas(rows.alphas)
    if sure is None:
        return told
    more = [_evaluated(p_values, level, alpha, rows, rule) for level, alpha in zip(sure, rows.alphas, strict=True)]
    told["sure"] = {"observed": [one.observed for one in more], "size": [one.mean_size for one in more]}
    told["band"] = rule.ranges(rows.labelled, rows.alphas)
    return told


def _evaluated(
    p_values: Floats, level: float, alpha: Fraction, rows: RowsOfLabels, rule: TestedRule
) -> LabelsEvaluation:
    """Evaluate the sets of the labels whose p-values are larger than ``level``."""
    sets = PredictionSets.from_mask(p_values > level, rows.classes.values)
    own = replace(sets, by_label=rule.spec.promises_by_label)
    return evaluate_several(
        *(own, rows.truths, alpha, rule.spec.target, CONFIDENCE, rows.groups), group_intervals=False
    )


def _measured(found: LabelsEvaluation, name: str) -> float | None:
    return _known(float(getattr(found, ATTRIBUTES.get(name, name.replace(" ", "_")))))


def _guarantee(rule: TestedRule) -> dict[str, Any]:
    """What the guarantee of one rule depends on: its condition, its groups, and its calibration rows."""
    return {
        "condition": condition_in_words(rule.spec.condition),
        "groups": rule.spec.n_groups,
        "rows": rule.n,
        "smallest": int(rule.counts.min()),
        "set_aside": rule.set_aside,
        **weight_facts(rule),
    }


def _by_label(found: Sequence[LabelsEvaluation], rows: RowsOfLabels) -> dict[str, Any]:
    """Recall of every label that occurs, and how often it is in a set; nothing if there are too many labels."""
    if len(rows.classes) > MOST_CLASSES:
        return {}
    columns = np.unique(rows.truths.codes).tolist()
    return {
        "label_columns": columns,
        "label_recall": [[round(part.recall, 4) for part in one.labels] for one in found],
        "label_kept": [[round(part.kept, 4) for part in one.labels] for one in found],
    }


def _by_group(found: Sequence[LabelsEvaluation], rows: RowsOfLabels) -> dict[str, Any]:
    """Rows with labels, what is promised, recall, rows with all labels and mean size of every group."""
    if rows.groups is None:
        return {}
    names = distinct_labels(rows.groups.names.values, NAME_WIDTH)
    numbers = [
        [[one.observed, _known(one.recall), _known(one.all_labels), one.mean_size] for one in level.groups]
        for level in found
    ]
    return {"group_names": names, "group_rows": [one.n for one in found[0].groups], "by_group": numbers}


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
