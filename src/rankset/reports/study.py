"""``study_scores`` and ``study_rules``: all numbers that a report shows, for fifty values of alpha."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankset import progress
from rankset.core.alpha import Alpha, rows_needed, smallest_alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.errors import InputError, KindError, LabelError, RuleError, once
from rankset.evaluation.calibrate import calibrate
from rankset.evaluation.default_scores import ONE_LABEL, default_scores
from rankset.evaluation.metrics import METRICS
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared, prepare
from rankset.inputs.vocabulary import distinct_labels
from rankset.reports.automatic import automatic
from rankset.reports.levels import describe_score, sizes_of_groups
from rankset.reports.pooled import with_pooled
from rankset.reports.results import Study
from rankset.reports.rule_names import rule_names
from rankset.reports.several_labels import RowsOfLabels, study_several
from rankset.reports.tested import CONFIDENCE, NAME_WIDTH, LabelledRows, RuleOnRows, TestedRule
from rankset.rules.rule import Rule
from rankset.rules.spec import RuleSpec
from rankset.scores import Score
from rankset.targets import OneLabel, Target, checked_target
from rankset.targets.base import has_several_labels


@takes_alpha
def study_scores(
    probs: ArrayLike,
    labels: ArrayLike,
    new_probs: ArrayLike,
    new_labels: ArrayLike,
    *,
    candidates: Iterable[Score | str] | None = None,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    ids: ArrayLike | None = None,
    new_ids: ArrayLike | None = None,
    target: Target | str = ONE_LABEL,
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
        The scores to test, their names such as "aps", or "auto" for ``rankset.auto``. By default RANK, THR, APS,
        RAPS and SAPS, or RANK, THR and Margin if ``kind`` is "decision".
    kind
        The type of values in the model outputs: "probs", "logits", "decision" or "binary", as in ``calibrate``.
    classes
        Class names in column order.
    ids, new_ids
        The ids of the calibration rows and of the test rows, for randomised scores. Pass both or only ``new_ids``. The
        ids of the test rows are shown in the list of the most ambiguous rows.
    target
        What is promised if rows can have several labels, as in ``calibrate``.
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
    >>> study = rs.reports.study_scores(probs[:130], labels[:130], probs[130:], labels[130:], alpha=0.2)
    >>> study.data["rows"], study.data["alpha"]
    (130, 0.2)
    """
    names = None if classes is None else list(classes)
    promised = checked_target(target)
    scores = default_scores(kind, promised) if candidates is None else candidates
    shared: dict[str, Any] = {"kind": kind, "classes": names, "ids": ids, "seed": seed, "target": promised}
    rules = [calibrate(probs, labels, method=score, **shared) for score in scores]
    return study_rules(rules, new_probs, new_labels, ids=new_ids, alpha=alpha, show_progress=show_progress)


@takes_alpha
def study_rules(
    rules: Sequence[Rule],
    probs: ArrayLike,
    labels: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    names: Sequence[str] | None = None,
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
        Model outputs (n, K) and labels of the test rows. If rows can have several labels, as in ``calibrate``.
    groups
        The group of each row. The study then has coverage for every group. Needed if the condition of a rule uses
        groups.
    ids
        The id of each row, shown in the list of the most ambiguous rows. By default the index of a pandas frame. Needed
        if a rule has a randomised score and was calibrated with ids. For all other rules, ids change no set.
    weights
        The weight of each row, or one number for all rows. Needed if a rule was calibrated with weights.
    names
        A name for every rule, for example its file. The page shows it for rules with the same score and the same
        condition. By default these rules are numbered.
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
        If ``rules`` is not a list of at least one ``Rule``, or ``names`` has not one name per rule.
    RuleError
        If the rules have different classes or kinds.
    InputError
        If there are no rows, or if values are invalid, for example negative probabilities.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs[:130], labels[:130])
    >>> rs.reports.study_rules([rule], probs[130:], labels[130:]).data["calibration"]
    130
    """
    _check_rules(rules)
    if weights is not None and not any(rule.spec.weighted for rule in rules):
        raise RuleError.weights_unused()
    first = rules[0]
    several = has_several_labels(first.target)
    classes = min((rule.spec.classes_of(probs) for rule in rules), key=len)  # all rules must take more candidates
    per_row = {"groups": groups, "ids": ids, "weights": weights}
    data = prepare(probs, labels, kind=first.kind, classes=classes, several=several, **per_row)
    if data.truths is not None:
        tested = [RuleOnRows(rule, data.with_checked_values()) for rule in rules]
        truths = RowsOfLabels(data.truths, data.classes, alpha, data.groups)
        return study_several(tested, truths, names=names, show_progress=show_progress)
    if data.labels is None:
        raise LabelError.not_one_dimensional("labels", "NoneType")
    rows = LabelledRows.of(data.labels, data, ids, data.index, alpha)
    data = data.with_checked_values()
    tested = [RuleOnRows(rule, data) for rule in rules]
    return study_tested(tested, rows, names=names, answers=data.without_weights(), show_progress=show_progress)


def study_tested(
    rules: Sequence[TestedRule],
    rows: LabelledRows,
    *,
    names: Sequence[str] | None = None,
    answers: Prepared | None = None,
    show_progress: bool = False,
) -> Study:
    """Return the results of rules with the outputs of their models for the same rows.

    ``answers`` are the labelled outputs if all rules have the same model: then the study has its automatic decisions,
    and what ``Pooled`` would do for the classes.
    """
    if rows.n == 0:
        raise InputError.no_rows_to_evaluate()
    labels = rule_names([rule.spec for rule in rules], names)
    shown = progress.bar(rules, "report", show=show_progress, unit="scores")
    with once():
        scores = [
            describe_score(rule, rows, label) | with_pooled(rule, answers, rows)
            for rule, label in zip(shown, labels, strict=True)
        ]
    decided = {} if answers is None else automatic(answers)
    return Study({**_facts(rules, rows), "metrics": _metrics(), "scores": scores, **decided})


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
        if has_several_labels(rule.target) != has_several_labels(first.target):
            raise RuleError.different("number of labels per row", first.target, rule.target)
    check_one_label([rule.spec for rule in rules])


def check_one_label(specs: Iterable[RuleSpec]) -> None:
    """Refuse targets of one label per row other than ``OneLabel``: the page would show what they do not promise."""
    for spec in specs:
        if spec.below or (spec.target != OneLabel() and not has_several_labels(spec.target)):
            raise RuleError.report_of_target(spec.target)


def _facts(rules: Sequence[TestedRule], rows: LabelledRows) -> dict[str, Any]:
    """What all scores share: rows, levels, names of classes and groups."""
    classes, names = rows.classes, rows.group_names
    return {
        "rows": rows.n,
        "calibration": int(rules[0].counts.sum()),
        "smallest": min(rows for rule in rules for rows, _ in sizes_of_groups(rule)),
        "groups": max(rule.spec.n_groups for rule in rules),
        "alphas": [float(one) for one in rows.alphas],
        "alpha": float(rows.alpha),
        "confidence": CONFIDENCE,
        "classes": distinct_labels(classes.values, NAME_WIDTH),
        "counts": np.bincount(rows.labels[rows.labels >= 0], minlength=len(classes)).tolist(),
        "group_names": names,
        "group_counts": np.bincount(rows.group_codes, minlength=len(names))[: len(names)].tolist(),
        "conditions": sorted({repr(rule.spec.condition) for rule in rules}),
        "needed": [int(rows_needed(one)) for one in rows.alphas],
        **_absent_facts(rules, rows),
        **({} if rows.options is None else {"own_names": True}),
    }


def _absent_facts(rules: Sequence[TestedRule], rows: LabelledRows) -> dict[str, Any]:
    """How many labels are absent, and the smallest alpha that all groups can attain; nothing if none is absent."""
    absent, tested = max(int(rule.absent.sum()) for rule in rules), int((rows.labels < 0).sum())
    if not absent and not tested:
        return {}
    sizes = [size for rule in rules if not rule.spec.weighted for size in sizes_of_groups(rule)]
    least = max((smallest_alpha(*size) for size in sizes if size[1]), default=Fraction(0))
    return {"absent": {"calibration": absent, "rows": tested, "least": float(least)}}


def _metrics() -> list[dict[str, str]]:
    """The registry of metrics, for the page."""
    fields = ("name", "section", "explanation", "better", "undefined")
    return [{field: getattr(metric, field) for field in fields} for metric in METRICS.values()]
