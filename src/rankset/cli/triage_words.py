"""What ``rankset triage`` prints: how many rows are accepted, and what is promised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

import rankset as rs
from rankset.cli.conditions import condition_in_words
from rankset.decisions.one_answer import ANSWER
from rankset.inputs.vocabulary import short
from rankset.rules.spec import RuleSpec

SHOWN = 20
"""Number of groups whose errors or thresholds are printed."""


def errors_asked(texts: Sequence[str], spec: RuleSpec) -> str | dict[object, str]:
    """Return the values of --error: one number, or a number by the name of a label or group."""
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    names = {str(name): name for name in (spec.groups if spec.condition.needs_groups else spec.classes).values}
    found: dict[object, str] = {}
    for text in texts:
        name, mark, error = text.rpartition("=")
        known = names.get(name, name)
        if not mark or known in found:
            problem = f"{name!r} has two errors" if mark else f"{text!r} has no name"
            told = "Pass one number, or NAME=NUMBER once for every label or group."
            raise click.BadParameter(f"{problem}. {told}", param_hint="--error")
        found[known] = error
    return found


def triage_facts(triage: rs.Triage) -> dict[str, Any]:
    """Return what a triage contains."""
    classes, named = triage.spec.classes, triage.spec.classes != ANSWER
    return {
        "score": repr(triage.spec.score),
        "condition": repr(triage.spec.condition),
        "condition in words": condition_in_words(triage.spec.condition).replace("threshold", "promise"),
        **({"kind": triage.kind} if named else {}),
        **right_answer(triage.within),
        "rows": triage.n,
        "wrong answers": triage.n_wrong,
        **({"classes": len(classes), "first classes": list(classes.values[:10])} if named else {}),
        "groups": list(triage.spec.groups.values[:10]),
    }


def decision_facts(
    done: rs.Decisions, minutes: float | None, measured: rs.DecisionsEvaluation | None
) -> dict[str, Any]:
    """Return facts about decisions, for JSON."""
    facts: dict[str, Any] = {
        "rows": len(done),
        "accepted": done.n_accepted,
        "share": done.share,
        "review": len(done) - done.n_accepted,
        **error_facts(done),
    }
    if done.smallest is not None:
        facts["smallest_error"] = float(min(done.smallest)) if len(done) else None
    if minutes is not None:
        facts["hours_saved"] = done.n_accepted * minutes / 60
    if measured is not None:
        facts["measured"] = {
            "wrong": measured.wrong,
            "error_rate": measured.error_rate,
            "interval": list(measured.interval),
            "confidence": measured.confidence,
            "groups": [asdict(one) for one in measured.groups] if len(measured.groups) > 1 else [],
        }
    return facts


def error_facts(what: rs.Decisions | rs.Gate) -> dict[str, Any]:
    """Return allowed errors, confidence and the promise in words, for JSON."""
    errors = sorted({float(error) for error in what.errors})
    return {
        "error": errors[0] if len(errors) == 1 else _errors_by_name(what),
        "confidence": what.confidence,
        "promise": promise(what),
    }


def right_answer(within: int | None) -> dict[str, str]:
    """Return when an answer is right, in words; nothing if it must be the true label."""
    if within == 1:
        return {}
    if within is None:
        return {"right answer": "the column of --correct says it"}
    return {"right answer": f"the true label is among the {within:,} most likely labels"}


def decision_words(
    done: rs.Decisions, minutes: float | None, measured: rs.DecisionsEvaluation | None
) -> dict[str, Any]:
    """Return what is promised, what to do with the other rows, and what was measured, in words."""
    words = {"promise": promise(done), "others": _others(done)}
    if minutes is not None:
        words["saved"] = f"{done.n_accepted * minutes / 60:,.1f} hours, at {minutes:g} minutes per row"
    if measured is not None and measured.accepted:
        low, high = measured.interval
        words["measured"] = (
            f"{measured.wrong:,} of {measured.accepted:,} accepted answers are wrong: {measured.error_rate:.2%} "
            f"({measured.confidence:.0%} interval {low:.2%} to {high:.2%})"
        )
    return words


def title(done: rs.Decisions) -> str:
    """Return how many rows are accepted."""
    return f"{done.n_accepted:,} of {len(done):,} rows accepted ({done.share:.1%})"


def promise(what: rs.Decisions | rs.Gate) -> str:
    """Return what is promised about accepted rows."""
    errors = sorted({float(error) for error in what.errors})
    spec = what.spec
    if what.confidence is None:
        start = "the expected share of wrong answers among the accepted ones is at most"
    else:
        start = f"with confidence {what.confidence:g}, the share of wrong answers among all accepted ones is at most"
    if len(errors) > 1:
        by_name = _errors_by_name(what)
        shown = ", ".join(f"{error:g} for {short(name)}" for name, error in list(by_name.items())[:SHOWN])
        return f"{start} {shown}{', …' * (len(by_name) > SHOWN)}"
    apart = f", {condition_in_words(spec.condition)} separately" if spec.n_groups > 1 else ""
    return f"{start} {errors[0]:g}{apart}"


def gate_lines(gate: rs.Gate) -> list[str]:
    """Return in words which answers a gate accepts, a line for every group."""
    lines = gate.describe().splitlines()
    if gate.spec.n_groups == 1:
        return [f"  {'threshold':<14} {lines[0]}"]
    more = len(lines) - SHOWN
    shown = [*lines[:SHOWN], *([f"  and {more:,} more"] if more > 0 else [])]
    return ["  thresholds", *(f"  {line}" for line in shown)]


def _errors_by_name(what: rs.Decisions | rs.Gate) -> dict[str, float]:
    """Return the error of every label or group."""
    spec = what.spec
    names = spec.groups.values if spec.condition.needs_groups else spec.classes.values
    return {str(name): float(error) for name, error in zip(names, what.errors, strict=True)}


def _others(done: rs.Decisions) -> str:
    count = len(done) - done.n_accepted
    if not count:
        return "none: every row is accepted"
    lists = "" if done.spec.classes == ANSWER else "; rankset predict lists the likely labels of each"
    return f"{count:,} rows for a person{lists}"
