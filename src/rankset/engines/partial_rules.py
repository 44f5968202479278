"""What workers send back from a calibration or a triage, and how it becomes one rule or one triage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from rankset.decisions.triage import Triage
from rankset.errors import InputError, Text, warn
from rankset.evaluation.calibrate import with_labels
from rankset.rules.rule import Rule

MERGED_AT_ONCE = 16
"""Number of results that are merged at a time."""

RuleT = TypeVar("RuleT", Rule, Triage)
Warnings = frozenset[tuple[Text, ...]]


@dataclass(frozen=True)
class PartialRule(Generic[RuleT]):
    """The rule or triage of some partitions (None if they have no rows), and the warnings that all of them gave."""

    rule: RuleT | None
    warnings: Warnings = frozenset()


def merge_partial_rules(partial_rules: Iterable[PartialRule[RuleT]]) -> PartialRule[RuleT]:
    """Merge the rules, or the triages, of many partitions."""
    rules, warnings = [], []
    for partial in partial_rules:
        if partial.rule is not None:
            rules.append(partial.rule)
            warnings.append(partial.warnings)
    if not rules:
        return PartialRule(None)
    merged = rules[0].merge(*rules[1:]) if len(rules) > 1 else rules[0]
    return PartialRule(merged, frozenset.intersection(*warnings))


def final_rule(partial: PartialRule[Rule]) -> Rule:
    """Return the rule of all partitions, and give the warnings that all of them gave; refuse if there are no rows."""
    return with_labels(_of_all_rows(partial))


def final_triage(partial: PartialRule[Triage]) -> Triage:
    """Return the triage of all partitions, and give the warnings that all of them gave; refuse if there are no rows."""
    return _of_all_rows(partial)


def _of_all_rows(partial: PartialRule[RuleT]) -> RuleT:
    if partial.rule is None:
        raise InputError.no_rows()
    give_warnings(partial.warnings)
    return partial.rule


def give_warnings(warnings: Warnings) -> None:
    """Give warnings that came from workers."""
    for text in sorted(warnings, key=str):
        warn(*text)
