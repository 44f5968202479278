"""``calibrate``, ``predict`` and ``evaluate`` on the batches of a loader."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.errors import InputError, KindError, LevelError
from rankset.evaluation.calibrate import calibrate as calibrate_rows
from rankset.evaluation.calibrate import calibrate_part, with_labels
from rankset.evaluation.default_scores import default_score
from rankset.evaluation.evaluate import evaluate as evaluate_sets
from rankset.evaluation.evaluation import Evaluation
from rankset.evaluation.several_labels import LabelsEvaluation
from rankset.inputs.matrix import Kind
from rankset.inputs.per_row import label_codes, labels_at
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import class_names, in_order
from rankset.integrations.torch.batches import BatchOutput, BatchReader, Forward, Where
from rankset.integrations.torch.collect import collect
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.scores import AUTO, Score, method_of
from rankset.sets import PredictionSets
from rankset.targets import OneLabel, Target, checked_target
from rankset.targets.base import has_several_labels


def calibrate(
    model: Callable[..., Any],
    loader: Iterable[Any],
    *,
    method: Score | str | None = None,
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "logits",
    classes: Iterable[object] | None = None,
    seed: int = 0,
    forward: Forward | None = None,
    labels: Where | None = None,
    groups: Where | None = None,
    ids: Where | None = None,
    show_progress: bool = True,
    alpha: Alpha | None = None,
    score: Score | str | None = None,
    target: Target | str = OneLabel(),  # noqa: B008
    weights: Where | None = None,
) -> Rule:
    """Calibrate on the outputs of a model for all batches of a loader.

    The result is the same, bit for bit, as calling ``rankset.calibrate`` with all outputs at once. Only the outputs of
    one batch are in memory at a time, unless ``method="auto"``, which needs all outputs.

    Parameters
    ----------
    model : callable
        The model, usually a ``torch.nn.Module``.
    loader : iterable of batches
        Batches with labels, for example a ``DataLoader``. The rows must not have been used to train the model.
    method, condition, classes, seed, alpha, score
        As in ``rankset.calibrate``.
    kind : {"logits", "probs", "decision", "binary", "marginals", "marginal_logits"}, default "logits"
        The type of values that the model returns. A model with a sigmoid output per label returns "marginal_logits"
        before the sigmoid function and "marginals" after it.
    forward : callable, optional
        Function ``forward(model, batch)`` that returns the outputs. By default, the model is called with the inputs.
    labels, groups, ids : str, int or callable, optional
        Where to find the labels, groups and ids in a batch: a key, a position, or a function of the batch.
    show_progress : bool, default True
        Whether to show a progress bar, if the output is a terminal.
    target
        As in ``rankset.calibrate``. If rows can have several labels, the labels of a batch are a tensor of 0 and 1 with
        one column per class, or lists of labels.
    weights : str, int or callable, optional
        Where to find the weights of the rows in a batch, as in ``rankset.calibrate``.

    Returns
    -------
    Rule
        The calibrated rule.

    Raises
    ------
    InputError
        If there are no rows.
    KindError
        If the model, the loader or a batch cannot be used. A note in the error names the batch.

    Examples
    --------
    >>> import rankset as rs
    >>> import torch
    >>> logits, labels = 4 * torch.eye(3).repeat(10, 1), torch.arange(3).repeat(10)
    >>> loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(logits, labels), batch_size=8)
    >>> rs.torch.calibrate(torch.nn.Identity(), loader).n
    30
    """
    wanted = checked_target(target)
    chosen = method_of(method, score, default_score(kind, wanted))
    names = None if classes is None else in_order(classes)
    reader = BatchReader(model, kind, forward, labels, groups, ids, weights)
    if chosen is None:
        several = has_several_labels(wanted)
        rows = collect(reader, loader, names, "calibrating", several=several, show_progress=show_progress)
        options: dict[str, Any] = {"condition": condition, "kind": kind, "seed": seed, "alpha": alpha, "target": wanted}
        return calibrate_rows(**rows, method=AUTO, **options)
    if alpha is not None:
        raise LevelError.not_at_calibration(alpha)
    found: list[Rule] = []
    truth = BatchOutput.several_labels if has_several_labels(wanted) else BatchOutput.named_labels

    def learn(output: BatchOutput) -> None:
        if output.n_rows == 0:
            return
        per_row = output.per_row
        if found:
            found.append(found[0]._calibrate_like(output.scores, truth(output, found[0].classes), **per_row))
            return
        known = None if names is None else class_names(names, len(names)).array
        options: dict[str, Any] = {"kind": kind, "classes": names, "seed": seed, **per_row}
        labels_of_rows = truth(output, known)
        found.append(calibrate_part(output.scores, labels_of_rows, chosen, condition, wanted, **options))

    for _ in reader.each(loader, learn, "calibrating", show_progress=show_progress):
        pass
    if not found:
        raise InputError.no_rows()
    return with_labels(found[0].merge(*found[1:]))


@takes_alpha
def predict(
    rule: Rule,
    model: Callable[..., Any],
    loader: Iterable[Any],
    alpha: Alpha,
    *,
    empty: Empty = "allow",
    forward: Forward | None = None,
    labels: Where | None = None,
    groups: Where | None = None,
    ids: Where | None = None,
    show_progress: bool = True,
    confidence: Alpha | None = None,
    next_rows: int | None = None,
    all_groups: bool = False,
    weights: Where | None = None,
) -> PredictionSets:
    """Return prediction sets for all rows of a loader, as ``rule.predict`` does. Labels in batches are ignored.

    Parameters
    ----------
    rule : Rule
        The calibrated rule.
    model, loader, forward, labels, groups, ids, weights, show_progress
        As in ``rankset.torch.calibrate``.
    alpha : float, str or Fraction
        Largest allowed probability that a set does not contain the true label.
    empty : {"allow", "top"}, default "allow"
        "allow" keeps empty sets. "top" adds the most likely label to each empty set.
    confidence, next_rows, all_groups
        As in ``Rule.predict``: the promise holds for this calibration with the probability ``confidence``.

    Returns
    -------
    PredictionSets
        One set per row, in the order of the loader.

    Raises
    ------
    KindError
        If the rule, the model, the loader or a batch cannot be used. A note in the error names the batch.

    Examples
    --------
    >>> import rankset as rs
    >>> import torch
    >>> logits, labels = 4 * torch.eye(3).repeat(10, 1), torch.arange(3).repeat(10)
    >>> loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(logits, labels), batch_size=8)
    >>> rule = rs.torch.calibrate(torch.nn.Identity(), loader)
    >>> rs.torch.predict(rule, torch.nn.Identity(), [4 * torch.eye(3)], alpha=0.1).to_lists()
    [[0], [1], [2]]
    """
    reader = BatchReader(model, _checked_rule(rule).kind, forward, labels, groups, ids, weights)

    asked = rule.at(alpha, confidence=confidence, next_rows=next_rows, all_groups=all_groups)

    def sets_of(output: BatchOutput) -> PredictionSets:
        return asked.predict(output.scores, empty=empty, **output.per_row)

    nothing = PredictionSets.from_mask(np.empty((0, len(rule.classes)), dtype=bool), rule.spec.classes.values, alpha)
    parts = list(reader.each(loader, sets_of, "predicting", show_progress=show_progress))
    return PredictionSets.concat(parts or [nothing])


@takes_alpha
def evaluate(
    rule: Rule,
    model: Callable[..., Any],
    loader: Iterable[Any],
    alpha: Alpha,
    *,
    empty: Empty = "allow",
    confidence: float = 0.9,
    forward: Forward | None = None,
    labels: Where | None = None,
    groups: Where | None = None,
    ids: Where | None = None,
    show_progress: bool = True,
    weights: Where | None = None,
) -> Evaluation | LabelsEvaluation:
    """Predict sets for all rows of a loader, and compare them with the labels, as ``rankset.evaluate`` does.

    Parameters
    ----------
    rule : Rule
        The calibrated rule.
    model, loader, forward, labels, groups, ids, weights, show_progress
        As in ``rankset.torch.calibrate``.
    alpha, empty
        As in ``rankset.torch.predict``.
    confidence : float, default 0.9
        Probability used for the confidence intervals.

    Returns
    -------
    Evaluation or LabelsEvaluation
        Coverage, set sizes and confidence intervals; recall and the like if rows can have several labels.

    Raises
    ------
    InputError
        If there are no rows.
    KindError
        If the rule, the model, the loader or a batch cannot be used. A note in the error names the batch.

    Examples
    --------
    >>> import rankset as rs
    >>> import torch
    >>> logits, labels = 4 * torch.eye(3).repeat(10, 1), torch.arange(3).repeat(10)
    >>> loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(logits, labels), batch_size=8)
    >>> rule = rs.torch.calibrate(torch.nn.Identity(), loader)
    >>> rs.torch.evaluate(rule, torch.nn.Identity(), loader, alpha=0.1).mean_size
    1.0
    """
    reader = BatchReader(model, _checked_rule(rule).kind, forward, labels, groups, ids, weights)

    several = rule.spec.several_labels

    def sets_and_columns(output: BatchOutput) -> tuple[PredictionSets, NDArray[Any]]:
        sets = rule.predict(output.scores, alpha, empty=empty, **output.per_row)
        if several:
            return sets, sets._truths(output.several_labels(rule.classes)).mask(len(rule.classes))
        return sets, label_codes(output.named_labels(rule.classes), sets.names, len(sets), RowIndex())

    parts = list(reader.each(loader, sets_and_columns, "evaluating", show_progress=show_progress))
    if not parts:
        raise InputError.no_rows_to_evaluate()
    sets, codes = zip(*parts, strict=True)
    truth = np.concatenate(codes) if several else labels_at(rule.classes, np.concatenate(codes))
    return evaluate_sets(PredictionSets.concat(sets), truth, confidence=confidence)


def _checked_rule(rule: object) -> Rule:
    if not isinstance(rule, Rule):
        raise KindError.argument("rule", "a Rule, the result of rankset.torch.calibrate", rule)
    return rule
