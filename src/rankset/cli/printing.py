"""What commands print: facts about rules, JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import rankset as rs
from rankset.cli.conditions import condition_in_words
from rankset.cli.echo import echo
from rankset.core.alpha import smallest_alpha
from rankset.inputs.vocabulary import short
from rankset.rules.absent_rows import rounded_up
from rankset.rules.sentences import proven_by_sharing
from rankset.targets import OneLabel

TITLES = {
    "r_star": "r*",
    "sizes": "sizes of rows with all candidates",
    "groups_too_small": "groups too small",
    "rows_needed": "rows needed in each",
    "groups_with_absent_labels": "groups that cannot attain it, because of absent labels",
    "attained": "1 - alpha attained",
    "kept": "1 - expected loss",
}
"""Names of facts in the text, where they differ from those in JSON."""


NOT_NUMBERS = ("rule", "rules", "more_rules", "follows", "tied", "promise", "sure")
"""Facts of a level that are not printed among its numbers."""


_ASIDE = {False: "rows without labels", True: "rows with true labels only"}
"""Rows that are set aside, if entries are true labels, and if they are false ones."""


def rule_facts(rule: rs.Rule) -> dict[str, Any]:
    """Return score, condition, number of rows, classes and groups of a rule."""
    return {
        "score": repr(rule.score),
        "condition": repr(rule.condition),
        "condition in words": condition_in_words(rule.condition),
        **({} if rule.spec.target == OneLabel() else {"target": repr(rule.spec.target)}),
        "kind": rule.kind,
        "rows": rule.n,
        **({"effective rows": round(rule.effective_rows, 1)} if rule.spec.tells_effective_rows else {}),
        **({_ASIDE[rule.spec.below]: rule.set_aside} if rule.set_aside else {}),
        **({} if rule.guaranteed else {"guaranteed": False}),
        **_promise_facts(rule),
        **_absent_facts(rule),
        "classes": len(rule.spec.classes),
        "first classes": list(rule.spec.classes.values[:10]),
        "groups": list(rule.spec.groups.values[:10]),
        **({"rows by group": _group_sizes(rule)} if rule.spec.n_groups > 1 else {}),
    }


def _promise_facts(rule: rs.Rule) -> dict[str, Any]:
    """Return what is promised, if groups share rows: the condition alone would say more than is proven."""
    shared = proven_by_sharing(rule.spec)
    if shared is None or not rule.guaranteed or rule.calibration.n_absent:
        return {}
    return {"promise": f"coverage of at least 1 - alpha {shared.removeprefix('coverage is proven ')}"}


def _absent_facts(rule: rs.Rule) -> dict[str, Any]:
    """How many labels are absent, and the smallest alpha that can be attained in every group; nothing if none is."""
    absent = rule.calibration.n_absent
    if not absent:
        return {}
    if rule.spec.weighted:  # it depends on the weight of the new row
        return {"absent labels": absent}
    sizes = [rule.calibration.size_of(group) for group in range(rule.spec.n_groups)]
    least = max(smallest_alpha(*size) for size in sizes if size[1])
    return {"absent labels": absent, "smallest alpha": f"{least} (about {rounded_up(least)})"}


def _group_sizes(rule: rs.Rule) -> str:
    counts = rule.calibration.counts
    return f"{len(counts):,} groups of {counts.min():,} to {counts.max():,} rows"


def print_facts(facts: dict[str, Any], title: str, *, as_json: bool, err: bool = False) -> None:
    """Print facts under a title, or as one JSON object; a fact that is a dictionary has a line per alpha.

    If ``err``, text is printed on stderr.
    """
    if as_json:
        values = json_values({"file": title, **facts})
        echo(json.dumps({name.replace(" ", "_"): value for name, value in values.items()}))
        return
    echo(title, err=err)
    words = {"condition": facts.get("condition in words")}
    facts = _with_class_names(facts)
    shown = {name: words.get(name) or value for name, value in facts.items() if name != "condition in words"}
    for name, value in shown.items():
        if isinstance(value, dict):
            for alpha, at_alpha in value.items():
                _print_level(alpha, at_alpha)
        elif name == "guaranteed":
            echo(f"  {'coverage':<14} not proven: the calibration rows are from a stratified split")
        elif value not in ([], None):
            text = ", ".join(map(short, value)) if isinstance(value, list) else short(value, 1000)
            echo(f"  {name:<14} {text}", err=err)


def _with_class_names(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts with the number of classes and their names in one line; the first ten if there are more."""
    first = facts.get("first classes")
    if not first:
        return facts
    count = facts["classes"]
    names = ", ".join(repr(short(name)) if "," in str(name) else short(name) for name in first)
    shown = {**facts, "classes": f"{count:,}: {names}{', …' if count > len(first) else ''}"}
    return {name: value for name, value in shown.items() if name != "first classes"}


def _print_level(alpha: str, facts: dict[str, Any]) -> None:
    """Print what a rule does at one alpha: in words first, then in numbers."""
    numbers = {key: part for key, part in facts.items() if key not in NOT_NUMBERS}
    for name in facts.keys() & {"coverage", "kept"}:
        ends = _text(facts[name]) + " or more" * facts["tied"]
        numbers[name] = f"{ends} in {'at least ' * (name == 'kept')}90% of calibrations"
    parts = ", ".join(f"{TITLES.get(key, key)} {_text(part)}" for key, part in numbers.items())
    start = f"  alpha {alpha:<6} "
    if "rule" in facts:
        echo(f"{start}{facts['rule']}")
        start = " " * len(start)
    echo(f"{start}{parts}")
    margin = " " * len(start)
    if "rules" in facts:
        echo(f"{margin}{facts['follows']}:")
    _print_rules(facts, margin, facts.get("more_rules", 0))
    if "promise" in facts:
        echo(f"{margin}promise: {facts['promise']}")
    if "sure" in facts:
        sure = facts["sure"]
        echo(f"{margin}with confidence {sure['confidence']}:{' ' + sure['rule'] if 'rule' in sure else ''}")
        _print_rules(sure, margin, facts.get("more_rules", 0))


def _print_rules(facts: dict[str, Any], margin: str, more: int) -> None:
    """Print what the first thresholds of several mean, and how many more there are."""
    for name, rule in facts.get("rules", {}).items():
        echo(f"{margin}  {short(name, 60)}: {rule}")
    if more and "rules" in facts:
        echo(f"{margin}  and {more:,} more")


def _text(value: Any) -> str:
    """Text of a fact: numbers with six digits, a list of two as a range."""
    if isinstance(value, dict):
        return ", ".join(_text(part) for part in value.values())
    if isinstance(value, list):
        return " to ".join(_text(part) for part in value) if len(value) == 2 else ", ".join(map(_text, value))
    return f"{value:.6g}" if isinstance(value, float) else "none: every label stays" if value is None else str(value)


def json_values(value: Any) -> Any:
    """Return ``value`` with NumPy arrays as lists, and NaN and infinities as None."""
    if isinstance(value, dict):
        return {str(key): json_values(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_values(part) for part in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
