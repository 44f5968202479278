"""Targets: what is promised about the true labels of a row, and how calibration rows become entries.

base       the protocol Target: what a target of your own needs
builtin    OneLabel, Recall, AllLabels, AtMostMissed, AnyLabel
cost       Cost
names      targets by name, as in target="recall"
"""

from rankset.targets.base import Target, TrueLabels, checked_target
from rankset.targets.builtin import AllLabels, AnyLabel, AtMostMissed, OneLabel, Recall
from rankset.targets.cost import Cost

__all__ = [
    "BUILT_IN",
    "AllLabels",
    "AnyLabel",
    "AtMostMissed",
    "Cost",
    "OneLabel",
    "Recall",
    "Target",
    "TrueLabels",
    "checked_target",
]

BUILT_IN: tuple[type, ...] = (OneLabel, Recall, AllLabels, AtMostMissed, AnyLabel, Cost)
"""Classes of targets that can be saved in a rule file."""
