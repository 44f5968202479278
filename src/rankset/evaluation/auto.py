"""auto: the answer in one call. It fits and chooses on some of the rows, freezes that, and calibrates on the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha, exact_alpha, rows_needed
from rankset.errors import InputError, KindError
from rankset.evaluation.compare import compare_prepared
from rankset.evaluation.comparison import ENOUGH, Comparison
from rankset.evaluation.metrics import metrics_named
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared, prepare
from rankset.rules.rule import Rule, calibrate_prepared
from rankset.rules.spec import RuleSpec, check_groups
from rankset.scores import Chosen, Rank, Score, Thr
from rankset.scores.fitted import Recalibrated

Ints = NDArray[np.int64]

FEW_ROWS = 250
"""Fewer rows are all needed to calibrate: what a fit gains would not make up for them."""
MANY_ROWS = 2000
FEWEST_FITTING = 40
SHARES = {FEW_ROWS: 0.2, MANY_ROWS: 0.3}
"""The share of rows that fits, by how many there are at least."""
MOST_FITTING_CELLS = 10_000_000
MOST_JUDGES = 4000
CLEARLY = 0.97
"""How much smaller, at most, the sets of a plain score must be for it to be preferred to a fit."""
JUDGED_BY = metrics_named(("size", "worst class"))
"""The metrics that a recalibration and plain scores are compared by."""
SLACK = 0.1
"""The share of calibration rows given up, at most, to meet a level exactly."""


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
) -> Rule:
    """A rule with small sets at ``alpha``, from rows the model has not seen; print it to read what was chosen.

    Some of the rows (``share``; by default 0.2 from 250 rows on, 0.3 from 2,000 on, none of fewer) fit a recalibration,
    which is frozen; the others calibrate, so sets contain the label with probability at least 1 - alpha, as always.
    The rows are shared by a permutation that ``seed`` chooses, and as many of them calibrate as meet ``alpha`` exactly.

    Like THR it makes small sets: many single labels, and not the best coverage of hard rows. Class factors make
    classes that are rarely true rare in sets, too, so these may be covered less: pass ``condition=PerLabel()`` where
    every class counts, and ``class_factors=False`` where another mix of classes is to come.

    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> rule = rs.auto(probs[:1000], labels[:1000], alpha=0.1, kind="logits")
    >>> rule.n
    799
    """
    if not isinstance(class_factors, bool):
        raise KindError.argument("class_factors", "True or False", class_factors)
    asked = exact_alpha(alpha)
    data = prepare(probs, labels, kind=kind, classes=classes, groups=groups).with_checked_values()
    n = len(data)
    if n == 0:
        raise InputError.no_rows()
    spec = RuleSpec.of(Thr(), condition, data.kind, seed, data.classes)
    check_groups(condition, data.groups)
    needed = 2 * rows_needed(asked) * spec.learning(data).n_groups
    spent = 0 if kind == "decision" or data.counts is not None else _spent(n, data.n_columns, share, needed)
    calibrating = aligned(n - spent, asked) if isinstance(condition, Marginal) else n - spent
    rows = np.random.default_rng(spec.seed % 2**64).permutation(n)
    fitting, used = rows[: n - calibrating], rows[n - calibrating :]
    chosen, why = _chosen(data.take(fitting if spent else fitting[:0]), asked, class_factors=class_factors)
    told = f"{why}; {len(used):,} of {n:,} rows calibrate, so coverage of at least 1 - alpha holds"
    return calibrate_prepared(replace(spec, score=Chosen(chosen, told)), data.take(used))


def aligned(n: int, alpha: Fraction) -> int:
    """How many of ``n`` rows calibrate so that coverage exceeds 1 - alpha least: (rows + 1) alpha is whole, or nearly.

    >>> aligned(1000, Fraction(1, 10))
    999
    """
    least = max(1, n - int(SLACK * n)) if n >= rows_needed(alpha) else n
    numerator, denominator = alpha.numerator, alpha.denominator
    return min(range(n, least - 1, -1), key=lambda rows: ((rows + 1) * numerator % denominator) / (rows + 1))


def _spent(n: int, n_columns: int, share: float | None, needed: int) -> int:
    """How many rows fit: none where too few would be left to calibrate, or where there would be too few to fit on."""
    if share is None:
        fraction = max((value for least, value in SHARES.items() if n >= least), default=0.0)
        spent = min(int(fraction * n), max(MANY_ROWS, MOST_FITTING_CELLS // n_columns))
    elif isinstance(share, bool) or not isinstance(share, int | float | Fraction | np.number) or not 0 <= share < 1:
        raise KindError.argument("share", "a number from 0 to below 1", share)
    else:
        spent = int(share * n)
    return spent if spent >= FEWEST_FITTING and n - spent >= needed else 0


def _chosen(data: Prepared, alpha: Fraction, *, class_factors: bool) -> tuple[Score, str]:
    """A frozen score, and why."""
    n = len(data)
    if n == 0:
        return Thr(), "which needs no fit, and no rows for it; THR is mostly the smallest fixed score"
    compared = _judged(data, alpha, class_factors=class_factors)
    plain = _plainly_better(compared)
    if plain is not None:
        return plain, f"whose sets were clearly smaller than recalibrated ones on {n:,} rows of their own"
    fitted = Recalibrated.fit_prepared(data, class_factors=class_factors)
    told = f"probabilities recalibrated on {n:,} rows of their own"
    if not fitted.factors:
        return fitted, f"{told}, without class factors"
    return fitted, f"{told}, with a factor for every class, for the same mix of classes; {_of_worst_class(compared)}"


def _judged(data: Prepared, alpha: Fraction, *, class_factors: bool) -> Comparison:
    """A recalibration, THR and RANK on half of the rows; the recalibration is fitted on the other half."""
    n = len(data)
    half = min(n // 2, MOST_JUDGES)
    fitted = Recalibrated.fit_prepared(data.part(slice(0, half)), class_factors=class_factors)
    judges = data.part(slice(n - half, n))
    return compare_prepared(judges, alpha, (fitted, Thr(), Rank()), JUDGED_BY, repeats=8)


def _plainly_better(compared: Comparison) -> Score | None:
    """THR or RANK, where one of them beats the recalibration clearly."""
    sizes = compared.means[:, compared.measures.index("size")]
    best = 1 + int(sizes[1:].argmin())
    gap, error = compared.contrast([-CLEARLY, *(float(place == best) for place in (1, 2))])
    return compared.scores[best] if gap + ENOUGH * error < 0 else None


def _of_worst_class(compared: Comparison) -> str:
    """How well the class that is covered least is covered, with the recalibration and with THR."""
    fitted, thr, _ = compared.means[:, compared.measures.index("worst class")]
    return f"the class covered least is covered {fitted:.2f} (THR: {thr:.2f}) on halves of {compared.n:,} of these rows"
