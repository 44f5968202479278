"""Names of the rules in a report: the short name of the score, the condition in words, and the file if needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rankset.conditions import Balanced, Condition, Marginal, PerGroup, PerLabel, PerLabelAndGroup, Pooled
from rankset.conditions.base import has_clusters
from rankset.errors import KindError
from rankset.evaluation.short_names import LONGEST, short_name
from rankset.inputs.vocabulary import short
from rankset.rules.spec import RuleSpec
from rankset.targets import OneLabel

WIDTH = 80
"""Longer names are truncated."""


def rule_names(specs: Sequence[RuleSpec], given: Sequence[str] | None = None) -> list[str]:
    """Return a name for every rule, all of them different.

    ``given`` are names that the caller knows, such as the names of the files. They are shown for those rules that have
    the same score and the same condition as another rule.

    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rules = [rs.calibrate(probs, labels, condition=one) for one in (rs.Marginal(), rs.PerLabel(), rs.PerLabel())]
    >>> rule_names([rule.spec for rule in rules])
    ['RANK', 'RANK, per label', 'RANK, per label #2']
    >>> rule_names([rule.spec for rule in rules], ["a.rankset", "b.rankset", "c.rankset"])
    ['RANK', 'RANK, per label (b.rankset)', 'RANK, per label (c.rankset)']
    """
    names = [_name(spec, short_name(spec.score)) for spec in specs]
    longer = [
        _name(spec, repr(spec.score)) if names.count(name) > 1 and len(repr(spec.score)) <= LONGEST else name
        for name, spec in zip(names, specs, strict=True)
    ]
    names = [long if longer.count(long) == 1 else name for long, name in zip(longer, names, strict=True)]
    if given is not None:
        if len(given) != len(specs):
            raise KindError.argument("names", f"{len(specs)} names, one per rule", list(given))
        names = [f"{name} ({own})" if names.count(name) > 1 else name for name, own in zip(names, given, strict=True)]
    seen: Counter[str] = Counter()
    distinct = []
    for name in (short(name, WIDTH) for name in names):
        seen[name] += 1
        distinct.append(f"{name} #{seen[name]}" if seen[name] > 1 else name)
    return distinct


def condition_in_words(condition: Condition) -> str:
    """Return what has a threshold of its own.

    >>> condition_in_words(PerLabelAndGroup())
    'per label and group'
    """
    if isinstance(condition, PerGroup):
        return "per group"
    if isinstance(condition, PerLabel):
        return "per cluster of labels" if has_clusters(condition) else "per label"
    if isinstance(condition, Pooled) and condition == Pooled(condition.condition):
        return f"pooled {condition_in_words(condition.condition)}"
    if isinstance(condition, Balanced):
        return "classes balanced"
    if condition == PerLabelAndGroup():
        return "per label and group"
    return "for all rows" if isinstance(condition, Marginal) else short(repr(condition), WIDTH)


def _name(spec: RuleSpec, score: str) -> str:
    parts = [score]
    if spec.target != OneLabel():
        parts.append(repr(spec.target))
    if not isinstance(spec.condition, Marginal):
        parts.append(condition_in_words(spec.condition))
    return ", ".join(parts)
