"""The condition that options of a command describe."""

from __future__ import annotations

from rankset import conditions
from rankset.io.layout import Layout


def condition_of(layout: Layout, *, per_label: bool) -> conditions.Condition:
    """Return the condition of --per-label and --group."""
    if layout.group is None:
        return conditions.PerLabel() if per_label else conditions.Marginal()
    if per_label:
        return conditions.PerLabelAndGroup(conditions.PerGroup(), conditions.PerLabel())
    return conditions.PerGroup()


def condition_in_words(condition: conditions.Condition) -> str:
    """Return what has a threshold of its own, such as "per label and group"."""
    parts = _parts(condition)
    if None in parts:
        return repr(condition)
    return f"per {' and '.join(word for word in WORDS if word in parts)}" if parts else "one threshold for all rows"


WORDS = ("label", "cluster of labels", "group")


def _parts(condition: conditions.Condition) -> set[str | None]:
    """Return for what a condition has thresholds, in words; None stands for conditions that are not of rankset."""
    if isinstance(condition, conditions.PerLabelAndGroup):
        return _parts(condition.first) | _parts(condition.second)
    if isinstance(condition, conditions.PerLabel):
        return {"label" if condition.clusters is None else "cluster of labels"}
    if isinstance(condition, conditions.PerGroup):
        return {"group"}
    return set() if isinstance(condition, conditions.Marginal) else {None}
