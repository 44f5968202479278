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
