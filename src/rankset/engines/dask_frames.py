"""Dask data frames: every partition of the frame is a partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask

from rankset.engines.frame_columns import FrameLayout, marks_in_order, score_columns
from rankset.engines.partial_rules import MERGED_AT_ONCE, PartialRule, merge_partial_rules
from rankset.engines.worker_tasks import CalibrationTask, Partition, PredictionTask
from rankset.errors import Place
from rankset.inputs.matrix import Kind
from rankset.io.columns import Columns
from rankset.io.layout import Layout
from rankset.io.sets_table import check_kept_names, sets_table


def calibrate(frame: Any, task: CalibrationTask, layout: Layout, columns: Any, marks: Sequence[str]) -> PartialRule:
    """Merge the rules of all partitions of a frame; ``marks`` are columns of 0 and 1 that hold the labels."""
    frame = _with_text_names(frame)
    picked = score_columns(list(frame.columns), layout, columns or _column_of_lists(frame, layout.label), marks=marks)
    whole = bool(marks) or frame._meta[layout.label].dtype.kind in "iu"
    task = task.with_classes_of(picked, whole_labels=whole)
    read = FrameLayout(layout, picked, marks_in_order(marks, picked, task.classes))
    sent, work = dask.delayed(task, pure=False, traverse=False), dask.delayed(_calibrate_part, pure=False)
    frames = frame[read.needed_columns].to_delayed()
    answers = [work(sent, read, number, part) for number, part in enumerate(frames)]
    merge = dask.delayed(merge_partial_rules, pure=False)
    while len(answers) > 1:
        answers = [merge(answers[at : at + MERGED_AT_ONCE]) for at in range(0, len(answers), MERGED_AT_ONCE)]
    return answers[0].compute()


def predict(frame: Any, task: PredictionTask, layout: Layout, columns: Any) -> Any:
    """Frame of kept columns and sets."""
    import dask.dataframe as dd

    frame = _with_text_names(frame)
    check_kept_names(layout.keep)
    picked = score_columns(list(frame.columns), layout, columns or _column_of_lists(frame), task.classes)
    meta = _sets_frame(task.no_sets(), frame._meta, layout.keep)
    sent, work = dask.delayed(task, pure=False, traverse=False), dask.delayed(_predict_part, pure=False)
    read = FrameLayout(layout, picked)
    frames = frame[read.needed_columns].to_delayed()
    answers = [work(sent, read, number, part) for number, part in enumerate(frames)]
    return dd.from_delayed(answers, meta=meta, divisions=frame.divisions, verify_meta=False)


def _column_of_lists(frame: Any, labels: str | None = None) -> list[str] | None:
    """Name of the one column of lists besides ``labels``; None if there is none, or several."""
    found = [name for name in frame.columns if name != labels and "list<" in str(frame._meta[name].dtype)]
    return found if len(found) == 1 else None


def _with_text_names(frame: Any) -> Any:
    """Return the frame with strings as column names, as in files."""
    return frame if all(isinstance(name, str) for name in frame.columns) else frame.rename(columns=str)


def _calibrate_part(task: CalibrationTask, layout: FrameLayout, number: int, frame: Any) -> PartialRule:
    return task.run(_partition_of_frame(layout, number, frame, task.classes, task.kind))


def _partition_of_frame(
    layout: FrameLayout, number: int, frame: Any, classes: Sequence[object] | None, kind: Kind
) -> Partition:
    import pyarrow as pa

    columns = Columns("", table=pa.Table.from_pandas(frame, preserve_index=False))
    return layout.partition(columns, where=Place(part=f"partition {number}"), classes=classes, kind=kind)


def _predict_part(task: PredictionTask, layout: FrameLayout, number: int, frame: Any) -> Any:
    partition = _partition_of_frame(layout, number, frame, task.classes, task.rule.kind)
    sets = task.run(partition) if len(partition) else task.no_sets()
    return _sets_frame(sets, frame, layout.layout.keep)


def _sets_frame(sets: Any, frame: Any, kept: Sequence[str]) -> Any:
    """Pandas frame of sets with the index and the kept columns of ``frame``."""
    import pandas as pd

    answer = sets_table(sets).to_pandas(types_mapper=pd.ArrowDtype)
    answer.index = frame.index
    for place, name in enumerate(kept):
        answer.insert(place, name, frame[name])
    return answer
