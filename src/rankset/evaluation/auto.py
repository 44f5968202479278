"""``auto``: fit and choose a score on some of the rows, then calibrate it on the other rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.conditions import Condition, Marginal, checked_condition
from rankset.core.alpha import Alpha, exact_alpha, rows_needed
from rankset.core.alpha_argument import takes_alpha
from rankset.errors import InputError, KindError
from rankset.evaluation.auto_for_target import auto_for_target
from rankset.evaluation.auto_macro import choose_for_classes, condition_for, shares_of
from rankset.evaluation.calibrate import warn_of_softmax, with_labels
from rankset.evaluation.compare_scores import compare_prepared
from rankset.evaluation.comparison import ENOUGH, Comparison
from rankset.evaluation.fitting_rows import FEWEST_FITTING, count_fitting_rows
from rankset.evaluation.metrics import metrics_named
from rankset.inputs.matrix import SUM_TO_ONE, Kind
from rankset.inputs.prepare import Prepared, prepare
from rankset.rules import absent_rows
from rankset.rules.rule import Rule, calibrate_prepared
from rankset.rules.spec import RuleSpec, check_groups
from rankset.scores import Chosen, Rank, Recalibrated, Score, Thr
from rankset.targets import OneLabel, Target, checked_target
from rankset.targets.base import has_several_labels

Ints = NDArray[np.int64]

MOST_COMPARED_ROWS = 4000
"""Largest number of rows on which a recalibration is compared with THR and RANK."""
CLEARLY_SMALLER = 0.97
"""A plain score is preferred if its mean size is below this share of the recalibration's, beyond noise."""
METRICS_COMPARED = metrics_named(("size", "worst class"))
"""The metrics by which a recalibration is compared with THR and RANK."""
SLACK = 0.1
"""Largest share of calibration rows that is left out to meet a level exactly."""


@takes_alpha
def auto(
    probs: ArrayLike,
    labels: ArrayLike,
    alpha: Alpha = 0.1,
    *,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    condition: Condition = Marginal(),  # noqa: B008
    groups: ArrayLike | None = None,
    class_factors: bool = True,
    share: float | None = None,
    seed: int = 0,
    target: Target | str = OneLabel(),  # noqa: B008
    objective: str = "size",
    shares: Sequence[float] | None = None,
    weights: ArrayLike | None = None,
) -> Rule:
    """Return a rule whose sets are small at ``alpha``. The score is chosen automatically.

    The rows are split at random into two parts. The first part is used to fit a recalibration of the probabilities, and
    to compare it with the scores THR and RANK. If THR or RANK gives clearly smaller sets, it is used instead. The
    second part is used for calibration. The score does not depend on the calibration rows, so sets contain the true
    label with probability at least 1 - alpha, as with ``calibrate``. Print the rule to see which score was chosen and
    why.

    Sets are similar to those of THR. They are small and often have one label, but rows that are hard to classify can be
    covered less often than with other scores. The recalibration can multiply the probability of each class by a fitted
    factor. Then classes that are rarely the true label are also rarely in sets, so the coverage of these classes can be
    low. Pass ``condition=PerLabel()`` if coverage must hold for every class. Pass ``class_factors=False`` if the
    frequencies of the classes will be different in new rows.

    With ``objective="macro"`` all classes count the same, however frequent they are: the mean of their coverages is at
    least 1 - alpha, if ``shares`` are the true shares of the classes. The condition is then
    ``Pooled(Balanced(shares))``. On the first part of the rows, THR and RANK divided by the shares, THR with a
    temperature, THR and a recalibration without class factors are compared under this condition, and the one with the
    smallest sets is used. Pass ``condition=Pooled(PerLabel())`` if classes should be covered evenly and coverage must
    hold over all rows.

    With a ``target`` for several labels per row, the first part is used to fit ``Marginals`` and to compare it with
    ``Share`` (for ``Recall()``) and THR. Nothing is fitted, and all rows calibrate the default score, if fewer than 500
    rows have labels or fewer than 10 rows per label would be used to fit. If rows are not probabilities of single
    labels (``kind="marginals"``), nothing is fitted, and the smaller one of RANK and THR is used.

    Parameters
    ----------
    probs
        Model outputs, one row per sample and one column per class. An array, a data frame, a tensor or ``Ragged``. The
        model must not have been trained on these rows.
    labels
        The true label of each row. With a target for several labels: a 0/1 matrix, or one list of labels per row.
    alpha
        Allowed error rate for which sets should be small, strictly between 0 and 1. The rule can also predict at other
        values of alpha.
    kind
        The type of values in ``probs``: "probs", "logits", "decision", "binary", "marginals" or "marginal_logits", as
        in ``calibrate``.
    classes
        Class names in column order.
    condition
        The groups for which coverage must hold separately.
    groups
        The group of each row. Needed if the condition uses groups.
    class_factors
        Whether the recalibration can multiply the probability of each class by a fitted factor.
    share
        Fraction of the rows that are used to fit and choose the score, from 0 to below 1. Default: 0 below 250 rows,
        0.2 from 250 rows, 0.3 from 2,000 rows. The default is limited to 2,000 rows, or to 10,000,000 / (number of
        classes) rows if that is more. In three cases nothing is fitted, and the score is THR: if fewer than 40 rows
        would be used to fit, if fewer than about 2 / alpha rows per threshold would be left for calibration, or if
        ``probs`` is ``Ragged`` or contains decision values.
    seed
        Seed of the random split.
    target
        What is promised about the true labels of a row, as in ``calibrate``.
    objective
        "size": sets should be small. "macro": sets should be small, and all classes count the same.
    shares
        With objective="macro": number or share of the training rows of each class, in column order, as in ``Balanced``.
    weights
        The weight of each row, as in ``calibrate``. The score is chosen without them.

    Returns
    -------
    Rule
        ``rule.n`` is the number of calibration rows. With ``Marginal()``, up to 10 % of the calibration rows can be
        moved to the rows used to fit, so that coverage is as close to 1 - alpha as possible. For example, 799 rows are
        used for calibration instead of 800 at alpha=0.1. If nothing is fitted, the moved rows are not used.

    Raises
    ------
    InputError
        If there are no rows, or if values are invalid, for example negative probabilities.
    KindError
        If ``share`` is not a number from 0 to below 1, ``class_factors`` is not a boolean, or ``objective`` and
        ``shares`` do not fit together.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> rule = rs.auto(probs[:1000], labels[:1000], alpha=0.1, kind="logits")
    >>> rule.n
    799
    >>> probs, labels = rs.datasets.load("goemotions")
    >>> rs.auto(probs[:400], labels[:400], target="recall", kind="marginals").score
    Share(): not fitted: 400 rows have labels, and 500 are needed; 400 of 400 rows calibrate, so the promise holds
    """
    if not isinstance(class_factors, bool):
        raise KindError.argument("class_factors", "True or False", class_factors)
    level, wanted = exact_alpha(alpha), checked_target(target)
    if objective != "size" or shares is not None:
        condition = condition_for(objective, checked_condition(condition), shares)
    several = has_several_labels(wanted)
    per_row = {"groups": groups, "weights": weights}
    data = prepare(probs, labels, kind=kind, classes=classes, several=several, **per_row).with_checked_values()
    if len(data) == 0:
        raise InputError.no_rows()
    warn_of_softmax(data)
    if wanted != OneLabel():
        return auto_for_target(data, level, condition, wanted, share=share, seed=seed)
    return auto_prepared(data, level, condition, class_factors=class_factors, share=share, seed=seed)


def auto_prepared(
    data: Prepared,
    level: Fraction,
    condition: Condition,
    *,
    class_factors: bool = True,
    share: float | None = None,
    seed: int = 0,
) -> Rule:
    """Return the rule of ``auto`` for prepared rows with labels, whose values are checked."""
    n = len(data)
    spec = RuleSpec.of(Thr(), condition, data.kind, seed, data.classes)
    check_groups(condition, data.groups)
    known, absent, obstacle = spec.learning(data), data.absent, _obstacle(data)
    if absent is not None:
        absent_rows.check_condition(condition, known.table(), absent)
    needed = 2 * rows_needed(level) * (known.n_groups if known.sharing is None else 1)
    n_fitting = 0 if obstacle else count_fitting_rows(n, data.n_columns, share, needed)
    n_rest = n - n_fitting
    n_calibrating = count_calibration_rows(n_rest, level) if _is_one_group(known) else n_rest
    rows = np.random.default_rng(spec.seed % 2**64).permutation(n)
    fitting, calibrating = rows[: n - n_calibrating], rows[n - n_calibrating :]
    useful = fitting if absent is None else fitting[~absent[fitting]]  # a fit learns nothing from absent labels
    if n_fitting and len(useful) >= FEWEST_FITTING:
        score, why = _fitted_score(
            data.take(useful).without_weights(), level, condition, class_factors=class_factors, seed=seed
        )
    else:
        score, why = _unfitted_score(data, condition), obstacle or "too few rows to fit a recalibration"
    promised = "macro coverage" if spec.balanced else "coverage"
    why = f"{why}; {n_calibrating:,} of {n:,} rows calibrate, so {promised} of at least 1 - alpha holds"
    if absent is not None:
        why += " where it can be attained"
    rule = calibrate_prepared(replace(spec, score=Chosen(score, why)), data.take(calibrating))
    return rule if data.masses is None else with_labels(rule)


def count_calibration_rows(n: int, alpha: Fraction) -> int:
    """Return how many of ``n`` rows to use for calibration so that coverage is as close to 1 - alpha as possible.

    Coverage is exactly 1 - alpha if (rows + 1) * alpha is an integer.

    >>> count_calibration_rows(1000, Fraction(1, 10))
    999
    """
    least = max(1, n - int(SLACK * n)) if n >= rows_needed(alpha) else n
    numerator, denominator = alpha.numerator, alpha.denominator
    return min(range(n, least - 1, -1), key=lambda rows: ((rows + 1) * numerator % denominator) / (rows + 1))


def _fitted_score(
    data: Prepared, level: Fraction, condition: Condition, *, class_factors: bool, seed: int
) -> tuple[Score, str]:
    """A score that is fitted and chosen on ``data``, and the reason in words."""
    if isinstance(condition, Marginal) or (shares := shares_of(condition)) is None:
        return _choose_score(data, level, class_factors=class_factors)
    return choose_for_classes(data, level, condition, shares, seed)


def _unfitted_score(data: Prepared, condition: Condition) -> Score:
    """THR, divided by the shares of the classes if all classes count the same."""
    return Thr(shares=shares_of(condition)) if data.kind in SUM_TO_ONE else Thr()


def _is_one_group(spec: RuleSpec) -> bool:
    """Whether the promise is about all rows together, each of which counts the same."""
    return not spec.reweighted and (isinstance(spec.condition, Marginal) or spec.sharing is not None)


def _obstacle(data: Prepared) -> str:
    """Why rows of this kind cannot be recalibrated; empty if they can."""
    if data.kind not in SUM_TO_ONE:
        return "values that do not sum to 1 cannot be recalibrated"
    return "" if data.counts is None else "rows with different candidates cannot be recalibrated"


def _choose_score(data: Prepared, alpha: Fraction, *, class_factors: bool) -> tuple[Score, str]:
    """A recalibration fitted on ``data``, or a plain score if that is clearly better; and the reason in words."""
    n = len(data)
    compared = _compare_fit(data, n, alpha, class_factors=class_factors)
    plain = _clearly_smaller_score(compared)
    if plain is not None:
        return plain, f"sets were clearly smaller than recalibrated ones on {n:,} separate rows"
    fitted = Recalibrated.fit_prepared(data, class_factors=class_factors)
    why = f"probabilities recalibrated on {n:,} separate rows"
    if not fitted.factors:
        return fitted, f"{why}, without class factors"
    return (
        fitted,
        f"{why}, with a factor for every class, for the same mix of classes; {_describe_worst_class(compared)}",
    )


def _compare_fit(data: Prepared, n: int, alpha: Fraction, *, class_factors: bool) -> Comparison:
    """Fit a recalibration on half of the rows, and compare it with THR and RANK on the other half."""
    half = min(n // 2, MOST_COMPARED_ROWS)
    fitted = Recalibrated.fit_prepared(data.part(slice(0, half)), class_factors=class_factors)
    others = data.part(slice(n - half, n))
    return compare_prepared(others, alpha, (fitted, Thr(), Rank()), METRICS_COMPARED, repeats=8)


def _clearly_smaller_score(compared: Comparison) -> Score | None:
    """THR or RANK, if one of them has clearly smaller sets than the recalibration."""
    sizes = compared.means[:, compared.measures.index("size")]
    best = 1 + int(sizes[1:].argmin())
    gap, error = compared.contrast([-CLEARLY_SMALLER, *(float(place == best) for place in (1, 2))])
    return compared.scores[best] if gap + ENOUGH * error < 0 else None


def _describe_worst_class(compared: Comparison) -> str:
    """The coverage of the class that is covered least, with the recalibration and with THR."""
    fitted, thr, _ = compared.means[:, compared.measures.index("worst class")]
    return f"the class covered least is covered {fitted:.2f} (THR: {thr:.2f}) on halves of {compared.n:,} of these rows"
