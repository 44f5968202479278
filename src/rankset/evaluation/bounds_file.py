"""The file of ``LabelBounds``: the headers and arrays of two rules. Everything in a file is checked here."""

from __future__ import annotations

from dataclasses import replace

from rankset.errors import StorageError
from rankset.io import container
from rankset.rules import rule_file
from rankset.rules.rule import Rule
from rankset.targets import AllLabels, CertainLabels

WHAT = "bounds"
NAMES = ("certain", "possible")
TARGETS = (CertainLabels(), AllLabels())
FORMAT = rule_file.FORMAT_WITH_TARGET


def pack(certain: Rule, possible: Rule) -> tuple[container.Header, container.Arrays]:
    """Return the header and the arrays of both rules; names of arrays begin with that of their rule."""
    wrong = _contradiction(certain, possible)
    if wrong:
        raise StorageError.other_bounds(wrong)
    header: container.Header = {"what": WHAT, "format": FORMAT}
    arrays: container.Arrays = {}
    for name, rule in zip(NAMES, (certain, possible), strict=True):
        own, of_rule = rule_file.pack(rule.spec, rule.calibration)
        header[name] = {field: value for field, value in own.items() if field != "format"}
        arrays |= {f"{name}.{key}": array for key, array in of_rule.items()}
    return header, arrays


def unpack(header: container.Header, arrays: container.Arrays) -> tuple[Rule, Rule]:
    """Return the rules that ``pack`` packed; raise ValueError if something does not fit."""
    if header.get("what") != WHAT or header["format"] != FORMAT:
        raise ValueError("it does not contain a LabelBounds")
    container.check_fields("its header", header, {"what", "format", *NAMES})
    if any(name.partition(".")[0] not in NAMES for name in arrays):
        raise ValueError("its arrays belong to no rule")
    certain, possible = (_rule(name, header[name], arrays) for name in NAMES)
    wrong = _contradiction(certain, possible)
    if wrong:
        raise ValueError(f"its rules do not belong together: {wrong}")
    return certain, possible


def _rule(name: str, header: object, arrays: container.Arrays) -> Rule:
    """Return one of the rules."""
    if not isinstance(header, dict) or "format" in header:
        raise ValueError(f"{name} must be the header of a rule")
    own = {key.partition(".")[2]: array for key, array in arrays.items() if key.partition(".")[0] == name}
    return Rule(*rule_file.unpack({**header, "format": FORMAT}, own))


def _contradiction(certain: Rule, possible: Rule) -> str:
    """Return why these are not two rules of the same rows; empty if they can be."""
    if (certain.target, possible.target) != TARGETS:
        return f"the targets {certain.target!r} and {possible.target!r}"
    if replace(certain.spec, target=possible.target) != possible.spec:
        return "rules with different scores, conditions, classes, groups or kinds"
    if certain.n + certain.set_aside != possible.n + possible.set_aside:
        return "rules of different numbers of rows"
    return ""
