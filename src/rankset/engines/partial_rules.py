"""What workers send back from a calibration, and how it becomes one rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rankset.errors import InputError, Text, warn
from rankset.evaluation.calibrate import with_labels
from rankset.rules.rule import Rule

MERGED_AT_ONCE = 16
"""Number of rules that are merged at a time."""


@dataclass(frozen=True)
class PartialRule:
    """The rule of some partitions (None if they have no rows), and the warnings that all of them gave."""

    rule: Rule | None
    warnings: frozenset[tuple[Text, ...]] = frozenset()


def merge_partial_rules(partial_rules: Iterable[PartialRule]) -> PartialRule:
    """Merge the rules of many partitions."""
    rules, warnings = [], []
    for partial in partial_rules:
        if partial.rule is not None:
            rules.append(partial.rule)
            warnings.append(partial.warnings)
    if not rules:
        return PartialRule(None)
    merged = rules[0].merge(*rules[1:]) if len(rules) > 1 else rules[0]
    return PartialRule(merged, frozenset.intersection(*warnings))


def final_rule(partial: PartialRule) -> Rule:
    """Return the rule of all partitions, and give the warnings that all of them gave; refuse if there are no rows."""
    if partial.rule is None:
        raise InputError.no_rows()
    for text in sorted(partial.warnings, key=str):
        warn(*text)
    return with_labels(partial.rule)
