"""``rankset triage``: decide which answers may be accepted without a person."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

import rankset as rs
from rankset.cli.command import Command
from rankset.cli.files import STDOUT, load_triage, save_triage
from rankset.cli.options import FILE, options
from rankset.cli.printing import print_facts
from rankset.cli.spreadsheets import for_reading, style_as_read
from rankset.cli.triage_checks import CONFIDENCE, SAVED, Ask, alpha_refused, check_actions, check_outputs, old_and_new
from rankset.cli.triage_printing import print_curve, print_decisions, print_gate
from rankset.cli.triage_rows import Known, New, Wanted, known_from, read_new
from rankset.cli.triage_words import errors_asked, triage_facts
from rankset.decisions.confidences import NAMED
from rankset.decisions.one_answer import ANSWER
from rankset.io.layout import Layout
from rankset.io.notes import Note, also_listening
from rankset.io.workbook_ids import with_ids
from rankset.io.write_sets import stream_columns, write_columns
from rankset.io.writers.base import KeptColumns
from rankset.io.writers.csv import PLAIN, Style
from rankset.scores import AUTO

ACCEPT = "accept"
"""The decision about accepted rows that have one confidence each, and so no labels."""
OLD_ONLY = ("label_files", "kind", "classes", "score", "within", "per_label", "save")
"""Options that say how OLD is read, or what is made of it."""


@click.command(cls=Command)
@click.argument("paths", metavar="OLD [NEW]", nargs=-1, required=True)
@click.option(
    "--error",
    "errors",
    metavar="[NAME=]NUMBER",
    multiple=True,
    help="Largest share of wrong answers among the accepted ones, such as 0.02. With --per-label or --group also "
    "NAME=NUMBER, repeated for every label or group.",
)
@click.option(
    "--stream",
    is_flag=True,
    help="Find one fixed threshold, for rows that come one by one, instead of deciding about NEW as one batch.",
)
@click.option(
    "--confidence",
    metavar="NUMBER",
    help=f"With --stream or --curve: probability that the promise of the threshold holds.  [default: {CONFIDENCE}]",
)
@click.option(
    "--score",
    type=click.Choice([*NAMED, AUTO], case_sensitive=False),
    help="How sure the model is: largest probability (top), distance to the second (margin), both (two), entropy, or "
    "one that is fitted and chosen on a part of OLD (auto).  [default: top]",
)
@click.option(
    "--within",
    metavar="K",
    type=click.IntRange(1),
    help="An answer is right if the true label is among the K most likely labels.  [default: 1]",
)
@click.option(
    "--correct",
    metavar="COLUMN",
    help="Column of OLD that says whether each answer is right (true or false, 1 or 0), instead of --label. The "
    "scores may then be one column: how sure the model is of its answer.",
)
@click.option("--per-label", is_flag=True, help="Keep the promise for every accepted label separately.")
@click.option(
    "--minutes-per-row",
    metavar="M",
    type=click.FloatRange(0),
    help="Minutes that a person needs for a row: prints the hours saved.",
)
@click.option("--save", metavar="FILE", type=FILE, help="Save the triage. The file must end in .rankset.")
@click.option("--curve", is_flag=True, help="Print the share of rows that is accepted at several errors. No NEW then.")
@click.option(
    "--review",
    metavar="TEXT",
    default="review",
    show_default=True,
    help="What the column decision contains for rows that a person decides.",
)
@click.option(
    "-o",
    "--output",
    help="Output file: .csv, .jsonl, .parquet, .npz, .xlsx, .csv.gz or .jsonl.gz.  [default: csv on standard output]",
)
@alpha_refused
@options(
    *("excel", "excel_decimal"),
    *("all_groups", "kind", "label", "labels", "absent", "group", "identity", "keep", "drop", "options", "classes"),
    *("key", "file_format", "header", "seed", "max_memory", "force", "json"),
)
def triage(
    paths: Sequence[str],
    label_files: Sequence[str],
    errors: Sequence[str],
    stream: bool,
    confidence: str | None,
    all_groups: bool,
    score: str | None,
    within: int | None,
    correct: str | None,
    per_label: bool,
    minutes_per_row: float | None,
    save: Path | None,
    curve: bool,
    review: str,
    output: str | None,
    excel: bool,
    excel_decimal: str | None,
    kind: Any,
    classes: Path | None,
    seed: int,
    force: bool,
    as_json: bool,
    layout: Layout,
) -> None:
    """Decide which answers for the rows of NEW may be accepted without a person.

    OLD are model outputs with true labels, which the model has not seen in training. Pass labels with --label COLUMN,
    or with --labels FILE. NEW are the rows to decide about. Options that name columns hold for both files; --keep is
    about NEW. True labels in NEW are not used to decide; if they are there, the share of wrong answers is printed.

    NEW is one batch: the expected share of wrong answers among its accepted rows is at most --error, if OLD and NEW
    come from the same source. With --stream, one threshold is found from OLD. With the probability --confidence, the
    share of wrong answers among all rows that pass it is at most --error, for any number of rows.

    For every row, the output contains decision (the accepted label, or review), accepted (true or false) and, for a
    batch, p_value. The columns of --id and --keep come first. With --id, a random number that belongs to the id decides
    between rows of a batch that are exactly as sure as wrong rows of OLD.

    With --save, what was learned from OLD is stored. Pass this file instead of OLD.

    \b
    rankset triage old.csv new.csv --label answer --error 0.02 -o decided.csv
    rankset triage old.csv new.csv --label answer --per-label --error benign=0.005 --error malignant=0.05
    rankset triage old.csv new.csv --label answer --error 0.02 --stream --confidence 0.95 -o decided.parquet
    rankset triage old.csv --label answer --curve
    rankset triage old.csv --label answer --save cases.rankset
    rankset triage cases.rankset new.csv --id case --error 0.02 --minutes-per-row 3 -o decided.xlsx
    """
    wanted = Wanted(correct, score, within, kind, classes, per_label, seed)
    ask = Ask(errors, stream, confidence, all_groups, seed)
    old, new = old_and_new(paths)
    check_actions(new, ask, curve=curve, save=save, output=output, minutes=minutes_per_row, as_json=as_json)
    check_outputs(output, save, (old, new, *label_files, classes), force=force)
    known = _known(old, label_files, layout, wanted)
    if curve:
        print_curve(known.triage, errors, ask.sure, seed, old, as_json=as_json)
    elif new is None and stream:
        print_gate(ask.gate(known.triage), old, as_json=as_json)
    elif new is not None:
        heard: list[Note] = []
        styled = excel or excel_decimal is not None
        reading = for_reading(layout, [new]) if styled else layout
        with also_listening(heard.append):
            rows = read_new(new, reading, known, must_have_answers=old.endswith(SAVED))
        done, gate = _decide(rows, ask)
        workbook = str(output).endswith(".xlsx")
        style = style_as_read(heard, layout, new, excel_decimal) if styled or workbook else PLAIN
        style = with_ids(style, layout, [new]) if workbook else style
        _write(_columns(done, review), rows.rows.kept, output, style, force=force)
        print_decisions(done, gate, rows, output, minutes_per_row, as_json=as_json)
    if save is not None:
        save_triage(known.triage, save, force=force)
        if new is None and not (curve or stream):
            print_facts(triage_facts(known.triage), str(save), as_json=as_json)


def _known(old: str, label_files: Sequence[str], layout: Layout, wanted: Wanted) -> Known:
    """Return the triage of OLD, or the one that is stored there."""
    if wanted.correct is not None and layout.label is not None:
        raise click.UsageError("--label and --correct both say which answers are right. Leave out one of them.")
    if wanted.correct is not None and (wanted.within is not None or layout.absent is not None):
        raise click.UsageError("--within and --absent are about labels, which --correct replaces. Leave them out.")
    if old.endswith(SAVED):
        return _saved(old, layout.label, wanted.correct)
    if len(label_files) > 1:
        raise click.UsageError(f"Expected one file of labels for OLD, got {len(label_files)}. Join them.")
    return known_from(old, label_files, layout, wanted)


def _saved(path: str, label: str | None, correct: str | None) -> Known:
    """Return a stored triage; refuse options that say how OLD is read, and answers of another kind in NEW."""
    context = click.get_current_context()
    passed = [name for name in OLD_ONLY if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if passed:
        names = {option.name: option.opts[0] for option in context.command.params}
        flags = ", ".join(names[name] for name in passed)
        raise click.UsageError(f"{path} is a saved triage, which has its own settings. Leave out {flags}.")
    found = load_triage(Path(path))
    other, flag = (label, "--correct") if found.within is None else (correct, "--label")
    if other is not None:
        told = "whether answers are right" if found.within is None else "true labels"
        raise click.UsageError(f"{path} was made from {told}. Pass {flag} {other} for the column of NEW that has them.")
    return Known(found, correct or label)


def _decide(new: New, ask: Ask) -> tuple[rs.Decisions, rs.Gate | None]:
    """Return the decisions about NEW, and the gate if it is part of a stream."""
    triage = new.known.triage
    if not ask.stream:
        return new.decide(triage.accept, errors_asked(ask.errors, triage.spec)), None
    gate = ask.gate(triage)
    return new.decide(gate.decide), gate


def _write(own: KeptColumns, kept: KeptColumns, output: str | None, style: Style, *, force: bool) -> None:
    """Write a row per decision."""
    if output in STDOUT:
        stream_columns(sys.stdout.buffer, own, kept, style=style)
    else:
        write_columns(Path(str(output)), own, kept, force=force, style=style)


def _columns(done: rs.Decisions, review: str) -> dict[str, Any]:
    """Return the columns decision, accepted and, for a batch, p_value."""
    named = done.spec.classes != ANSWER
    texts = [str(label) for label in done.labels.tolist()] if named else [ACCEPT] * len(done)
    if review in (set(texts) | set(map(str, done.spec.classes.values)) if named else {ACCEPT}):
        raise click.BadParameter(
            f"{review!r} is also an answer. Pass another text with --review.", param_hint="--review"
        )
    decision = np.where(done.accepted, np.array([*texts, None], dtype=object)[:-1], review)
    batch = {} if done.confidence is not None else {"p_value": done.p_values}
    return {"decision": decision, "accepted": done.accepted, **batch}
