"""``choose``: the best of several scores. ``grid``: a score for every combination of parameters."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankset.conditions import Condition, Marginal, checked_condition
from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.errors import KindError, RuleError
from rankset.evaluation.default_scores import ONE_LABEL
from rankset.evaluation.metrics import METRICS, Formula
from rankset.evaluation.own_measures import checked_formula
from rankset.evaluation.target_trial import TargetTrial
from rankset.evaluation.trial import Alphas, Trial, check_levels, check_scores
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import prepare
from rankset.rules.spec import check_groups
from rankset.scores import Score
from rankset.targets import Target, checked_target
from rankset.targets.base import has_several_labels

OBJECTIVES: Mapping[str, str] = {
    "size": "size",
    "singletons": "singletons",
    "sscv": "SSCV*",
    "worst_class": "worst class",
}
"""The metric behind each objective of ``choose``."""


def grid(kind: Callable[..., Score], **values: Iterable[Any]) -> tuple[Score, ...]:
    """Return a score for every combination of parameters.

    Pass the scores to ``choose`` or ``compare``, together with a condition and groups if you need them.

    Parameters
    ----------
    kind
        The class of the score, such as ``rankset.Raps``.
    **values
        For each parameter, a list of values to try. For a score that uses another score, such as ``rankset.TieBreak``,
        ``score`` is a list of scores.

    Returns
    -------
    tuple of scores
        One score per combination. The last parameter changes fastest.

    Raises
    ------
    KindError
        If ``kind`` is not a class or does not have a parameter with this name, or if the values are not a list.

    Examples
    --------
    >>> import rankset as rs
    >>> grid(rs.Raps, penalty=[0.01, 0.1], free_ranks=[1])
    (Raps(penalty=0.01, free_ranks=1, randomized=True), Raps(penalty=0.1, free_ranks=1, randomized=True))
    >>> grid(rs.TieBreak, score=[rs.Rank(), *grid(rs.Saps, weight=[0.1])])
    (TieBreak(score=Rank()), TieBreak(score=Saps(weight=0.1, randomized=True)))
    """
    for name, options in values.items():
        if isinstance(options, str | bytes) or not isinstance(options, Iterable):
            raise KindError.argument(name, "a list of values to try", options)
    if not isinstance(kind, type):
        raise KindError.argument("kind", "the class of a score, such as rankset.Raps", kind)
    known = [field.name for field in fields(kind)] if is_dataclass(kind) else list(values)
    for name, options in values.items():
        if name not in known:
            raise KindError.argument(name, f"a parameter of {kind.__name__} ({', '.join(known)})", options)
    return tuple(kind(**dict(zip(values, chosen, strict=True))) for chosen in itertools.product(*values.values()))


@takes_alpha
def choose(
    candidates: Iterable[Score | str],
    probs: ArrayLike,
    labels: ArrayLike,
    alpha: Alpha | Alphas = 0.1,
    *,
    objective: str | Formula = "size",
    condition: Condition = Marginal(),  # noqa: B008
    groups: ArrayLike | None = None,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    ids: ArrayLike | None = None,
    repeats: int = 20,
    seed: int = 0,
    target: Target | str = ONE_LABEL,
) -> Score:
    """Return the best of several scores, measured on random splits of the rows.

    In each split, one half of the rows is used for calibration and the other half for testing. Calibrate
    the chosen score on other rows. Otherwise coverage is not guaranteed.

    Parameters
    ----------
    candidates
        Scores to choose from. If several scores are equally good, the first of them is returned. "auto" is not a score:
        call ``rankset.auto`` instead, or compare it with scores by ``compare``.
    probs
        Model outputs, one row per sample and one column per class. An array, a data frame, a tensor or ``Ragged``. The
        model must not have been trained on these rows.
    labels
        The true label of each row.
    alpha
        Allowed error rate, strictly between 0 and 1. Or a list of several: the mean of the objective over all of them
        is minimised.
    objective
        The criterion for the best score. "size": the smallest mean set size. "singletons": the most sets with exactly
        one label. "sscv": the smallest SSCV*, see the page "Metrics". "worst_class": the highest coverage of the class
        with the lowest coverage. Or a function that returns a number to minimise. It is called for every split with
        four arguments about the test rows: whether each set contains the true label, the set sizes, the column numbers
        of the true labels (-1 for ``rankset.ABSENT``), and alpha. With a ``target`` it must be "size".
    condition
        The groups for which coverage must hold separately, each with its own threshold, as in ``calibrate``. Use the
        same condition for the calibration.
    groups
        The group of each row. Needed if the condition uses groups.
    kind
        The type of values in ``probs``: "probs", "logits", "decision", "binary", "marginals" or "marginal_logits", as
        in ``calibrate``.
    classes
        Class names in column order.
    ids
        The id of each row, as in ``calibrate``. Used by randomised scores.
    repeats
        Number of random splits.
    seed
        Seed of the random splits and of randomised scores.
    target
        What is promised about the true labels of a row, as in ``calibrate``. Use the same target for the calibration.

    Returns
    -------
    Score
        One of ``candidates``.

    Raises
    ------
    RuleError
        If there is no objective with this name.
    KindError
        If ``candidates`` is not a list of scores, or the objective does not return a finite number.
    LabelError
        If groups are missing though the condition needs them, or passed though it does not.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> score = rs.choose(rs.grid(rs.Saps, weight=[0.05, 0.2, 0.5]), probs[:130], labels[:130])
    >>> rs.calibrate(probs[130:], labels[130:], method=score).n
    130
    >>> probs, labels = rs.datasets.load("goemotions")
    >>> rs.choose(["rank", "thr"], probs[:300], labels[:300], target="all", kind="marginals")
    Thr()
    """
    loss = _loss(objective)
    scores, levels = check_scores(candidates, "candidates"), check_levels(alpha)
    promised = checked_target(target)
    several = has_several_labels(promised)
    data = prepare(probs, labels, kind=kind, classes=classes, groups=groups, ids=ids, several=several)
    check_groups(checked_condition(condition), data.groups)
    if promised != ONE_LABEL:
        if objective != "size":
            raise RuleError.option("objective", objective, ("size",))
        tried = TargetTrial.of(data, levels, promised, repeats, seed, condition)
        place = tried.measures.index("size")
        return min(scores, key=lambda score: tried.measure(score, levels)[:, place].mean())
    trial = Trial.of(data, levels, scores, repeats, seed, condition)
    means = [
        np.mean([cells.measure(trial.splits, trial.labels, level, [loss]).mean() for level in levels])
        for cells in trial.sorted_cells(levels)
    ]
    return scores[int(np.argmin(means))]


def _loss(objective: str | Formula) -> Formula:
    """The formula that ``choose`` minimises."""
    if isinstance(objective, str):
        if objective not in OBJECTIVES:
            raise RuleError.option("objective", objective, tuple(OBJECTIVES))
        metric = METRICS[OBJECTIVES[objective]]
        return lambda covered, sizes, labels, alpha: metric.loss(metric.formula(covered, sizes, labels, alpha), alpha)
    if not callable(objective):
        raise KindError.argument("objective", f"one of {', '.join(OBJECTIVES)}, or a function", objective)
    return checked_formula(objective, "objective")
