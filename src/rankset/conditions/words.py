"""Conditions in words: what has a threshold of its own, and what is promised where groups share rows."""

from __future__ import annotations

from rankset.conditions.base import Condition
from rankset.conditions.builtin import Marginal, PerGroup, PerLabel, PerLabelAndGroup
from rankset.conditions.label_shift import LabelShift
from rankset.conditions.sharing import Balanced, Pooled
from rankset.inputs.vocabulary import short

WIDTH = 80
"""Longer texts of conditions that are not of rankset are truncated."""
UNITS = ("label", "cluster of labels", "group")
"""What can have a threshold of its own, in the order in which it is told."""
WITH_FACTORS = "if the factors of the label shift are right"
OVER_CLASSES = "on average over classes, if the given shares of classes are right"


def condition_in_words(condition: Condition) -> str:
    """Return what has a threshold of its own, and how rows are shared.

    >>> condition_in_words(PerLabelAndGroup())
    'per label and group'
    >>> condition_in_words(Pooled(PerGroup()))
    'per group, pooled'
    >>> condition_in_words(Balanced([5, 1]))
    'balanced over classes'
    """
    if isinstance(condition, Pooled):
        return f"{condition_in_words(condition.condition)}, pooled"
    if isinstance(condition, Balanced):
        return "balanced over classes"
    if isinstance(condition, LabelShift):
        return "for other shares of classes"
    units = _units(condition)
    if units is None:
        return short(repr(condition), WIDTH)
    return f"per {_joined(units)}" if units else "for all rows"


def shared_promise(condition: Condition) -> str | None:
    """Return over what coverage holds if groups share rows, and what is only approximate; None if they do not share.

    >>> shared_promise(Pooled(PerLabel()))
    'over all rows; of each label only approximately'
    """
    if isinstance(condition, Balanced | LabelShift):
        return OVER_CLASSES if isinstance(condition, Balanced) else WITH_FACTORS
    if not isinstance(condition, Pooled):
        return None
    if isinstance(condition.condition, Balanced | LabelShift):
        return f"{shared_promise(condition.condition)}; of each class only approximately"
    units = _units(condition.condition)
    if units is not None and not units:
        return "over all rows"
    return f"over all rows; of each {_joined(units or {'group'})} only approximately"


def separately(condition: Condition) -> str:
    """Return for what a promise holds separately, if groups do not share rows.

    >>> separately(PerGroup()), separately(PerLabelAndGroup())
    ('in every group separately', 'for every label in every group separately')
    """
    units = (_units(condition) or {"group"}) - {"group"}
    in_groups = "in every group " if condition.needs_groups or not units else ""
    return f"{f'for every {_joined(units)} ' if units else ''}{in_groups}separately"


def _joined(units: set[str]) -> str:
    return " and ".join(unit for unit in UNITS if unit in units)


def _units(condition: Condition) -> set[str] | None:
    """Return for what a condition has thresholds; None for conditions that are not of rankset."""
    if isinstance(condition, PerLabelAndGroup):
        first, second = _units(condition.first), _units(condition.second)
        return None if first is None or second is None else first | second
    if isinstance(condition, PerLabel):
        return {"label" if condition.clusters is None else "cluster of labels"}
    if isinstance(condition, PerGroup):
        return {"group"}
    return set() if isinstance(condition, Marginal) else None
