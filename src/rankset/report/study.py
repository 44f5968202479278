"""``Study``: all numbers that a report shows, for fifty values of alpha."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import progress
from rankset.core.alpha import Alpha, exact_alpha, rows_needed
from rankset.errors import InputError, KindError, LabelError, RuleError, once
from rankset.evaluation.calibrate import calibrate
from rankset.evaluation.default_scores import DEFAULT_SCORES
from rankset.evaluation.metrics import METRICS
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import prepare
from rankset.inputs.vocabulary import distinct_labels, group_names
from rankset.report.levels import CONFIDENCE, MOST_CLASSES, LabelledRows, describe_score
from rankset.rules.rule import Rule
from rankset.scores import Score

ALPHAS = tuple(f"{percent / 100:g}" for percent in range(1, 51))
"""The values of alpha of the slider."""
NAME_WIDTH = 60
"""Longer names of classes and groups are truncated."""


@dataclass(frozen=True)
class Study:
    """All results that a report page shows, returned by ``study_scores`` and ``study_rules``.

    Pass it to ``page`` to get an HTML page.

    Attributes
    ----------
    data
        A dictionary that can be written as JSON. ``data["metrics"]`` describes the metrics. ``data["scores"]`` has one
        entry per score, with the values of all metrics for every alpha.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> study = rs.report.study_scores(probs[:130], labels[:130], probs[130:], labels[130:])
    >>> [score["name"] for score in study.data["scores"]][:2]
    ['Rank()', 'Thr()']
    """

    data: Mapping[str, Any]


def study_scores(
    probs: ArrayLike,
    labels: ArrayLike,
    new_probs: ArrayLike,
    new_labels: ArrayLike,
    *,
    candidates: Iterable[Score] = DEFAULT_SCORES,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    alpha: Alpha = 0.1,
    seed: int = 0,
    show_progress: bool = False,
) -> Study:
    """Calibrate every score and test it on other rows, for fifty values of alpha (0.01, 0.02, …, 0.5).

    Parameters
    ----------
    probs, labels
        Model outputs (n, K) and labels of the calibration rows.
    new_probs, new_labels
        Model outputs and labels of the test rows.
    candidates
        The scores to test. By default RANK, THR, APS, RAPS and SAPS.
    kind
        The type of values in the model outputs: "probs", "logits", "decision" or "binary", as in ``calibrate``.
    classes
        Class names in column order.
    alpha
        The alpha that the page shows when it is opened. It can differ from the fifty values.
    seed
        Seed of randomised scores.
    show_progress
        Whether to show a progress bar on stderr.

    Returns
    -------
    Study
        The results. Pass them to ``page``.

    Raises
    ------
    InputError
        If there are no test rows, or if values are invalid, for example negative probabilities.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> study = rs.report.study_scores(probs[:130], labels[:130], probs[130:], labels[130:], alpha=0.2)
    >>> study.data["rows"], study.data["alpha"]
    (130, 0.2)
    """
    names = None if classes is None else list(classes)
    rules = [calibrate(probs, labels, method=score, kind=kind, classes=names, seed=seed) for score in candidates]
    return study_rules(rules, new_probs, new_labels, alpha=alpha, show_progress=show_progress)


def study_rules(
    rules: Sequence[Rule],
    probs: ArrayLike,
    labels: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    alpha: Alpha = 0.1,
    show_progress: bool = False,
) -> Study:
    """Test calibrated rules for fifty values of alpha (0.01, 0.02, …, 0.5).

    Parameters
    ----------
    rules
        Rules that were returned by ``calibrate`` or ``load``. All rules must have the same classes and the same kind. A
        ``LevelRule`` or a ``CrossRule`` is not accepted.
    probs, labels
        Model outputs (n, K) and labels of the test rows.
    groups
        The group of each row. Needed if the condition of a rule uses groups.
    ids
        The id of each row. Needed if a rule has a randomised score and was calibrated with ids.
    alpha
        The alpha that the page shows when it is opened. It can differ from the fifty values.
    show_progress
        Whether to show a progress bar on stderr.

    Returns
    -------
    Study
        The results. Pass them to ``page``.

    Raises
    ------
    KindError
        If ``rules`` is not a list of at least one ``Rule``.
    RuleError
        If the rules have different classes or kinds.
    InputError
        If there are no rows, or if values are invalid, for example negative probabilities.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs[:130], labels[:130])
    >>> rs.report.study_rules([rule], probs[130:], labels[130:]).data["calibration"]
    130
    """
    _check_rules(rules)
    first, level = rules[0], exact_alpha(alpha)
    data = prepare(probs, labels, kind=first.kind, classes=first.spec.classes, groups=groups, ids=ids)
    if len(data) == 0:
        raise InputError.no_rows_to_evaluate()
    if data.labels is None:
        raise LabelError.not_one_dimensional("labels", "NoneType")
    names, codes = _group_codes(data.groups, len(data))
    rows = LabelledRows(data.with_checked_values(), data.labels, codes, _levels(level), level)
    with once():
        scores = [
            describe_score(rule, rows) for rule in progress.bar(rules, "report", show=show_progress, unit="scores")
        ]
    return Study({**_facts(rules, rows, names), "metrics": _metrics(), "scores": scores})


def _check_rules(rules: Sequence[Rule]) -> None:
    """Refuse anything but a list of rules of the same classes and kind."""
    if not isinstance(rules, Sequence) or not rules:
        raise KindError.argument("rules", "a list of at least one Rule", rules)
    for rule in rules:
        if not isinstance(rule, Rule):
            raise KindError.no_whole_rule("a report", rule)
    first = rules[0]
    for rule in rules[1:]:
        if rule.kind != first.kind:
            raise RuleError.different("kind", first.kind, rule.kind)
        if rule.spec.classes != first.spec.classes:
            raise RuleError.different("classes", list(first.classes), list(rule.classes))


def _facts(rules: Sequence[Rule], rows: LabelledRows, names: list[str]) -> dict[str, Any]:
    """What all scores share: rows, levels, names of classes and groups."""
    first = rules[0]
    return {
        "rows": rows.n,
        "calibration": first.n,
        "smallest": int(min(rule.calibration.counts.min() for rule in rules)),
        "groups": max(rule.spec.n_groups for rule in rules),
        "alphas": [float(one) for one in rows.alphas],
        "alpha": float(rows.alpha),
        "confidence": CONFIDENCE,
        "classes": distinct_labels(first.spec.classes.values, NAME_WIDTH),
        "counts": np.bincount(rows.labels, minlength=len(first.classes)).tolist(),
        "group_names": names,
        "group_counts": np.bincount(rows.group_codes, minlength=len(names))[: len(names)].tolist(),
        "conditions": sorted({repr(rule.condition) for rule in rules}),
        "needed": [int(rows_needed(one)) for one in rows.alphas],
    }


def _metrics() -> list[dict[str, str]]:
    """The registry of metrics, for the page."""
    fields = ("name", "section", "explanation", "better", "undefined")
    return [{field: getattr(metric, field) for field in fields} for metric in METRICS.values()]


def _group_codes(groups: NDArray[Any] | None, n: int) -> tuple[list[str], NDArray[np.int64]]:
    """The names of the rows' groups, none if there are too many to list, and the number of each row's group."""
    if groups is None:
        return [], np.zeros(n, dtype=np.int64)
    names = group_names(groups)
    return distinct_labels(names.values, NAME_WIDTH) if len(names) <= MOST_CLASSES else [], names.codes(groups)


def _levels(alpha: Fraction) -> tuple[Fraction, ...]:
    """The levels of the slider and ``alpha``, ascending."""
    return tuple(sorted({*map(exact_alpha, ALPHAS), alpha}))
