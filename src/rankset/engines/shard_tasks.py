"""What is done with files of scores: a rule or a triage is made, or results of their rows, which may be written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rankset.core.arrays import object_array
from rankset.engines.batch_counts import BatchCounts
from rankset.engines.decision_tasks import CountTask
from rankset.engines.frame_columns import TableTask, split_answers
from rankset.engines.partial_rules import PartialRule, RuleT, merge_partial_rules
from rankset.engines.processes import map_in_processes
from rankset.engines.worker_tasks import LearningTask, Partition, PredictionTask, ResultT, ResultTask
from rankset.errors import NOWHERE, FileError, Place, located
from rankset.inputs.vocabulary import Names
from rankset.io.layout import Layout
from rankset.io.notes import Note, also_listening, decimal_of_scores
from rankset.io.rows import Rows
from rankset.io.spelling import equal_groups
from rankset.io.workbook_ids import with_ids
from rankset.io.write_sets import write_sets
from rankset.io.writers.base import KeptColumns
from rankset.io.writers.csv import PLAIN, excel_style

Pair = tuple[str, str | None]
"""A file of scores, and its file of labels (None if labels are a column)."""


def learn_from_files(
    task: LearningTask[RuleT], layout: Layout, pairs: Sequence[Pair], workers: int | None, *, given: bool
) -> PartialRule[RuleT]:
    """Merge the rules or triages of all files; ``given``: a user gave the classes."""
    parts: list[PartialRule[RuleT]] = []
    rest = list(pairs)
    while rest and not any(one.rule for one in parts):  # the first rows decide the classes of all others
        parts.append(_learn_from_first_file(task, layout, rest.pop(0), given=given))
        if parts[-1].rule is not None:
            task = task.after(parts[-1].rule)
    parts += map_in_processes(partial(_learn_from_file, task, layout, given=given), rest, workers)
    return merge_partial_rules(parts)


def check_groups_of_files(groups: Sequence[object]) -> None:
    """Refuse groups that are numbers in some files and texts in others."""
    mixed = equal_groups(groups)
    if mixed:
        raise FileError.mixed_groups(mixed)


def _learn_from_first_file(task: LearningTask[RuleT], layout: Layout, pair: Pair, *, given: bool) -> PartialRule[RuleT]:
    """Learn from the first file, whose labels decide whether classes are numbers or texts."""
    rows = layout.read_shard(*pair, task.classes, kind=task.kind)
    if rows is None:
        return task.nothing()
    rows, right = _split(task, rows)
    classes = rows.classes if task.classes is None else rows.classes_from(task.classes)
    return _learn_from_rows(task.with_classes(classes, classes or rows.columns), rows, right, given=given)


def _learn_from_file(task: LearningTask[RuleT], layout: Layout, pair: Pair, *, given: bool) -> PartialRule[RuleT]:
    """Learn from another file."""
    rows = layout.read_shard(*pair, task.classes, kind=task.kind)
    return task.nothing() if rows is None else _learn_from_rows(task, *_split(task, rows), given=given)


def _split(task: TableTask, rows: Rows) -> tuple[Rows, Any]:
    return split_answers(rows, task.kind, correct=task.correct) if task.answers else (rows, None)


def _learn_from_rows(task: LearningTask[RuleT], rows: Rows, right: Any, *, given: bool) -> PartialRule[RuleT]:
    """Learn from rows; without given classes every file must have the same columns."""
    if not given:
        rows.check_nothing_ignored()
    elif task.classes is not None:
        rows = rows.with_given_order(task.classes)
    rows.check_order(task.classes)
    partition = replace(_partition(rows.with_labels_of(task.classes)), where=NOWHERE, correct=right)
    with located(Place(file=rows.scores_file)), rows.name_file_in_errors():
        return task.run(partition)


def predict_file(task: ResultTask[ResultT], layout: Layout, path: str) -> tuple[ResultT, KeptColumns]:
    """Return the results of a file, with the columns that are kept."""
    rows = _rows_of(task, task.spec.groups, layout, path)
    if rows is None:
        return task.nothing(), {name: object_array([]) for name in layout.kept_columns}
    return task.run(_partition(rows)), rows.kept


def count_file(task: CountTask, layout: Layout, path: str) -> BatchCounts:
    """Return the counts of a file."""
    rows = _rows_of(task, task.batch.spec.groups, layout, path)
    return task.nothing() if rows is None else task.run(_partition(rows))


def _rows_of(task: TableTask, groups: Names, layout: Layout, path: str) -> Rows | None:
    """Return the rows of a file without labels, with groups spelled as those of a rule."""
    rows = layout.read_shard(path, classes=task.classes, kind=task.kind)
    return None if rows is None else _split(task, rows)[0].with_groups_of(groups.array.tolist())


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
    where = Place(file=rows.scores_file)
    return Partition(rows.scores, rows.marked_labels, rows.groups, rows.ids, where, weights=rows.weights)
