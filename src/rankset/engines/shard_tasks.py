"""What is done with one file of scores: it calibrates, or its sets are predicted and perhaps written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rankset.core.arrays import object_array
from rankset.engines.partial_rules import PartialRule
from rankset.engines.worker_tasks import CalibrationTask, Partition, PredictionTask
from rankset.errors import NOWHERE, Place, located
from rankset.io.layout import Layout
from rankset.io.notes import Note, also_listening, decimal_of_scores
from rankset.io.rows import Rows
from rankset.io.workbook_ids import with_ids
from rankset.io.write_sets import write_sets
from rankset.io.writers.base import SetsAndKept
from rankset.io.writers.csv import PLAIN, excel_style
from rankset.targets.cost import costs_like

Pair = tuple[str, str | None]
"""A file of scores, and its file of labels (None if labels are a column)."""


def calibrate_first_file(task: CalibrationTask, layout: Layout, pair: Pair, *, given: bool) -> PartialRule:
    """Calibrate on the first file, whose labels decide whether classes are numbers or texts."""
    rows = layout.read_shard(*pair, task.classes, kind=task.kind)
    if rows is None:
        return PartialRule(None)
    classes = rows.classes if task.classes is None else rows.classes_from(task.classes)
    target = costs_like(task.target, classes or rows.columns)
    return _calibrate_rows(replace(task, classes=classes, target=target), rows, given=given)


def calibrate_file(task: CalibrationTask, layout: Layout, pair: Pair, *, given: bool) -> PartialRule:
    """Calibrate on another file; ``given``: a user gave the classes."""
    rows = layout.read_shard(*pair, task.classes, kind=task.kind)
    return PartialRule(None) if rows is None else _calibrate_rows(task, rows, given=given)


def _calibrate_rows(task: CalibrationTask, rows: Rows, *, given: bool) -> PartialRule:
    """Calibrate on rows; without given classes every file must have the same columns."""
    if not given:
        rows.check_nothing_ignored()
    elif task.classes is not None:
        rows = rows.with_given_order(task.classes)
    rows.check_order(task.classes)
    partition = replace(_partition(rows.with_labels_of(task.classes)), where=NOWHERE)
    with located(Place(file=rows.scores_file)), rows.name_file_in_errors():
        return task.run(partition)


def predict_file(task: PredictionTask, layout: Layout, path: str) -> SetsAndKept:
    """Return the sets of a file, with the columns that are kept."""
    rows = layout.read_shard(path, classes=task.classes, kind=task.rule.kind)
    if rows is None:
        return task.no_sets(), {name: object_array([]) for name in layout.kept_columns}
    return task.run(_partition(rows.with_groups_of(task.rule.groups.tolist()))), rows.kept


def write_file(task: PredictionTask, layout: Layout, job: tuple[str, Path], *, force: bool) -> Path:
    """Write the sets of a file of scores to its target, and return the target."""
    path, target = job
    heard: list[Note] = []
    with also_listening(heard.append):
        sets = predict_file(task, layout, path)
    style = PLAIN
    if target.suffix == ".xlsx":
        style = with_ids(excel_style(layout.decimal or decimal_of_scores(heard)), layout, [path])
    write_sets(target, [sets], force=force, style=style)
    return target


def _partition(rows: Rows) -> Partition:
    return Partition(rows.scores, rows.marked_labels, rows.groups, rows.ids, Place(file=rows.scores_file))
