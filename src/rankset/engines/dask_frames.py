"""Dask data frames: every partition of the frame is a partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import dask
import dask.array as da

from rankset.engines.batch_counts import BatchCounts
from rankset.engines.decision_tasks import CountTask
from rankset.engines.frame_columns import FrameLayout, GatherTask, TableTask, marks_in_order, score_columns
from rankset.engines.partial_rules import MERGED_AT_ONCE, PartialRule, RuleT
from rankset.engines.worker_tasks import LearningTask, Partition, ResultTask
from rankset.errors import KindError, Place
from rankset.io.columns import Columns
from rankset.io.layout import Layout
from rankset.io.sets_table import check_kept_names


def learn(
    frame: Any, task: LearningTask[RuleT], layout: Layout, columns: Any, marks: Sequence[str] = ()
) -> PartialRule[RuleT]:
    """Merge the rules or triages of all partitions; ``marks`` are columns of 0 and 1 that hold the labels."""
    if not marks and not isinstance(layout.label, str | int):
        what = "correct" if task.correct else "labels"
        raise KindError.argument(what, "the name of a column of the data frame", type(layout.label).__name__)
    label = None if marks else str(layout.label)
    numbered = all(isinstance(name, int) for name in frame.columns if name != layout.label)
    frame, layout = _with_text_names(frame), replace(layout, label=label)
    picked = score_columns(list(frame.columns), layout, columns or _column_of_lists(frame, label), marks=marks)
    whole = numbered if task.correct else label is None or frame._meta[label].dtype.kind in "iu"
    task = task.with_classes_of(picked, whole_labels=whole)
    return _gather(frame, task, FrameLayout(layout, picked, marks_in_order(marks, picked, task.classes)))


def count(frame: Any, task: CountTask, layout: Layout, columns: Any) -> BatchCounts:
    """Merge the counts of all partitions of a frame."""
    frame = _with_text_names(frame)
    picked = _columns_of_results(frame, task, layout, columns)
    return _gather(frame, task, FrameLayout(replace(layout, keep=()), picked))


def _gather(frame: Any, task: GatherTask, read: FrameLayout) -> Any:
    """Merge the results of all partitions of a frame."""
    sent, work = dask.delayed(task, pure=False, traverse=False), dask.delayed(_gather_part, pure=False)
    frames = frame[read.needed_columns].to_delayed()
    answers = [work(sent, read, number, part) for number, part in enumerate(frames)]
    merge = dask.delayed(task.merge, pure=False)
    while len(answers) > 1:
        answers = [merge(answers[at : at + MERGED_AT_ONCE]) for at in range(0, len(answers), MERGED_AT_ONCE)]
    return answers[0].compute()


def predict(frame: Any, task: ResultTask[Any], layout: Layout, columns: Any) -> Any:
    """Frame of kept columns and results: sets, or decisions."""
    import dask.dataframe as dd

    frame = _with_text_names(frame)
    picked = _columns_of_results(frame, task, layout, columns)
    meta = _results_frame(task, task.nothing(), frame._meta, layout.keep)
    sent, work = dask.delayed(task, pure=False, traverse=False), dask.delayed(_predict_part, pure=False)
    read = FrameLayout(layout, picked)
    frames = frame[read.needed_columns].to_delayed()
    answers = [work(sent, read, number, part) for number, part in enumerate(frames)]
    return dd.from_delayed(answers, meta=meta, divisions=frame.divisions, verify_meta=False)


def _columns_of_results(frame: Any, task: ResultTask[Any] | CountTask, layout: Layout, columns: Any) -> list[str]:
    """Columns of scores of rows without labels; refuses kept columns that have the name of a result."""
    check_kept_names(layout.keep, task.columns)
    return score_columns(list(frame.columns), layout, columns or _column_of_lists(frame), task.classes)


def _column_of_lists(frame: Any, labels: str | None = None) -> list[str] | None:
    """Name of the one column of lists besides ``labels``; None if there is none, or several."""
    found = [name for name in frame.columns if name != labels and "list<" in str(frame._meta[name].dtype)]
    return found if len(found) == 1 else None


def _with_text_names(frame: Any) -> Any:
    """Return the frame with strings as column names, as in files."""
    return frame if all(isinstance(name, str) for name in frame.columns) else frame.rename(columns=str)


def _gather_part(task: GatherTask, layout: FrameLayout, number: int, frame: Any) -> Any:
    return task.run(_partition_of_frame(task, layout, number, frame))


def _partition_of_frame(task: TableTask, layout: FrameLayout, number: int, frame: Any) -> Partition:
    import pyarrow as pa

    columns = Columns("", table=pa.Table.from_pandas(frame, preserve_index=False))
    return layout.partition(task, columns, 0, Place(part=f"partition {number}"))


def _predict_part(task: ResultTask[Any], layout: FrameLayout, number: int, frame: Any) -> Any:
    partition = _partition_of_frame(task, layout, number, frame)
    results = task.run(partition) if len(partition) else task.nothing()
    return _results_frame(task, results, frame, layout.layout.keep)


def _results_frame(task: ResultTask[Any], results: Any, frame: Any, kept: Sequence[str]) -> Any:
    """Pandas frame of results with the index and the kept columns of ``frame``."""
    import pandas as pd

    answer = task.table(results).to_pandas(types_mapper=pd.ArrowDtype)
    answer.index = frame.index
    for place, name in enumerate(kept):
        answer.insert(place, name, frame[name])
    return answer


def is_frame(values: Any) -> bool:
    """Whether rows are a Dask data frame; refuses everything else but Dask arrays."""
    if isinstance(values, da.Array):
        return False
    if hasattr(values, "to_delayed") and hasattr(values, "npartitions") and hasattr(values, "columns"):
        return True
    raise KindError.argument("probs", "a dask array or a dask data frame", type(values).__name__)
