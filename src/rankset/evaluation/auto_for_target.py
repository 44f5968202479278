"""``auto`` with a target: fit and choose a score on some of the rows, then calibrate it on the other rows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from rankset.conditions import Condition
from rankset.core.alpha import rows_needed
from rankset.errors import RuleError
from rankset.evaluation.calibrate import with_labels
from rankset.evaluation.default_scores import default_score
from rankset.evaluation.fitting_rows import FEWEST_FITTING, count_fitting_rows
from rankset.evaluation.short_names import short_name
from rankset.evaluation.target_trial import TargetTrial, count_labelled
from rankset.inputs.matrix import MARGINAL
from rankset.inputs.prepare import Prepared
from rankset.rules.rule import Rule, calibrate_prepared
from rankset.rules.spec import RuleSpec, check_groups
from rankset.scores import Chosen, Marginals, Rank, Score, Share, Thr
from rankset.targets import Recall, Target
from rankset.targets.base import is_about_false_labels

FEW_LABELLED = 500
"""With fewer rows with labels nothing is fitted."""
ROWS_PER_LABEL = 10
"""At least so many rows per label are needed to fit."""
REPEATS = 20
MOST_JUDGED_ROWS = 4000
"""Largest number of rows on which scores are compared."""
CLEARLY_SMALLER = 0.99
"""A plain score replaces the default one if its mean size is below this share of the default one's."""


def auto_for_target(
    data: Prepared,
    level: Fraction,
    condition: Condition,
    target: Target,
    *,
    share: float | None = None,
    seed: int = 0,
) -> Rule:
    """Return the rule of ``auto`` for prepared rows with labels, whose values are checked."""
    if is_about_false_labels(target):
        raise RuleError.only_calibrate("auto", target)
    n, default = len(data), default_score(data.kind, target)
    spec = RuleSpec.of(default, condition, data.kind, seed, data.classes, target)
    check_groups(condition, data.groups)
    needed = 2 * rows_needed(level) * spec.learning(data).n_groups
    n_fitting = count_fitting_rows(n, data.n_columns, share, needed)
    score, why = default, _obstacle(data, n_fitting)
    rows = np.random.default_rng(spec.seed % 2**64).permutation(n)
    if why:
        n_fitting = 0
    else:
        score, why = _choose_score(data.take(rows[:n_fitting]).without_weights(), level, target)
    why = f"{why}; {n - n_fitting:,} of {n:,} rows calibrate, so the promise holds"
    return with_labels(calibrate_prepared(replace(spec, score=Chosen(score, why)), data.take(rows[n_fitting:])))


def plain_scores(kind: str, target: Target) -> tuple[Score, ...]:
    """Return the scores without fitted numbers that ``auto`` compares, the default one first."""
    if kind not in MARGINAL:
        return Rank(), Thr()
    return (Share(), Thr()) if isinstance(target, Recall) else (Thr(),)


def can_fit(data: Prepared) -> bool:
    """Return whether ``Marginals`` can be fitted on rows of this type."""
    return data.kind in MARGINAL and data.truths is not None and data.counts is None


def _obstacle(data: Prepared, n_fitting: int) -> str:
    """Why nothing is fitted or compared; empty if there are enough rows."""
    labelled = count_labelled(data)
    if labelled < FEW_LABELLED:
        return f"not fitted: {labelled:,} rows have labels, and {FEW_LABELLED} are needed"
    if n_fitting < FEWEST_FITTING:
        return "not fitted: too few rows would fit or calibrate"
    if can_fit(data) and n_fitting < ROWS_PER_LABEL * data.n_columns:
        return f"not fitted: {n_fitting:,} rows would fit {data.n_columns:,} labels, fewer than {ROWS_PER_LABEL} each"
    return ""


def _choose_score(data: Prepared, alpha: Fraction, target: Target) -> tuple[Score, str]:
    """Return the score with the smallest sets on half of these rows, fitted on all of them, and the reason in words."""
    plain = plain_scores(data.kind, target)
    half = min(len(data) // 2, MOST_JUDGED_ROWS)
    judged = data.part(slice(len(data) - half, len(data)))
    trial = TargetTrial.of(replace(judged, groups=None), (alpha,), target, REPEATS, 0)
    size = trial.measures.index("size")
    sizes = {score: trial.measure(score, (alpha,))[0, size].mean() for score in plain}
    best = plain[0]
    for score in plain[1:]:
        best = score if sizes[score] < CLEARLY_SMALLER * sizes[best] else best
    told = ", ".join(f"{short_name(score)} {sizes[score]:.2f}" for score in plain)
    where = f"on halves of {half:,} separate rows"
    if not can_fit(data):
        return best, f"mean sizes {where}: {told}"
    fitted = Marginals.fit_prepared(data.part(slice(0, len(data) - half)), plain[0])
    found = trial.measure(fitted, (alpha,))[0, size].mean()
    if found >= sizes[best]:
        return best, f"sets were not smaller with recalibrated probabilities, {found:.2f} labels {where} ({told})"
    final = Marginals.fit_prepared(data, plain[0])
    how = "with its row and with the other labels" if final.matrix else "with its row"
    reason = f"probability of each label recalibrated {how} on {len(data):,} separate rows"
    return final, f"{reason}; mean size {found:.2f} on halves of {half:,} of them ({told})"
