"""What Spark's workers do with the rows of one partition: calibrate them, or predict their sets."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from rankset.engines.frame_columns import FrameLayout, kept_and_sets
from rankset.engines.partial_rules import PartialRule, merge_partial_rules
from rankset.engines.worker_tasks import CalibrationTask
from rankset.errors import Place, RanksetError
from rankset.io.columns import Columns

CHUNK_BYTES = 32 << 20
"""Arrow batches of a partition are joined up to about this size, and processed together."""


def _chunks(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> Iterator[tuple[pa.Table, int]]:
    """Yield tables of consecutive batches, with the names of the frame, and the number of rows before each."""
    waiting: list[pa.RecordBatch] = []
    start = size = 0
    for batch in batches:
        waiting.append(batch)
        size += batch.nbytes
        if size >= CHUNK_BYTES:
            table = pa.Table.from_batches(waiting).rename_columns(names)
            yield table, start
            waiting, size, start = [], 0, start + table.num_rows
    if waiting:
        yield pa.Table.from_batches(waiting).rename_columns(names), start


def _partition_name() -> Place:
    from pyspark import TaskContext

    context = TaskContext.get()
    return Place(part="partition ?" if context is None else f"partition {context.partitionId()}")


@dataclass(frozen=True)
class CalibratePartition:
    """Yields the pickled partial rule of a partition, or the error, which the driver raises."""

    task: CalibrationTask
    layout: FrameLayout
    names: list[str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        where, task = _partition_name(), self.task
        try:
            answer: Any = merge_partial_rules(
                task.run(
                    self.layout.partition(
                        Columns("", table=table), start, where=where, classes=task.classes, kind=task.kind
                    )
                )
                for table, start in _chunks(batches, self.names)
            )
        except RanksetError as error:
            answer = error.with_traceback(None)
            answer.__cause__ = answer.__context__ = None
        yield pa.RecordBatch.from_pydict({"answer": [pickle.dumps(answer)]})


def unpickled(answer: bytes) -> PartialRule:
    """Return the partial rule that a worker sent, or raise the error that it sent."""
    partial = pickle.loads(answer)  # noqa: S301 - pickled by CalibratePartition, on a worker of this session
    if isinstance(partial, RanksetError):
        raise partial
    return partial


@dataclass(frozen=True)
class PredictPartition:
    """Yields the sets of a partition; ``broadcast`` holds the task as ``value``."""

    broadcast: Any
    layout: FrameLayout
    names: list[str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        where, task = _partition_name(), self.broadcast.value
        for table, start in _chunks(batches, self.names):
            partition = self.layout.partition(
                Columns("", table=table), start, where=where, classes=task.classes, kind=task.rule.kind
            )
            yield from kept_and_sets(table, task.run(partition), self.layout.layout.keep).to_batches()
