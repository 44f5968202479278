"""How ``auto`` chooses a score if all classes count the same: the smallest sets with the promised macro coverage."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

from rankset.conditions import Balanced, Condition, Marginal, Pooled
from rankset.errors import KindError, silent
from rankset.evaluation.compare_scores import compare_at_levels
from rankset.evaluation.metrics import metrics_named
from rankset.evaluation.trial import Trial
from rankset.inputs.prepare import Prepared
from rankset.scores import Rank, Recalibrated, Score, Thr
from rankset.scores.temperature import Temperature
from rankset.scores.tempered import Tempered

OBJECTIVES = ("size", "macro")
MOST_ROWS = 4000
"""Largest number of rows on which scores are compared."""
REPEATS = 8
CLEARLY = 0.98
"""Another score than the first one is used if its mean size is below this share of the first one's."""


def condition_for(objective: str, condition: Condition, shares: Sequence[float] | None) -> Condition:
    """Return the condition of ``auto``: that of the user, or for "macro" one that promises macro coverage."""
    if objective not in OBJECTIVES:
        raise KindError.argument("objective", f"one of {', '.join(map(repr, OBJECTIVES))}", objective)
    if objective == "size":
        if shares is not None:
            raise KindError.argument("shares", "passed only with objective='macro'", shares)
        return condition
    if shares_of(condition) is not None:
        return condition
    if not isinstance(condition, Marginal):
        raise KindError.argument("condition", "left out, or Balanced(shares), with objective='macro'", condition)
    if shares is None:
        expected = "the number of training rows of each class, in column order, with objective='macro'"
        raise KindError.argument("shares", expected, shares)
    return Pooled(Balanced(cast("tuple[float, ...]", shares)))


def shares_of(condition: Condition) -> tuple[float, ...] | None:
    """Return the shares of the classes, if the condition promises macro coverage; None otherwise."""
    inner = condition.condition if isinstance(condition, Pooled) else condition
    return inner.shares if isinstance(inner, Balanced) else None


def choose_for_classes(
    data: Prepared, alpha: Fraction, condition: Condition, shares: tuple[float, ...], seed: int
) -> tuple[Score, str]:
    """Return the score whose sets are smallest with ``condition``, and the reason in words.

    Candidates are fitted on one half of ``data`` and compared on the other one. The score is fitted again on all rows.
    Class factors are left out: they make rare classes rarer in sets.
    """
    n = len(data)
    half = min(n // 2, MOST_ROWS)
    candidates = _candidates(data.part(slice(0, half)), shares)
    with silent():
        trial = Trial.of(data.part(slice(n - half, n)), (alpha,), candidates.values(), REPEATS, seed, condition)
        compared = compare_at_levels(trial, (alpha,), metrics_named(("size",)), condition)[0]
    sizes = compared.means[:, compared.measures.index("size")]
    names, best = list(candidates), int(sizes.argmin())
    name = names[best] if sizes[best] < CLEARLY * sizes[0] else names[0]
    why = f"its sets were small on {n:,} separate rows, with classes that count the same"
    return _candidates(data, shares)[name], why


def _candidates(data: Prepared, shares: tuple[float, ...]) -> dict[str, Score]:
    """Return the scores to compare by name, fitted on ``data``."""
    temperature = Temperature.fit_prepared(data).temperature
    return {
        "adjusted": Thr(shares=shares),
        "tempered": Tempered(Thr(shares=shares), temperature),
        "recalibrated": Recalibrated.fit_prepared(data, class_factors=False),
        "plain": Thr(),
        "ranks": Rank(shares=shares),
    }
