"""Files that ``rankset triage`` reads: OLD, with known answers or a saved triage, and NEW."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

import rankset as rs
from rankset import progress
from rankset.cli.conditions import condition_of
from rankset.cli.files import find_usual_arrays, read_class_names
from rankset.decisions.one_answer import ANSWER
from rankset.errors import FileError, RanksetError, warn
from rankset.inputs.matrix import Kind
from rankset.io.layout import Layout
from rankset.io.rows import Rows

BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
"""Texts that say whether an answer is right; case does not count."""


class Known(NamedTuple):
    """What is known from OLD: the triage, the column that says what is right, and the name of a column of confidences.

    ``answers`` and ``confidences`` are None if they are not known.
    """

    triage: rs.Triage
    answers: str | None = None
    confidences: str | None = None


class Wanted(NamedTuple):
    """How a triage is made of OLD: values of options."""

    correct: str | None
    score: str | None
    within: int | None
    kind: Kind | None
    classes: Path | None
    per_label: bool
    seed: int


def known_from(path: str, label_files: Sequence[str], layout: Layout, wanted: Wanted) -> Known:
    """Return the triage of the rows of OLD."""
    labels = label_files[0] if label_files else None
    layout = replace(layout, keep=(), label=wanted.correct or layout.label)
    layout, kind = find_usual_arrays(path, labels, layout, wanted.kind)
    rows = layout.read_calibration_rows(path, labels, read_class_names(wanted.classes, layout), kind)
    if rows.labels is None:
        raise click.UsageError("OLD must have known answers. Pass --label COLUMN, --labels FILE or --correct COLUMN.")
    alone = wanted.correct is not None and kind != "binary" and _has_one_column(rows.scores)
    if alone and (kind not in {None, "decision"} or wanted.per_label or wanted.classes is not None):
        raise click.UsageError(
            f"--kind, --classes and --per-label are for the scores of all labels, but {path} has one column of scores. "
            "Leave them out."
        )
    about: dict[str, Any] = {
        "confidence": wanted.score,
        "condition": condition_of(layout, per_label=wanted.per_label),
        "groups": rows.groups,
        "ids": rows.ids,
        "seed": wanted.seed,
    }
    with rows.name_file_in_errors(), progress.track("triage"):
        if alone:
            made = rs.triage(rows.scores.reshape(-1), correct=booleans(rows, layout.label), **about)
            return Known(made, layout.label, None if rows.names is None else rows.names[0])
        about |= {"kind": kind or "probs"}
        if wanted.correct is not None:
            made = rs.triage(rows.scores, correct=booleans(rows, layout.label), classes=rows.names, **about)
        else:
            labels_ = rows.labels_for(rows.classes)
            made = rs.triage(rows.scores, labels_, classes=rows.classes, within=wanted.within or 1, **about)
    return Known(made, layout.label)


def booleans(rows: Rows, column: str | None) -> NDArray[np.bool_]:
    """Return whether each answer is right: true or false, or 1 or 0."""
    values = np.asarray(rows.labels).tolist()
    found = [BOOLEANS.get(str(value).strip().lower()) for value in values]
    if None in found:
        row = found.index(None)
        raise FileError.not_boolean(rows.labels_file, str(column), values[row], row)
    return np.array(found, dtype=np.bool_)


def _has_one_column(scores: Any) -> bool:
    return isinstance(scores, np.ndarray) and (scores.ndim == 1 or scores.shape[1] == 1)


class New(NamedTuple):
    """Rows of NEW, and whether it also says which answers are right."""

    rows: Rows
    layout: Layout
    known: Known
    has_answers: bool

    def decide(self, decide: Any, *more: Any) -> rs.Decisions:
        """Return the decisions of ``Triage.accept`` or ``Gate.decide`` about the rows."""
        with self.rows.name_file_in_errors(), progress.track("deciding"):
            return decide(self.rows.scores, *more, groups=self.rows.groups, ids=self.rows.ids)

    def evaluation(self, done: rs.Decisions) -> rs.DecisionsEvaluation | None:
        """Compare decisions with the answers in NEW; None if it has none, or not for every row."""
        if not self.has_answers or not len(done):
            return None
        name = self.layout.label
        try:
            by_label = self.known.triage.within is not None
            answers = self.rows.labels_of_sets(done.spec.classes) if by_label else booleans(self.rows, name)
            return rs.evaluate(done, answers)
        except RanksetError:
            told = "does not have a known answer in every row, so errors are not measured."
            warn(f"{self.rows.scores_file}: the column {name!r} {told}")
            return None


def read_new(path: str, layout: Layout, known: Known, *, must_have_answers: bool) -> New:
    """Return the rows of NEW, with columns matched to the classes by name; other columns are ignored."""
    spec = known.triage.spec
    alone = spec.classes == ANSWER
    classes = spec.classes.array.tolist() if not alone else [known.confidences] if known.confidences else None
    columns = layout.read_columns(path)
    has_answers = known.answers is not None and (must_have_answers or known.answers in columns.names)
    layout = replace(layout, label=known.answers if has_answers else None, drop=() if classes else layout.drop)
    found, _ = find_usual_arrays(path, path, layout, spec.kind)
    rows = found.rows_of(columns, None, classes, kind=spec.kind).with_groups_of(spec.groups.array.tolist())
    if alone:
        if not _has_one_column(rows.scores):
            raise FileError.one_confidence(path, rows.names or list(map(str, range(rows.scores.shape[1]))))
        rows = replace(rows, scores=rows.scores.reshape(-1))
    return New(rows, found, known, has_answers)
