"""How ``rankset triage`` prints decisions, thresholds and curves: as text or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

import rankset as rs
from rankset.cli.echo import echo
from rankset.cli.files import STDOUT
from rankset.cli.printing import json_values, print_facts
from rankset.cli.triage_rows import New
from rankset.cli.triage_words import (
    decision_facts,
    decision_words,
    error_facts,
    gate_lines,
    promise,
    right_answer,
    title,
)
from rankset.errors import warn


def print_decisions(
    done: rs.Decisions,
    gate: rs.Gate | None,
    new: New,
    output: str | None,
    minutes: float | None,
    *,
    as_json: bool,
) -> None:
    """Print how many rows are accepted, what is promised, and what is measured where NEW has answers."""
    measured = new.evaluation(done)
    if measured is not None and measured.too_many:
        warn("more answers are wrong than promised, and chance alone seldom does this. Do OLD and NEW differ?")
    if as_json:
        threshold = {} if gate is None else {"threshold": gate.describe()}
        print_facts({**decision_facts(done, minutes, measured), **threshold}, str(output), as_json=True)
        return
    err = output in STDOUT
    words = {**decision_words(done, minutes, measured), **right_answer(new.known.triage.within)}
    print_facts(words, f"{output or '-'}: {title(done)}", as_json=False, err=err)
    for line in [] if gate is None else gate_lines(gate):
        echo(line, err=err)
    for line in [] if measured is None else measured.group_lines():
        echo(line, err=err)


def print_gate(gate: rs.Gate, path: str, *, as_json: bool) -> None:
    """Print a threshold for a stream, and how it did on the rows that tested it."""
    facts = {"rows": gate.n, "accepted": int(gate.accepted.sum()), "wrong": int(gate.wrong.sum()), **error_facts(gate)}
    if as_json:
        print_facts({**facts, "threshold": gate.describe()}, path, as_json=True)
        return
    tested = f"{facts['accepted']:,} of {gate.n:,} rows accepted, {facts['wrong']:,} of these wrong"
    print_facts({"promise": promise(gate), **right_answer(gate.within), "tested": tested}, path, as_json=False)
    for line in gate_lines(gate):
        echo(line)


def print_curve(
    triage: rs.Triage, errors: Sequence[str], confidence: str, seed: int, path: str, *, as_json: bool
) -> None:
    """Print the share of accepted rows at the errors of --error, or at usual ones."""
    named = next((text for text in errors if "=" in text), None)
    if named is not None:
        raise click.BadParameter(f"{named!r} has a name. With --curve pass numbers alone.", param_hint="--error")
    found = triage.curve(errors or None, confidence=confidence, seed=seed)
    if as_json:
        points = [point._asdict() for point in found.points]
        echo(json.dumps(json_values({"file": path, "rows": found.n, "confidence": found.confidence, "points": points})))
    else:
        echo(str(found))
