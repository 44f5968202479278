"""Conditions: groups for which coverage must hold separately.

A condition is a small frozen dataclass. It assigns each (row, label) pair to a group, from the column of the label and
the group of the row. Every group has its own threshold. A condition can be combined with any score. Groups use their
own rows alone, or say how they share rows (``Pooled``, ``Balanced``, ``LabelShift``).
"""

from rankset.conditions.base import (
    Condition,
    checked_condition,
    group_numbers,
    has_clusters,
    has_one_label_per_group,
    shares_rows,
    sharing_of,
)
from rankset.conditions.builtin import Marginal, PerGroup, PerLabel, PerLabelAndGroup
from rankset.conditions.label_shift import LabelShift
from rankset.conditions.sharing import Balanced, Pooled
from rankset.conditions.words import condition_in_words, separately, shared_promise

__all__ = [
    "Balanced",
    "Condition",
    "LabelShift",
    "Marginal",
    "PerGroup",
    "PerLabel",
    "PerLabelAndGroup",
    "Pooled",
    "checked_condition",
    "condition_in_words",
    "group_numbers",
    "has_clusters",
    "has_one_label_per_group",
    "separately",
    "shared_promise",
    "shares_rows",
    "sharing_of",
]
