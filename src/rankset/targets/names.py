"""Targets by name, for the argument ``target=`` and the command line: ``"recall"``, ``"all"``, ``"any"``, ``"one"``."""

from __future__ import annotations

from typing import Final

from rankset.errors import RuleError
from rankset.targets.base import Target
from rankset.targets.builtin import AllLabels, AnyLabel, AtMostMissed, OneLabel, Recall
from rankset.targets.certain import CertainLabels
from rankset.targets.cost import Cost

NAMED_TARGETS: Final[dict[str, Target]] = {
    "one": OneLabel(),
    "recall": Recall(),
    "all": AllLabels(),
    "any": AnyLabel(),
    "certain": CertainLabels(),
}
"""The target behind each name. ``"missed:2"`` is ``AtMostMissed(2)``."""

MISSED = "missed:"

MEASURES: Final[dict[type, str]] = {
    OneLabel: "coverage",
    Recall: "recall",
    AllLabels: "all labels",
    AnyLabel: "any label",
    Cost: "1 − cost",
}
"""Names of what targets promise to be at least 1 - alpha."""


def measure_of(target: Target) -> str:
    """Return the name of what a target promises to be at least 1 - alpha."""
    if isinstance(target, AtMostMissed):
        return f"at most {target.m} missed"
    return MEASURES.get(type(target), "1 − loss")


def named_target(text: str) -> Target:
    """Return the target of a name; raise an error if there is none."""
    name = text.strip().lower()
    if name in NAMED_TARGETS:
        return NAMED_TARGETS[name]
    if name == "precision":
        raise RuleError.precise_only()
    number = name.removeprefix(MISSED)
    if name.startswith(MISSED) and number.isdecimal() and len(number) <= 9:
        return AtMostMissed(int(number))
    raise RuleError.option("target", text, (*NAMED_TARGETS, "missed:1"))
