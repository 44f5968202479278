"""Columns of Dask and Spark frames: which of them hold scores, and partitions of a frame as rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.engines.decision_tasks import CountTask
from rankset.engines.worker_tasks import LearningTask, Partition, ResultTask
from rankset.errors import NOWHERE, FileError, KindError, LabelError, Place, located
from rankset.inputs.matrix import Kind
from rankset.io.columns import Columns
from rankset.io.layout import Layout
from rankset.io.rows import Rows
from rankset.io.sets_table import check_kept_names
from rankset.io.several_labels import marks_of_columns

GatherTask = LearningTask[Any] | CountTask
"""A task whose results are merged."""
TableTask = GatherTask | ResultTask[Any]
"""A task that reads the rows of a table."""


@dataclass(frozen=True)
class FrameLayout:
    """Which columns of a frame are what.

    ``scores`` are the columns of scores, ``marks`` those of 0 and 1, one per class in the order of the classes, if the
    labels of a row are in several columns. ``layout`` names the other columns.
    """

    layout: Layout
    scores: Sequence[str]
    marks: Sequence[str] = ()

    @property
    def needed_columns(self) -> list[str]:
        """Names of all columns that are read, scores first."""
        return list(dict.fromkeys([*self.layout.needed_columns(self.scores), *self.marks]))

    def partition(self, task: TableTask, columns: Columns, first_row: int, where: Place) -> Partition:
        """Return the rows of a table as a task takes them; columns that are only kept can have the names of classes."""
        layout = replace(self.layout, keep=())
        read = set(layout.needed_columns(self.scores))
        table = columns.table.select([name for name in columns.names if name in read])
        rows = partition_of(
            *(replace(columns, table=table), layout, first_row),
            where=where,
            classes=task.classes,
            kind=task.kind,
            answers=task.answers,
            correct=task.correct,
        )
        if not self.marks:
            return rows
        with located(where, first_row):
            return replace(rows, labels=marks_of_columns(columns, self.marks, len(rows)))


def label_names(labels: Any, *, several: bool) -> tuple[str | None, list[str]]:
    """Return the name of the one column of labels, or the names of the columns of 0 and 1; ``several`` can be true."""
    if isinstance(labels, str | int):
        return str(labels), []
    if not isinstance(labels, list | tuple) or not labels or not all(isinstance(name, str | int) for name in labels):
        expected = "the name of a column, or a list of the names of columns of 0 and 1"
        raise KindError.argument("labels", expected, type(labels).__name__)
    if not several:
        raise LabelError.several("labels", f"{len(labels)} columns")
    names = [str(name) for name in labels]
    if len(set(names)) < len(names):
        raise FileError.one_column_twice(next(name for name in names if names.count(name) > 1))
    return None, names


def marks_in_order(marks: Sequence[str], scores: Sequence[str], classes: Sequence[object] | None) -> list[str]:
    """Return the columns of 0 and 1 in the order of the classes: by name if all have names of classes."""
    if set(marks) & set(scores):
        raise FileError.class_apart("", next(name for name in marks if name in scores))
    if not marks or classes is None:
        return list(marks)
    wanted = [str(name) for name in classes]
    if set(marks) == set(wanted):
        return wanted
    if set(marks) & set(wanted):
        missing = [name for name in wanted if name not in marks]
        raise FileError.label_columns("", missing, [name for name in marks if name not in wanted])
    if len(marks) != len(wanted):
        raise LabelError.mark_columns(len(wanted), len(marks))
    return list(marks)


def score_columns(
    names: Sequence[str],
    layout: Layout,
    columns: str | Sequence[str] | None,
    classes: Sequence[object] | None = None,
    marks: Sequence[str] = (),
) -> list[str]:
    """Columns that hold scores: ``columns`` if given, else those named like ``classes``, else all that are left."""
    others = (layout.label, layout.group, layout.identity, layout.weights, *layout.keep, *marks)
    apart = [name for name in others if name is not None]
    given = None if columns is None else [columns] if isinstance(columns, str) else [str(name) for name in columns]
    if given is None and classes is not None and {str(name) for name in classes} <= set(names):
        given = [str(name) for name in classes]
    picked = [name for name in names if name not in apart] if given is None else list(given)
    for name in (*picked, *apart):
        if name not in names:
            raise FileError.no_column("", name, names)
    if not picked:
        raise FileError.no_scores("", names)
    return picked


def partition_of(
    columns: Columns,
    layout: Layout,
    first_row: int = 0,
    *,
    where: Place = NOWHERE,
    classes: Sequence[object] | None = None,
    kind: Kind = "probs",
    answers: bool = False,
    correct: bool = False,
) -> Partition:
    """Return the rows of a table that is in memory; ``answers`` and ``correct`` as in ``split_answers``."""
    with located(where, first_row):
        rows = layout.rows_of(columns, classes=classes, kind=kind)
        rows, right = split_answers(rows, kind, correct=correct) if answers else (rows, None)
        rows.check_order(classes)
        rows = rows.with_labels_of(classes)
    return Partition(rows.scores, rows.marked_labels, rows.groups, rows.ids, where, first_row, right, rows.weights)


def split_answers(rows: Rows, kind: Kind, *, correct: bool) -> tuple[Rows, Any]:
    """Return the rows of a triage, and what says which answers are right, if that is not the true labels.

    A single column of numbers holds one confidence per row. Then, or if ``correct``, the column of labels says which
    answers are right; it may hold the texts of files, "true" and "false".
    """
    if kind != "binary" and rows.names is not None and len(rows.names) == 1:
        rows = replace(rows, scores=rows.scores[:, 0], names=None)
    if not correct and (kind == "binary" or np.ndim(rows.scores) != 1):
        return rows, None
    return replace(rows, labels=None), None if rows.labels is None else _truth(rows.labels)


def _truth(values: NDArray[Any]) -> NDArray[Any]:
    """Return texts as booleans if all of them say true or false; return anything else unchanged."""
    texts = [value.strip().lower() if isinstance(value, str) else None for value in values.tolist()]
    return np.array([text == "true" for text in texts]) if set(texts) <= {"true", "false"} else values


def with_kept(task: ResultTask[Any], results: Any, table: Any, kept: Sequence[str]) -> Any:
    """Return an Arrow table with the ``kept`` columns of a table, then the columns of its results."""
    answer = task.table(results)
    check_kept_names(kept, task.columns)
    for place, name in enumerate(kept):
        answer = answer.add_column(place, name, table.column(name))
    return answer
