"""auto: the answer in one call. It fits and chooses on some of the rows, freezes that, and calibrates on the others."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha, exact_alpha, rows_needed
from rankset.errors import InputError, KindError
from rankset.evaluation import comparison
from rankset.inputs.matrix import Kind, as_matrix, checked_rows, class_count, known_kind, label_codes
from rankset.inputs.probabilities import from_kind
from rankset.inputs.ragged import Ragged
from rankset.inputs.source import open_source
from rankset.inputs.vocabulary import in_order
from rankset.rules.rule import Rule, calibrate
from rankset.rules.spec import Batch, Recipe, learned_groups, row_group_names
from rankset.scores.builtin import Chosen, Rank, Score, Thr
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
    source, asked = open_source(probs, None if classes is None else in_order(classes)), exact_alpha(alpha)
    matrix = as_matrix(source.values, known_kind(kind))
    n, n_columns = len(matrix), class_count(matrix, kind)
    if n == 0:
        raise InputError.no_rows()
    recipe = Recipe.of(Thr(), condition, kind, seed, source.classes, n_columns)
    columns = label_codes(labels, recipe.classes, n, source.index)
    source.check_candidates(columns, recipe.classes)
    names = row_group_names(condition, groups, n, source.index)
    batch = Batch.of(recipe.learning(learned_groups(names), None), matrix, names, None, source.counts)
    batch.mapped(lambda part: batch.check(batch.rows(part)))  # so that errors name rows as they came
    rows = np.random.default_rng(recipe.seed % 2**64).permutation(n)
    needed = 2 * rows_needed(asked) * batch.recipe.n_groups
    spent = 0 if kind == "scores" or source.counts is not None else _spent(n, n_columns, share, needed)
    calibrating = aligned(n - spent, asked) if isinstance(condition, Marginal) else n - spent
    fitting, used = rows[: n - calibrating], rows[n - calibrating :]
    chosen, why = _chosen(matrix, columns, fitting if spent else fitting[:0], asked, kind, class_factors=class_factors)
    told = f"{why}; {len(used):,} of {n:,} rows calibrate, so coverage of at least 1 - alpha holds"
    values: Any = matrix[used] if source.counts is None else Ragged(matrix[used], source.counts[used])
    return calibrate(
        values,
        recipe.classes.array[columns[used]],
        score=Chosen(chosen, told),
        condition=condition,
        kind=kind,
        classes=recipe.classes.values,
        groups=None if names is None else names[used],
        seed=seed,
    )


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


def _chosen(
    matrix: NDArray[Any], columns: Ints, rows: Ints, alpha: Fraction, kind: Kind, *, class_factors: bool
) -> tuple[Score, str]:
    """A frozen score, and why."""
    if len(rows) == 0:
        return Thr(), "which needs no fit, and no rows for it; THR is mostly the smallest fixed score"
    block = checked_rows(matrix[rows], kind, 0)
    probs = from_kind(block, kind).astype(np.float64)
    compared = _judged(probs, columns[rows], alpha, class_factors=class_factors)
    plain = _plainly_better(compared)
    if plain is not None:
        return plain, f"whose sets were clearly smaller than recalibrated ones on {len(rows):,} rows of their own"
    fitted = Recalibrated.fit(probs, columns[rows], class_factors=class_factors)
    told = f"probabilities recalibrated on {len(rows):,} rows of their own"
    if not fitted.factors:
        return fitted, f"{told}, without class factors"
    return fitted, f"{told}, with a factor for every class, for the same mix of classes; {_of_worst_class(compared)}"


def _judged(
    probs: NDArray[np.float64], columns: Ints, alpha: Fraction, *, class_factors: bool
) -> comparison.Comparison:
    """A recalibration, THR and RANK on half of the rows; the recalibration is fitted on the other half."""
    half = min(len(probs) // 2, MOST_JUDGES)
    judges = slice(len(probs) - half, None)
    fitted = Recalibrated.fit(probs[:half], columns[:half], class_factors=class_factors)
    return comparison.compare(probs[judges], columns[judges], alpha, scores=(fitted, Thr(), Rank()), repeats=8)


def _plainly_better(compared: comparison.Comparison) -> Score | None:
    """THR or RANK, where one of them beats the recalibration clearly."""
    sizes = compared.means[:, compared.measures.index("size")]
    best = 1 + int(sizes[1:].argmin())
    gap, error = compared.contrast([-CLEARLY, *(float(place == best) for place in (1, 2))])
    return compared.scores[best] if gap + comparison.ENOUGH * error < 0 else None


def _of_worst_class(compared: comparison.Comparison) -> str:
    """How well the class that is covered least is covered, with the recalibration and with THR."""
    fitted, thr, _ = compared.means[:, compared.measures.index("worst class")]
    return f"the class covered least is covered {fitted:.2f} (THR: {thr:.2f}) on halves of {compared.n:,} of these rows"
