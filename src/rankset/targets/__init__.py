"""Targets: what is promised about the true labels of a row, and how calibration rows become entries.

base       the protocol Target: what a target of your own needs
builtin    OneLabel, Recall, AllLabels, AtMostMissed, AnyLabel
certain    CertainLabels
cost       Cost
names      targets by name, as in target="recall"
"""

from rankset.targets.base import Target, TrueLabels, checked_target
from rankset.targets.builtin import AllLabels, AnyLabel, AtMostMissed, OneLabel, Recall
from rankset.targets.certain import CertainLabels
from rankset.targets.cost import Cost

__all__ = [
    "BUILT_IN",
    "AllLabels",
    "AnyLabel",
    "AtMostMissed",
    "CertainLabels",
    "Cost",
    "OneLabel",
    "Recall",
    "Target",
    "TrueLabels",
    "checked_target",
    "counts_parts",
]

BUILT_IN: tuple[type, ...] = (OneLabel, Recall, AllLabels, AtMostMissed, AnyLabel, CertainLabels, Cost)
"""Classes of targets that can be saved in a rule file."""


def counts_parts(target: Target) -> bool:
    """Return whether a part of a row can be missed; targets of a user's own may count them."""
    return isinstance(target, Recall | Cost) or type(target) not in BUILT_IN
