"""``evaluate``: compare prediction sets with the true labels."""

from __future__ import annotations

from fractions import Fraction
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core import coverage_law
from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.decisions.decisions import Decisions
from rankset.errors import InputError, KindError, LevelError
from rankset.evaluation.decided import DecisionsEvaluation
from rankset.evaluation.evaluate_decided import evaluate_decisions
from rankset.evaluation.evaluate_several import evaluate_several
from rankset.evaluation.evaluation import Evaluation
from rankset.evaluation.metrics import EMPTY_APART, METRICS, PAPER_STRATA
from rankset.evaluation.several_labels import LabelsEvaluation
from rankset.evaluation.shares import groups_of, shares_by_group, shares_of, worst_stratum
from rankset.sets import PredictionSets
from rankset.sets.option_names import label_columns
from rankset.streams.exchangeability import Exchangeability
from rankset.targets import Cost, Target, checked_target
from rankset.targets.base import has_several_labels
from rankset.targets.cost import cost_shares


@overload
def evaluate(
    sets: PredictionSets,
    labels: ArrayLike,
    alpha: Alpha | None = None,
    *,
    groups: ArrayLike | None = None,
    confidence: float = 0.9,
    target: None = None,
    exchangeability: Exchangeability | None = None,
) -> Evaluation: ...
@overload
def evaluate(
    sets: PredictionSets,
    labels: ArrayLike,
    alpha: Alpha | None = None,
    *,
    groups: ArrayLike | None = None,
    confidence: float = 0.9,
    target: Target | str,
) -> LabelsEvaluation: ...
@overload
def evaluate(
    sets: Decisions,
    labels: ArrayLike,
    *,
    confidence: float = 0.9,
    review: PredictionSets | None = None,
    minutes_per_row: float | None = None,
) -> DecisionsEvaluation: ...
@takes_alpha
def evaluate(
    sets: PredictionSets | Decisions,
    labels: ArrayLike,
    alpha: Alpha | None = None,
    *,
    groups: ArrayLike | None = None,
    confidence: float = 0.9,
    target: Target | str | None = None,
    review: PredictionSets | None = None,
    minutes_per_row: float | None = None,
    exchangeability: Exchangeability | None = None,
) -> Evaluation | LabelsEvaluation | DecisionsEvaluation:
    """Compare prediction sets, or decisions, with the true labels and compute all metrics.

    Parameters
    ----------
    sets
        The sets of at least one row, returned by ``Rule.predict``; or the decisions of ``Triage.accept`` or
        ``Gate.decide``. For decisions only ``labels``, ``confidence``, ``review`` and ``minutes_per_row`` are used.
    labels
        The true label of each row, as a class name or a column number, in the same order as the sets. A row with the
        label ``rankset.ABSENT`` counts as missed. It belongs to no class.
    alpha
        Allowed error rate with which coverage is compared. By default the alpha that was passed to ``predict``.
    groups
        The group of each row. If you pass it, the result also has the coverage and the mean size of every group; if
        rows can have several labels, the recall and the share of rows with all labels, with intervals.
    confidence
        Confidence of the interval for coverage and of the expected range of coverage, strictly between 0 and 1. It is
        not the confidence of ``predict``, which changes sets; sets remember that one.
    target
        Pass it if rows can have several labels and no rule predicted the sets: ``Recall()`` or "recall", for example.
        By default the target of the rule.
    review
        For decisions: the sets of the rows that are not accepted, from ``done.review``.
    minutes_per_row
        For decisions: minutes that a person needs for a row. The result then has the hours saved.
    exchangeability
        What ``exchangeable(rule, outputs, labels)`` said about these rows. The printed table then tells whether they
        look like the calibration rows.

    Returns
    -------
    Evaluation, LabelsEvaluation or DecisionsEvaluation
        All metrics of the page "Metrics", and the coverage and mean size of every class and group. If rows can have
        several labels, a ``LabelsEvaluation``: recall, rows with all labels, precision, and the recall of every label.

    Raises
    ------
    KindError
        If ``sets`` is not a ``PredictionSets``, or ``exchangeability`` not the result of ``exchangeable``.
    InputError
        If there are no rows, or if rows, labels and groups have different pandas indexes.
    LabelError
        If a label is not one of the classes, or if the number of labels is not the number of rows.
    LevelError
        If ``alpha`` is not passed and the sets do not have an alpha, because no rule predicted them.

    Examples
    --------
    >>> sets = PredictionSets.from_mask([[True, False], [True, True], [False, True], [True, False]])
    >>> evaluate(sets, [0, 1, 1, 1], alpha=0.25).coverage
    0.75
    """
    if isinstance(sets, Decisions):
        _refuse_arguments_of_sets(alpha=alpha, groups=groups, target=target, exchangeability=exchangeability)
        return evaluate_decisions(sets, labels, confidence, review, minutes_per_row)
    if review is not None or minutes_per_row is not None:
        raise KindError.argument("review and minutes_per_row", "None unless decisions are evaluated", "a value")
    if not isinstance(sets, PredictionSets):
        raise KindError.argument("sets", "PredictionSets, the result of Rule.predict", type(sets).__name__)
    if len(sets) == 0:
        raise InputError.no_rows_to_evaluate()
    if exchangeability is not None and not isinstance(exchangeability, Exchangeability):
        raise KindError.argument(
            "exchangeability", "the result of exchangeable(rule, outputs, labels)", exchangeability
        )
    level, index = _level(sets, alpha), sets._index  # remembers what it has read: labels and groups must agree
    wanted = sets.target if target is None else checked_target(target)
    if wanted is not None and has_several_labels(wanted):
        _refuse_one_label_arguments(exchangeability)
        coverage_law.tails(confidence)
        several = sets._truths(labels, index)
        return evaluate_several(sets, several, level, wanted, confidence, groups_of(groups, len(sets), index))
    codes = label_columns(sets, labels, index)
    covered, sizes, n = sets.covers(labels), sets.sizes, len(sets)
    return Evaluation(
        alpha=float(level),
        n=n,
        confidence=confidence,
        values={name: metric.formula(covered, sizes, codes, level) for name, metric in METRICS.items()},
        interval=coverage_law.binomial_interval(int(covered.sum()), n, confidence),
        expected=_expected_range(sets, level, n, confidence),
        size_counts=np.bincount(sizes),
        strata=(
            worst_stratum(covered, sizes, level, PAPER_STRATA),
            worst_stratum(covered, sizes, level, EMPTY_APART),
        ),
        classes=shares_of(sets.names.array, codes, covered, sizes),
        groups=shares_by_group(groups_of(groups, n, index), covered, sizes),
        absent=int((codes < 0).sum()),
        cost=_mean_cost(wanted, sets, codes, covered) if isinstance(wanted, Cost) else None,
        proven=None if sets.level != level else sets.proven,
        sure=None if sets.level != level else sets.confidence,
        balanced=sets.balanced,
        effective_rows=sets.effective_rows,
        exchangeability=exchangeability,
        attained=sets.law is None or sets.law.attained or sets.level != level,
    )


def _refuse_arguments_of_sets(**arguments: object) -> None:
    """Raise an error if arguments are passed that decisions do not use."""
    for name, value in arguments.items():
        if value is not None:
            raise KindError.argument(name, "None for decisions, which have their errors and groups", value)


def _refuse_one_label_arguments(exchangeability: Exchangeability | None) -> None:
    """Raise an error if an argument is passed that is about rows with one label."""
    if exchangeability is not None:
        raise KindError.argument("exchangeability", "None if rows can have several labels", exchangeability)


def _mean_cost(target: Cost, sets: PredictionSets, codes: NDArray[np.int64], covered: NDArray[np.bool_]) -> float:
    """Return the mean cost of missed labels, divided by the largest cost; an absent label costs as much as any."""
    shares = np.array([float(share) for share in cost_shares(target, sets.names.values)])
    return float(np.where(covered, 0.0, np.where(codes < 0, 1.0, shares[codes])).mean())


def _level(sets: PredictionSets, alpha: Alpha | None) -> Fraction:
    """``alpha`` as an exact fraction, by default the level of the sets."""
    if alpha is not None:
        return exact_alpha(alpha)
    if sets.level is None:
        raise LevelError.missing()
    return sets.level


def _expected_range(sets: PredictionSets, alpha: Fraction, n: int, confidence: float) -> tuple[float, float] | None:
    """The central range of coverage on ``n`` rows that the beta-binomial law fills with ``confidence``."""
    law = sets.law
    if law is None or sets.level != alpha:
        return None
    return law.sampling_range(n, confidence)
