"""Spark data frames: which columns are what, and tasks that run on every partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from rankset.engines.batch_counts import BatchCounts
from rankset.engines.decision_tasks import CountTask
from rankset.engines.frame_columns import FrameLayout, marks_in_order, score_columns
from rankset.engines.partial_rules import PartialRule, RuleT
from rankset.engines.spark_workers import GatherPartition, PredictPartition, unpickled
from rankset.engines.worker_tasks import LearningTask, ResultTask
from rankset.errors import KindError
from rankset.io.layout import Layout
from rankset.io.sets_table import check_kept_names


def learn(
    frame: Any, task: LearningTask[RuleT], layout: Layout, columns: Any, marks: Sequence[str] = ()
) -> PartialRule[RuleT]:
    """Merge the rules or triages of all partitions; ``marks`` are columns of 0 and 1 that hold the labels."""
    label = layout.label
    names = column_names(frame, label, layout.group, layout.identity, layout.weights)
    picked = score_columns(names, layout, given_columns(frame, columns, label), marks=marks)
    whole = label is None or (_is_whole(frame.schema[label].dataType, task) and not task.correct)
    task = task.with_classes_of(picked, whole_labels=whole)
    return _gather(frame, _NotBroadcast(task), FrameLayout(layout, picked, marks_in_order(marks, picked, task.classes)))


def _is_whole(kind: Any, task: LearningTask[Any]) -> bool:
    """Return whether a column of labels holds whole numbers, or arrays of them."""
    inner = kind.elementType if task.several_labels and isinstance(kind, T.ArrayType) else kind
    return isinstance(inner, T.IntegralType)


def count(frame: Any, task: CountTask, layout: Layout, columns: Any, keep: str | Sequence[str] | None) -> BatchCounts:
    """Merge the counts of all partitions of a frame."""
    _, picked = _kept_and_scores(frame, task, layout, columns, keep)
    return _gather(frame, _broadcast(frame, task), FrameLayout(layout, picked))


def _gather(frame: Any, sent: Any, read: FrameLayout) -> Any:
    """Merge the results of all partitions of a frame on the driver; ``sent`` has the task as ``value``."""
    names = read.needed_columns
    answers = select(frame, names).mapInArrow(GatherPartition(sent, read, names), "answer binary").collect()
    task: Any = sent.value
    return task.merge([unpickled(row.answer) for row in answers] or [task.nothing()])


def predict(
    frame: Any,
    task: ResultTask[Any],
    layout: Layout,
    columns: Any,
    keep: str | Sequence[str] | None,
    fields: Sequence[Any],
) -> Any:
    """Frame of kept columns and results, which are the ``fields``."""
    kept, picked = _kept_and_scores(frame, task, layout, columns, keep)
    layout = replace(layout, keep=tuple(kept))
    wanted = layout.needed_columns(picked)
    used = select(frame, wanted)
    every = [T.StructField(name, used.schema[wanted.index(name)].dataType) for name in kept]
    work = PredictPartition(_broadcast(frame, task), FrameLayout(layout, picked), wanted)
    return used.mapInArrow(work, T.StructType([*every, *fields]))


def _kept_and_scores(
    frame: Any,
    task: ResultTask[Any] | CountTask,
    layout: Layout,
    columns: Any,
    keep: str | Sequence[str] | None,
) -> tuple[list[str], list[str]]:
    """Names of the columns that are kept, by default all without scores, and of those with scores."""
    names = column_names(frame, layout.group, layout.identity, layout.weights)
    picked = score_columns(names, layout, given_columns(frame, columns), task.classes)
    given = [keep] if isinstance(keep, str) else keep
    kept = [name for name in names if name not in picked] if given is None else list(given)
    score_columns(names, replace(layout, keep=tuple(kept)), picked)
    check_kept_names(kept, task.columns)
    return kept, picked


def column_names(frame: Any, *columns: Any) -> list[str]:
    """Names of all columns of a Spark frame; refuses other frames, and ``columns`` that are no names."""
    if not hasattr(frame, "mapInArrow"):
        raise KindError.argument("frame", "a Spark data frame", type(frame).__name__)
    for column in columns:
        if column is not None and not isinstance(column, str):
            raise KindError.argument("labels, groups, ids and weights", "names of columns", type(column).__name__)
    return list(frame.columns)


def given_columns(frame: Any, columns: Any, labels: str | None = None) -> Any:
    """Columns of scores that were given, else the one column of arrays or vectors besides ``labels``, if there is."""
    if columns is not None:
        several = [columns] if isinstance(columns, str) else list(columns)
        if not all(isinstance(name, str) for name in several):
            raise KindError.argument("columns", "names of columns", columns)
        return several
    fields = [field for field in frame.schema if field.name != labels]
    found = [field.name for field in fields if is_vector(field) or isinstance(field.dataType, T.ArrayType)]
    return found if len(found) == 1 else None


def is_vector(field: Any) -> bool:
    return type(field.dataType).__name__ == "VectorUDT"


def select(frame: Any, names: Sequence[str]) -> Any:
    """Frame of some columns, called c0, c1, … because Spark does not take every name; vectors become arrays."""

    def column(place: int, name: str) -> Any:
        quoted = f"`{name.replace('`', '``')}`"
        if not is_vector(frame.schema[name]):
            return F.col(quoted).alias(f"c{place}")
        from pyspark.ml.functions import vector_to_array

        return vector_to_array(F.col(quoted)).alias(f"c{place}")

    return frame.select(*(column(place, name) for place, name in enumerate(names)))


def label_type(classes: Sequence[object]) -> Any:
    kinds = {bool: T.BooleanType, int: T.LongType, float: T.DoubleType, str: T.StringType}
    types = {type(name) for name in classes}
    return kinds[types.pop()]() if len(types) == 1 else T.StringType()


def _broadcast(frame: Any, task: Any) -> Any:
    """Send the task to every worker once, if the session supports it. Return an object with the task as ``value``."""
    try:
        return frame.sparkSession.sparkContext.broadcast(task)
    except Exception:  # noqa: BLE001 - Spark Connect has no context; the task is then sent with every job
        return _NotBroadcast(task)


@dataclass(frozen=True)
class _NotBroadcast:
    value: Any
