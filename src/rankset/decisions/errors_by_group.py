"""Which error is allowed for which rows: one number, or a number for each group or label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import cast

from rankset.core.alpha import Alpha, exact_alpha
from rankset.errors import KindError, LevelError, RuleError
from rankset.inputs.vocabulary import Names, plain
from rankset.rules.group_choice import group_number
from rankset.rules.spec import RuleSpec

Errors = Alpha | Mapping[object, Alpha]
"""An error as users write it: 0.02, "2%", or {"benign": 0.005, "malignant": 0.05}."""


def errors_of(spec: RuleSpec, error: Errors) -> list[Fraction]:
    """Return the allowed error of every group of the condition."""
    if not isinstance(error, Mapping):
        return [exact_error(error)] * spec.n_groups
    names, argument = _names(spec)
    given = {plain(name, "error"): value for name, value in error.items()}
    missing = [name for name in names.values if name not in given]
    unknown = [name for name in given if name not in names.values]
    if unknown:
        raise RuleError.no_such_name(argument, unknown[0], tuple(names.values))
    if missing:
        raise RuleError.errors_missing(argument, missing)
    answer = [Fraction(0)] * spec.n_groups
    for name, value in given.items():
        chosen = {argument: name}
        answer[group_number(spec, chosen.get("group"), chosen.get("label"))] = exact_error(value)
    return answer


MOST_SHOWN = 3
"""Number of different errors that are listed."""


def errors_text(errors: Sequence[Fraction]) -> str:
    """Return the different errors in words."""
    texts = list(dict.fromkeys(f"{float(error):g}" for error in errors))
    return " or ".join(texts) if len(texts) <= MOST_SHOWN else f"{len(texts)} different values"


def exact_error(error: object) -> Fraction:
    """Return an error exactly as typed: 0.02 is one fiftieth."""
    try:
        return exact_alpha(cast("Alpha", error))
    except LevelError:
        expected = "a share of wrong answers, strictly between 0 and 1, such as 0.02 for 2 %"
        raise KindError.argument("error", expected, error) from None


def _names(spec: RuleSpec) -> tuple[Names, str]:
    """Return the names by which a condition has groups, and what they are: labels or groups."""
    by_label = spec.table().shape[1] > 1
    if by_label == spec.condition.needs_groups:
        raise RuleError.errors_by_name(spec.condition)
    return (spec.classes, "label") if by_label else (spec.groups, "group")
