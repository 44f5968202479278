"""``compare``: measure several scores on the same random splits of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, overload

from numpy.typing import ArrayLike

from rankset.conditions import Condition, checked_condition
from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.errors import KindError
from rankset.evaluation.auto_for_target import auto_for_target
from rankset.evaluation.auto_trial import auto_halves, measure_auto
from rankset.evaluation.calibrate import warn_of_softmax
from rankset.evaluation.compare_scores import compare_at_levels, compare_prepared
from rankset.evaluation.comparison import Comparison
from rankset.evaluation.comparisons import Comparisons
from rankset.evaluation.condition_comparison import ConditionComparison
from rankset.evaluation.default_scores import ONE_LABEL, default_scores
from rankset.evaluation.own_measures import Measures, chosen_metrics
from rankset.evaluation.target_trial import Calibrate, TargetTrial, compare_for_target
from rankset.evaluation.trial import MARGINAL, Alphas, Trial, check_levels, check_scores, has_several_levels
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import prepare
from rankset.rules.spec import check_groups
from rankset.scores import AUTO, Score, is_auto
from rankset.targets import Target, checked_target
from rankset.targets.base import has_several_labels

__all__ = ["compare", "compare_prepared"]


@overload
def compare(
    probs: ArrayLike,
    labels: ArrayLike,
    alpha: Alpha = 0.1,
    *,
    scores: Iterable[Score | str] | None = None,
    condition: Condition = MARGINAL,
    groups: ArrayLike | None = None,
    metrics: Measures | Iterable[Measures] | None = None,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    ids: ArrayLike | None = None,
    repeats: int = 20,
    seed: int = 0,
    target: Target | str = ONE_LABEL,
) -> Comparison: ...
@overload
def compare(
    probs: ArrayLike,
    labels: ArrayLike,
    alpha: Alphas,
    *,
    scores: Iterable[Score | str] | None = None,
    condition: Condition = MARGINAL,
    groups: ArrayLike | None = None,
    metrics: Measures | Iterable[Measures] | None = None,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    ids: ArrayLike | None = None,
    repeats: int = 20,
    seed: int = 0,
    target: Target | str = ONE_LABEL,
) -> Comparisons: ...
@overload
def compare(
    probs: ArrayLike,
    labels: ArrayLike,
    alpha: Alpha = 0.1,
    *,
    scores: Iterable[Score | str] | None = None,
    condition: Sequence[Condition],
    groups: ArrayLike | None = None,
    metrics: Measures | Iterable[Measures] | None = None,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    ids: ArrayLike | None = None,
    repeats: int = 20,
    seed: int = 0,
    target: Target | str = ONE_LABEL,
) -> ConditionComparison: ...
@takes_alpha
def compare(
    probs: ArrayLike,
    labels: ArrayLike,
    alpha: Alpha | Alphas = 0.1,
    *,
    scores: Iterable[Score | str] | None = None,
    condition: Condition | Sequence[Condition] = MARGINAL,
    groups: ArrayLike | None = None,
    metrics: Measures | Iterable[Measures] | None = None,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    ids: ArrayLike | None = None,
    repeats: int = 20,
    seed: int = 0,
    target: Target | str = ONE_LABEL,
) -> Comparison | Comparisons | ConditionComparison:
    """Compare several scores on the same random splits of the rows.

    In each split, one half of the rows is used for calibration and the other half for testing. If you choose a score
    because of this comparison, calibrate it on other rows. Otherwise coverage is not guaranteed.

    ``auto`` is compared too. In each split, it fits and chooses a score on some rows of the calibration half and
    calibrates on the other rows of this half, so the test half is new to it. It has no standard errors.

    Parameters
    ----------
    probs
        Model outputs, one row per sample and one column per class. An array, a data frame, a tensor or ``Ragged``. The
        model must not have been trained on these rows.
    labels
        The true label of each row.
    alpha
        Allowed error rate, strictly between 0 and 1. Or a list of several.
    scores
        Scores to compare or their names, and the text "auto" for ``rankset.auto``. At least one of them must be a fixed
        score: "auto" alone is refused, because its numbers are read against those of a score. By default RANK,
        THR, APS, RAPS, SAPS and auto; for decision values RANK, THR, Margin and auto; with a ``target`` Share (for
        marginals), THR, RANK and auto. With more than 20,000,000 values
        in ``probs``, auto is measured on fewer splits, at least 5, because it is fitted again in each split.
    condition
        The groups for which coverage must hold separately. Each group has its own threshold in each split. A group with
        too few calibration rows keeps every label. Or a list of several conditions, which are compared too.
    groups
        The group of each row. Needed if the condition uses groups.
    metrics
        What to measure, besides coverage and size. A list of names (see the page "Metrics"), a dictionary of your own
        functions by name, or a list of both. A function is called for every split with four arguments about the test
        rows: whether each set contains the true label, the set sizes, the column numbers of the true labels (-1 for
        ``rankset.ABSENT``), and alpha. It returns a number, or NaN if the measure is not defined. Default: all metrics.
        With a ``target`` it cannot be passed: what is measured then is listed at ``Comparison``.
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
        What is promised about the true labels of a row, as in ``calibrate``, for example ``Recall()``. The mean loss of
        the test rows ("risk") is then measured instead of coverage. There are standard errors if there is one
        threshold.

    Returns
    -------
    Comparison
        The metrics of every score. Metrics that are means over rows have standard errors. With a condition that has
        several thresholds, only coverage and size have them, and only if every group has enough rows.
    Comparisons
        If ``alpha`` is a list: one ``Comparison`` per alpha, on the same splits.
    ConditionComparison
        If ``condition`` is a list: one ``Comparison`` per condition, on the same splits, as one table and one picture.

    Raises
    ------
    KindError
        If ``scores`` is not a list of at least one score besides "auto", ``repeats`` is not an integer above 0, or a
        function of ``metrics`` does not take four arguments or does not return a number.
    RuleError
        If there is no metric with this name.
    LabelError
        If groups are missing though the condition needs them, or passed though it does not.
    InputError
        If there are fewer than two rows, or if values are invalid, for example negative probabilities.

    Notes
    -----
    The splits can be made again: ``rng = np.random.default_rng(seed)``, then ``order = rng.permutation(n)`` once for
    every split. The rows ``order[: n // 2]`` calibrate, the rows ``order[n // 2 :]`` test. In each split, auto is
    ``rankset.auto(probs[cal], labels[cal], alpha, condition=condition, seed=seed)``, without ids. The spread of a table
    is the standard deviation over the splits, with ``ddof=1``.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.compare(probs, labels, 0.1, scores=[rs.Rank(), rs.Thr()]).smallest
    Thr()
    >>> largest = {"largest set": lambda covered, sizes, labels, alpha: sizes.max()}
    >>> rs.compare(probs, labels, scores=[rs.Thr(), "auto"], condition=rs.PerLabel(), metrics=largest).measures
    ('coverage', 'size', 'largest set')
    >>> probs, labels = rs.datasets.load("goemotions")
    >>> found = rs.compare(probs[:500], labels[:500], scores=["thr", "rank"], target="recall", kind="marginals")
    >>> found.smallest, found.measures
    (Thr(), ('risk', 'recall', 'all labels', 'size', 'empty'))
    """
    if isinstance(condition, list | tuple):
        shared: Any = {"kind": kind, "classes": classes, "ids": ids, "repeats": repeats, "seed": seed, "target": target}
        return _compare_conditions(
            condition, groups, probs, labels, alpha, scores=_listed(scores), metrics=_listed(metrics), **shared
        )
    condition, promised = checked_condition(condition), checked_target(target)
    chosen, with_auto = _candidates((*default_scores(kind, promised), AUTO) if scores is None else scores)
    levels, wanted = check_levels(alpha), chosen_metrics(metrics)
    several = has_several_labels(promised)
    data = prepare(probs, labels, kind=kind, classes=classes, groups=groups, ids=ids, several=several)
    check_groups(condition, data.groups)
    warn_of_softmax(data)
    if promised != ONE_LABEL:
        _check_measures(metrics)
        found = _with_target(
            TargetTrial.of(data, levels, promised, repeats, seed, condition), levels, chosen, with_auto
        )
        return Comparisons(found) if has_several_levels(alpha) else found[levels[0]]
    trial = Trial.of(data, levels, chosen, repeats, seed, condition)
    results = dict(zip(levels, compare_at_levels(trial, levels, wanted, condition), strict=True))
    if with_auto:
        results = {
            level: replace(one, auto_values=measure_auto(trial, level, condition, wanted))
            for level, one in results.items()
        }
    return Comparisons(results) if has_several_levels(alpha) else results[levels[0]]


def _compare_conditions(
    conditions: Sequence[Condition],
    groups: ArrayLike | None,
    *rows: Any,  # noqa: ANN401
    **options: Any,  # noqa: ANN401
) -> ConditionComparison:
    """Compare each of several conditions with the same options; groups are passed to those that use them."""
    if not conditions:
        raise KindError.argument("condition", "a condition, or a list of at least one condition", conditions)
    if has_several_levels(rows[2]):
        raise KindError.argument("alpha", "one number if several conditions are compared", rows[2])
    needing = [checked_condition(one).needs_groups for one in conditions]
    if groups is not None and not any(needing):
        check_groups(conditions[0], groups)
    results = [
        compare(*rows, condition=one, groups=groups if needs else None, **options)
        for one, needs in zip(conditions, needing, strict=True)
    ]
    return ConditionComparison(tuple(results))


def _listed(several: Any) -> Any:  # noqa: ANN401
    """Return an iterator as a list, because it is used for every condition."""
    return list(several) if isinstance(several, Iterator) else several


def _with_target(
    trial: TargetTrial,
    levels: tuple[Fraction, ...],
    scores: tuple[Score, ...],
    with_auto: bool,  # noqa: FBT001
) -> dict[Fraction, Comparison]:
    """Compare scores, and ``auto`` if wanted, for a target."""
    results = dict(zip(levels, compare_for_target(trial, levels, scores), strict=True))
    if not with_auto:
        return results
    n, n_columns = len(trial.data), trial.data.n_columns
    splits = auto_halves(n, n_columns, len(trial.splits))
    return {
        level: replace(one, auto_values=trial.measure_rules(_auto_route(trial), level, splits))
        for level, one in results.items()
    }


def _auto_route(trial: TargetTrial) -> Calibrate:
    """Return the route of ``auto`` for the halves of a trial."""
    return partial(auto_for_target, condition=trial.condition, target=trial.target, seed=trial.seed)


def _check_measures(metrics: object) -> None:
    """Raise an error if metrics are passed together with a target."""
    if metrics is not None:
        raise KindError.argument("metrics", "None if a target is passed", metrics)


def _candidates(scores: Iterable[Score | str]) -> tuple[tuple[Score, ...], bool]:
    """The scores among the candidates, and whether ``auto`` is one of them."""
    several = tuple(scores) if isinstance(scores, Iterable) and not isinstance(scores, str) else ()
    rest = [score for score in several if not is_auto(score)]
    if several and not rest:
        raise KindError.argument("scores", "a list with at least one score besides 'auto'", scores)
    return check_scores(rest if several else scores, "scores"), len(rest) < len(several)
