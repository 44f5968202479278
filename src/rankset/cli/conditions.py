"""The condition that options of a command describe, and conditions in words."""

from __future__ import annotations

from rankset import conditions
from rankset.io.layout import Layout


def condition_of(layout: Layout, *, per_label: bool, pooled: bool = False) -> conditions.Condition:
    """Return the condition of --per-label, --group and --pooled."""
    own = _own_rows(layout, per_label=per_label or (pooled and layout.group is None))
    return conditions.Pooled(own) if pooled else own


def _own_rows(layout: Layout, *, per_label: bool) -> conditions.Condition:
    """Return the condition of --per-label and --group."""
    if layout.group is None:
        return conditions.PerLabel() if per_label else conditions.Marginal()
    if per_label:
        return conditions.PerLabelAndGroup(conditions.PerGroup(), conditions.PerLabel())
    return conditions.PerGroup()


def conditions_of(layout: Layout) -> list[conditions.Condition]:
    """Return the conditions of rankset compare --conditions."""
    label, group = conditions.PerLabel(), conditions.PerGroup()
    of_rows: list[conditions.Condition] = [] if layout.group is None else [group, conditions.Pooled(group)]
    return [conditions.Marginal(), label, conditions.Pooled(label), *of_rows]


def condition_in_words(condition: conditions.Condition) -> str:
    """Return what has a threshold of its own, such as "per label and group"."""
    words = conditions.condition_in_words(condition)
    return f"one threshold {words}" if words == "for all rows" else words
