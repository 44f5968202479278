"""Dask arrays: every block of rows is a partition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np

from rankset.core.arrays import is_real, object_array
from rankset.engines.decision_tasks import DecisionTask
from rankset.engines.frame_columns import GatherTask
from rankset.engines.partial_rules import MERGED_AT_ONCE
from rankset.engines.worker_tasks import Partition, PredictionTask
from rankset.errors import InputError, LabelError, Place, warn
from rankset.inputs.row_index import RowIndex

EMPTY = object_array([])
RowValues = Any
"""Labels, groups, ids or weights: a column name for a data frame, one value per row for an array."""


def gather(probs: da.Array, task: GatherTask, known: Mapping[str, Any]) -> Any:
    """Merge the results of all blocks of an array; ``known`` are labels, groups, ids and weights."""
    probs = _whole_rows(probs)
    chunks = {"i": (1,) * probs.numblocks[0]}
    answers = _map_blocks(_gather_block, "i", probs, task, known, adjust_chunks=chunks)
    while answers.numblocks[0] > 1:
        count = -(-answers.numblocks[0] // MERGED_AT_ONCE)
        groups_of_answers = answers.rechunk(MERGED_AT_ONCE)
        options = {"dtype": object, "meta": EMPTY, "chunks": ((1,) * count,)}
        answers = groups_of_answers.map_blocks(_merge_block, merge=task.merge, **options)
    return answers.compute(optimize_graph=_has_known_sizes(probs))[0]  # Dask loses parts of frames when it optimises


def predict(probs: da.Array, task: PredictionTask, known: Mapping[str, Any]) -> da.Array:
    """Array of booleans: which labels are in the set of each row; ``known`` are groups, ids and weights."""
    probs = _whole_rows(probs)
    n_columns = task.rule.spec.n_columns
    options = {"dtype": np.bool_, "meta": np.empty((0, n_columns), dtype=np.bool_), "new_axes": {"k": n_columns}}
    return _map_blocks(_predict_block, "ik", probs, task, known, adjust_chunks={"i": probs.chunks[0]}, **options)


def decide(probs: da.Array, task: DecisionTask, groups: Any, ids: Any) -> da.Array:
    """Array of booleans: which rows are accepted."""
    probs = _whole_rows(probs)
    options = {"dtype": np.bool_, "meta": np.empty(0, dtype=np.bool_)}
    known = {"groups": groups, "ids": ids}
    return _map_blocks(_decide_block, "i", probs, task, known, adjust_chunks={"i": probs.chunks[0]}, **options)


def _whole_rows(probs: da.Array) -> da.Array:
    """Array whose chunks are whole rows."""
    if probs.ndim not in (1, 2):
        raise InputError.shape("probs", "(n, K)", probs.shape, "Pass one row per sample and one column per class.")
    if probs.ndim == 2 and probs.numblocks[1] > 1:
        warn(
            f"every row should be in one chunk, got {probs.numblocks[1]} chunks per row. rankset joins these chunks. "
            f"To avoid this warning, pass probs.rechunk({{1: -1}})."
        )
        return probs.rechunk({1: -1})
    return probs


def _has_known_sizes(values: da.Array) -> bool:
    """Whether the sizes of the chunks are known; those of arrays made of frames are not."""
    return not np.isnan(values.chunks[0]).any()


def _map_blocks(
    work: Callable[..., Any], index: str, probs: da.Array, task: Any, known: Mapping[str, Any], **options: Any
) -> da.Array:
    """Array of ``work`` done on every block, with its number and the values of its rows."""
    rows = RowIndex()
    for name, values in known.items():
        if not dask.is_dask_collection(values):
            rows.check(values, name)
    given = {
        name: _align(values, probs, name, several=task.several_labels and name == "labels")
        for name, values in known.items()
        if values is not None
    }
    numbers = da.arange(probs.numblocks[0], chunks=1)
    return da.blockwise(
        work,
        index,
        *(probs, "ij" if probs.ndim == 2 else "i", numbers, "i"),
        *(argument for values in given.values() for argument in (values, "i" if values.ndim == 1 else "il")),
        names=list(given),
        worker_task=dask.delayed(task, pure=False, traverse=False),
        align_arrays=False,
        concatenate=True,
        **{"dtype": object, "meta": EMPTY, **options},
    )


def _partition_of_block(scores: Any, number: Any, names: Sequence[str], values: Sequence[Any]) -> Partition:
    known = dict(zip(names, values, strict=True))
    return Partition(np.asarray(scores), where=Place(part=f"partition {int(number[0])}"), **known)


def _gather_block(scores: Any, number: Any, *values: Any, worker_task: GatherTask, names: Sequence[str]) -> Any:
    return object_array([worker_task.run(_partition_of_block(scores, number, names, values))])


def _merge_block(answers: Any, merge: Callable[[Any], Any]) -> Any:
    return object_array([merge(answers)])


def _align(values: Any, probs: da.Array, name: str, *, several: bool) -> da.Array:
    """Array of one value per row, in the chunks of the rows; if ``several``, of one list or of 0/1 columns per row."""
    values = _lists_or_matrix(values) if several else _only_column(values)
    if hasattr(values, "to_dask_array"):
        values = values.to_dask_array()
    rows, sized = probs.chunks[0], _has_known_sizes(probs)
    if name == "weights" and is_real(values) and sized:  # one number for all rows
        return da.full(sum(rows), float(values), chunks=(rows,))
    if not isinstance(values, da.Array):
        array = np.asarray(values)
        _check_dimensions(array, name, several=several)
        if not sized:
            raise InputError.unknown_chunks(name)
        if array.shape[:1] != (sum(rows),):
            raise InputError.length(name, sum(rows), len(array) if array.ndim else 1)
        return da.from_array(array, chunks=(rows, *array.shape[1:]))
    _check_dimensions(values, name, several=several)
    if sized and _has_known_sizes(values):
        if values.shape[:1] != (sum(rows),):
            raise InputError.length(name, sum(rows), values.shape[0])
        return values.rechunk((rows, *values.shape[1:]))
    if values.numblocks[:1] != probs.numblocks[:1]:
        raise InputError.chunks(name, probs.numblocks[0], values.numblocks[0])
    return values.rechunk({1: -1}) if values.ndim == 2 else values


def _check_dimensions(values: Any, name: str, *, several: bool) -> None:
    """Refuse a matrix where one value per row is expected, and arrays with more dimensions."""
    if values.ndim > 1 + several:
        raise LabelError.several(name, f"shape {tuple(values.shape)}")


def _lists_or_matrix(values: Any) -> Any:
    """Return lists of labels as an array of lists; return matrices and objects of Dask unchanged."""
    if dask.is_dask_collection(values) or getattr(values, "ndim", 1) != 1:
        return values.to_dask_array() if hasattr(values, "to_dask_array") else values
    return object_array(list(values))


def _only_column(values: Any) -> Any:
    """Return the column of a frame with one column, of pandas or Dask; return anything else unchanged."""
    is_frame = hasattr(values, "columns") and getattr(values, "ndim", 0) == 2  # a series of Dask has columns too
    return values[values.columns[0]] if is_frame and len(values.columns) == 1 else values


def _predict_block(scores: Any, number: Any, *values: Any, worker_task: PredictionTask, names: Sequence[str]) -> Any:
    return worker_task.run(_partition_of_block(scores, number, names, values)).mask


def _decide_block(scores: Any, number: Any, *values: Any, worker_task: DecisionTask, names: Sequence[str]) -> Any:
    return worker_task.run(_partition_of_block(scores, number, names, values)).accepted
