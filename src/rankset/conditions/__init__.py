"""Conditions: for which groups coverage holds separately.

A condition is a small frozen value. Like a score it is a formula over (row, label) cells, here over the label's column
and the row's group, so calibration and prediction use the same one, and it can be combined with any score.
"""

from rankset.conditions.base import (
    Condition,
    checked_condition,
    group_numbers,
    has_clusters,
    has_one_label_per_group,
)
from rankset.conditions.builtin import Marginal, PerGroup, PerLabel, PerLabelAndGroup

__all__ = [
    "Condition",
    "Marginal",
    "PerGroup",
    "PerLabel",
    "PerLabelAndGroup",
    "checked_condition",
    "group_numbers",
    "has_clusters",
    "has_one_label_per_group",
]
