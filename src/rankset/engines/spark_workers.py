"""What Spark's workers do with the rows of one partition: results that are merged, or results of every row."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from rankset.engines.frame_columns import FrameLayout, with_kept
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
class GatherPartition:
    """Yields the pickled result of a partition, or the error, which the driver raises; ``sent.value`` is the task."""

    sent: Any
    layout: FrameLayout
    names: list[str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        where, task = _partition_name(), self.sent.value
        try:
            parts = [
                task.run(self.layout.partition(task, Columns("", table=table), start, where))
                for table, start in _chunks(batches, self.names)
            ]
            answer: Any = task.merge(parts or [task.nothing()])
        except RanksetError as error:
            answer = error.with_traceback(None)
            answer.__cause__ = answer.__context__ = None
        yield pa.RecordBatch.from_pydict({"answer": [pickle.dumps(answer)]})


def unpickled(answer: bytes) -> Any:
    """Return the result that a worker sent, or raise the error that it sent."""
    found = pickle.loads(answer)  # noqa: S301 - pickled by GatherPartition, on a worker of this session
    if isinstance(found, RanksetError):
        raise found
    return found


@dataclass(frozen=True)
class PredictPartition:
    """Yields the results of a partition; ``broadcast`` holds the task as ``value``."""

    broadcast: Any
    layout: FrameLayout
    names: list[str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        where, task = _partition_name(), self.broadcast.value
        for table, start in _chunks(batches, self.names):
            partition = self.layout.partition(task, Columns("", table=table), start, where)
            yield from with_kept(task, task.run(partition), table, self.layout.layout.keep).to_batches()
