"""The same rule on Spark: data frames of any source, through Arrow.

    rule = rankset.engines.spark.calibrate(frame, "label")               # a column per class, or one of arrays
    sets = rankset.engines.spark.predict(rule, new_frame, alpha=0.1)     # its other columns, labels, size, top
    sets.createOrReplaceTempView("sets")
    spark.sql("select avg(size) from sets")

Every partition becomes a rule where it lies, and rules are merged on the driver: what travels is 8 bytes per row and
key (RANK has two). Workers need rankset installed, and the interpreter of the driver (``PYSPARK_PYTHON``).
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha
from rankset.engines import parts
from rankset.engines.parts import Calibrating, Predicting
from rankset.errors import KindError, Place, RanksetError
from rankset.inputs.matrix import Kind
from rankset.inputs.vocabulary import in_order
from rankset.io.layout import Layout
from rankset.io.read_scores import Columns
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.scores import Rank, Score

CHUNK_BYTES = 32 << 20
"""Arrow batches of a partition are worked on together up to about this size."""


def calibrate(
    frame: Any,
    labels: str,
    *,
    score: Score = Rank(),  # noqa: B008
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    columns: str | Sequence[str] | None = None,
    groups: str | None = None,
    ids: str | None = None,
    seed: int = 0,
) -> Rule:
    """The rule that ``rankset.calibrate`` would give for all rows, byte for byte.

    ``labels``, ``groups`` and ``ids`` name columns; ``columns`` names those of the scores (a column per class, or one
    of arrays or vectors), by default all others.
    """
    layout = Layout(labels, groups, ids)
    picked = parts.score_names(_names(frame, labels, groups, ids), layout, _told(frame, columns))
    whole = isinstance(frame.schema[labels].dataType, T.IntegralType)
    named = None if classes is None else list(in_order(classes))
    question = Calibrating(score, condition, kind, named, seed).about(picked, whole=whole)
    names = layout.used(picked)
    answers = _selected(frame, names).mapInArrow(_RuleOf(question, layout, names), "answer binary").collect()
    return parts.finished(parts.joined(_opened(row.answer) for row in answers))


def predict(
    rule: Rule,
    frame: Any,
    alpha: Alpha,
    *,
    columns: str | Sequence[str] | None = None,
    groups: str | None = None,
    ids: str | None = None,
    empty: Empty = "allow",
    keep: Sequence[str] | None = None,
) -> Any:
    """The sets that ``rule.predict`` would give, lazily: a frame with the columns labels, size and top, behind those it
    should ``keep``, by default all that are no scores."""
    question = Predicting.at(rule, alpha, empty)
    layout = Layout(None, groups, ids)
    names = _names(frame, groups, ids)
    picked = parts.score_names(names, layout, _told(frame, columns), question.classes)
    told = [keep] if isinstance(keep, str) else keep
    kept = [name for name in names if name not in picked] if told is None else list(told)
    layout = replace(layout, keep=tuple(kept))
    parts.score_names(names, layout, picked)
    wanted = layout.used(picked)
    used = _selected(frame, wanted)
    fields = [T.StructField(name, used.schema[wanted.index(name)].dataType) for name in kept]
    kind = _type(question.classes)
    fields += [T.StructField("labels", T.ArrayType(kind)), T.StructField("size", T.LongType())]
    fields += [T.StructField("top", kind)]
    parts.with_sets(pa.table({name: [] for name in kept}), question.nothing(), kept)
    return used.mapInArrow(_SetsOf(_shared(frame, question), layout, wanted), T.StructType(fields))


def _names(frame: Any, *columns: Any) -> list[str]:
    if not hasattr(frame, "mapInArrow"):
        raise KindError.argument("frame", "a Spark data frame", type(frame).__name__)
    for column in columns:
        if column is not None and not isinstance(column, str):
            raise KindError.argument("labels, groups and ids", "names of columns", type(column).__name__)
    return list(frame.columns)


def _told(frame: Any, columns: Any) -> Any:
    """The columns of scores that were told, else the one column of arrays or vectors, if there is one."""
    if columns is not None:
        several = [columns] if isinstance(columns, str) else list(columns)
        if not all(isinstance(name, str) for name in several):
            raise KindError.argument("columns", "names of columns", columns)
        return several
    found = [field.name for field in frame.schema if _is_vector(field) or isinstance(field.dataType, T.ArrayType)]
    return found if len(found) == 1 else None


def _is_vector(field: Any) -> bool:
    return type(field.dataType).__name__ == "VectorUDT"


def _selected(frame: Any, names: Sequence[str]) -> Any:
    """Some columns, vectors of Spark's machine learning as arrays, under names that Spark takes everywhere."""

    def column(place: int, name: str) -> Any:
        quoted = f"`{name.replace('`', '``')}`"
        if not _is_vector(frame.schema[name]):
            return F.col(quoted).alias(f"c{place}")
        from pyspark.ml.functions import vector_to_array

        return vector_to_array(F.col(quoted)).alias(f"c{place}")

    return frame.select(*(column(place, name) for place, name in enumerate(names)))


def _type(classes: Sequence[object]) -> Any:
    kinds = {bool: T.BooleanType, int: T.LongType, float: T.DoubleType, str: T.StringType}
    types = {type(name) for name in classes}
    return kinds[types.pop()]() if len(types) == 1 else T.StringType()


def _shared(frame: Any, question: Predicting) -> Any:
    """The question, sent to every worker once where the session can."""
    try:
        return frame.sparkSession.sparkContext.broadcast(question)
    except Exception:  # noqa: BLE001 - Spark Connect has no context; then it travels with the tasks
        return _Plain(question)


@dataclass(frozen=True)
class _Plain:
    value: Predicting


def _chunks(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> Iterator[tuple[pa.Table, int]]:
    """Tables of consecutive batches, their columns called as in the frame, and how many rows came before."""
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


def _where() -> Place:
    from pyspark import TaskContext

    context = TaskContext.get()
    return Place(part="partition ?" if context is None else f"partition {context.partitionId()}")


@dataclass(frozen=True)
class _RuleOf:
    """The rule of a partition; what is wrong with it is told on the driver."""

    question: Calibrating
    layout: Layout
    names: list[str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        where, question = _where(), self.question
        try:
            answer: Any = parts.joined(
                question.of(
                    parts.part_of(
                        Columns("", table=table),
                        self.layout,
                        start,
                        where=where,
                        classes=question.classes,
                        kind=question.kind,
                    )
                )
                for table, start in _chunks(batches, self.names)
            )
        except RanksetError as error:
            answer = error.with_traceback(None)
            answer.__cause__ = answer.__context__ = None
        yield pa.RecordBatch.from_pydict({"answer": [pickle.dumps(answer)]})


def _opened(answer: bytes) -> parts.Answer:
    opened = pickle.loads(answer)  # noqa: S301 - made by _RuleOf a moment ago, on a worker of this session
    if isinstance(opened, RanksetError):
        raise opened
    return opened


@dataclass(frozen=True)
class _SetsOf:
    """The sets of a partition."""

    shared: Any
    layout: Layout
    names: list[str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        where, question = _where(), self.shared.value
        for table, start in _chunks(batches, self.names):
            part = parts.part_of(
                Columns("", table=table),
                self.layout,
                start,
                where=where,
                classes=question.classes,
                kind=question.rule.kind,
            )
            yield from parts.with_sets(table, question.of(part), self.layout.keep).to_batches()
