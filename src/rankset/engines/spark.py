"""Calibration and prediction on Spark data frames.

    rule = rankset.engines.spark.calibrate(frame, "label")               # one column per class, or one array column
    sets = rankset.engines.spark.predict(rule, new_frame, alpha=0.1)     # adds the columns labels, size and top
    sets.createOrReplaceTempView("sets")
    spark.sql("select avg(size) from sets")

Each worker computes the rule of its partition, and the driver merges the rules. A worker sends 8 bytes per row and key
(RANK has two keys). rankset must be installed on the workers. The workers must use the same Python version as the
driver (see ``PYSPARK_PYTHON``). The tasks that are sent to the workers are in ``worker_tasks``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.engines.frame_columns import FrameLayout, kept_and_sets, label_names, marks_in_order, score_columns
from rankset.engines.partial_rules import final_rule, merge_partial_rules
from rankset.engines.spark_workers import CalibratePartition, PredictPartition, unpickled
from rankset.engines.worker_tasks import CalibrationTask, PredictionTask
from rankset.errors import KindError
from rankset.inputs.matrix import Kind
from rankset.io.layout import Layout
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.scores import Score
from rankset.targets import OneLabel, Target


def calibrate(
    frame: Any,
    labels: str | Sequence[str],
    *,
    method: Score | str | None = None,
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    columns: str | Sequence[str] | None = None,
    groups: str | None = None,
    ids: str | None = None,
    seed: int = 0,
    absent: str | None = None,
    score: Score | str | None = None,
    target: Target | str = OneLabel(),  # noqa: B008
) -> Rule:
    """Return the same rule, byte for byte, as ``rankset.calibrate`` for all rows.

    Parameters
    ----------
    frame : Spark data frame
        Model outputs: one column per class, or one column of arrays or vectors.
    labels : str, or sequence of str
        Name of the column with the true labels. See ``target`` for several columns.
    method, condition, kind, classes, seed, score
        As in ``rankset.calibrate``. ``method="auto"`` is not possible, because it needs its rows at once: pass some of
        the rows to ``rankset.auto``, and the ``score`` of its rule as ``method`` here, with the other rows.
    columns : str or sequence of str, optional
        Names of the columns with model outputs. Default: the only column of arrays or vectors. If there is no such
        column, all columns except labels, groups and ids.
    groups, ids : str, optional
        Names of the columns with groups and ids.
    absent : str, optional
        Text of labels in rows whose true label is not among the candidates, as ``rankset.ABSENT``. "" stands for
        missing labels.
    target
        As in ``rankset.calibrate``. If rows can have several labels, ``labels`` names a column of arrays, or of texts
        with ; between names. Or it is a list of the names of columns of 0 and 1, one for every class in the order of
        the columns of model outputs. Columns that have the names of the ``classes`` are matched by name.

    Returns
    -------
    Rule

    Raises
    ------
    RanksetError
        If ``rankset.calibrate`` would raise an error. The message names the partition.

    Examples
    --------
    >>> import rankset as rs
    >>> from pyspark.sql import SparkSession
    >>> session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    >>> rows = [(0.9, 0.1, "cat"), (0.2, 0.8, "dog"), (0.4, 0.6, "cat")] * 10
    >>> frame = session.createDataFrame(rows, ["cat", "dog", "label"])
    >>> rule = rs.engines.spark.calibrate(frame, "label")
    >>> rule == rs.calibrate([row[:2] for row in rows], [row[2] for row in rows], classes=["cat", "dog"])
    True
    """
    task = CalibrationTask.of(method, score, condition, kind, classes, seed, target)
    label, marks = label_names(labels, several=task.several_labels)
    layout = Layout(label, groups, ids, absent=absent, several=task.several_labels)
    names = _column_names(frame, groups, ids)
    picked = score_columns(names, layout, _given_columns(frame, columns, label), marks=marks)
    task = task.with_classes_of(picked, whole_labels=label is None or _is_whole(frame.schema[label].dataType))
    read = FrameLayout(layout, picked, marks_in_order(marks, picked, task.classes))
    work = CalibratePartition(task, read, read.needed_columns)
    answers = _select(frame, read.needed_columns).mapInArrow(work, "answer binary").collect()
    return final_rule(merge_partial_rules(unpickled(row.answer) for row in answers))


@takes_alpha
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
    confidence: Alpha | None = None,
    next_rows: int | None = None,
    all_groups: bool = False,
) -> Any:
    """Return the same sets as ``rule.predict``, as a Spark data frame that is computed later.

    Parameters
    ----------
    rule : Rule
    frame : Spark data frame
        Model outputs, as in ``calibrate``.
    alpha : float, str or Fraction
        Largest allowed probability that a set does not contain the true label.
    columns, groups, ids
        As in ``calibrate``.
    empty : {"allow", "top"}
        "allow" keeps empty sets. "top" adds the most likely label to each empty set.
    keep : sequence of str, optional
        Extra columns that are copied to the result. Default: all columns without model outputs.
    confidence, next_rows, all_groups
        As in ``Rule.predict``: the promise holds for this calibration with the probability ``confidence``.

    Returns
    -------
    Spark data frame
        The extra columns, then the columns ``labels`` (an array, most likely first), ``size`` and ``top`` (the most
        likely label of the set).

    Raises
    ------
    RanksetError
        If ``rule.predict`` would raise an error. Errors about rows are raised when Spark computes the result.

    Examples
    --------
    >>> import rankset as rs
    >>> from pyspark.sql import SparkSession
    >>> session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    >>> rows = [(0.9, 0.1, "cat"), (0.2, 0.8, "dog"), (0.4, 0.6, "cat")] * 10
    >>> rule = rs.calibrate([row[:2] for row in rows], [row[2] for row in rows], classes=["cat", "dog"])
    >>> frame = session.createDataFrame([(1, 0.95, 0.05), (2, 0.45, 0.55)], ["id", "cat", "dog"])
    >>> sets = rs.engines.spark.predict(rule, frame, alpha=0.1, ids="id")
    >>> for row in sets.orderBy("id").collect():
    ...     print(row.id, row.labels, row.size, row.top)
    1 ['cat'] 1 cat
    2 ['dog', 'cat'] 2 dog
    """
    task = PredictionTask.of(rule, alpha, empty, confidence=confidence, next_rows=next_rows, all_groups=all_groups)
    layout = Layout(None, groups, ids)
    names = _column_names(frame, groups, ids)
    picked = score_columns(names, layout, _given_columns(frame, columns), task.classes)
    given = [keep] if isinstance(keep, str) else keep
    kept = [name for name in names if name not in picked] if given is None else list(given)
    layout = replace(layout, keep=tuple(kept))
    score_columns(names, layout, picked)
    wanted = layout.needed_columns(picked)
    used = _select(frame, wanted)
    fields = [T.StructField(name, used.schema[wanted.index(name)].dataType) for name in kept]
    kind = _label_type(task.classes)
    fields += [T.StructField("labels", T.ArrayType(kind)), T.StructField("size", T.LongType())]
    fields += [T.StructField("top", kind)]
    kept_and_sets(pa.table({name: [] for name in kept}), task.no_sets(), kept)  # refuses names that are taken
    return used.mapInArrow(
        PredictPartition(_broadcast(frame, task), FrameLayout(layout, picked), wanted), T.StructType(fields)
    )


def _column_names(frame: Any, *columns: Any) -> list[str]:
    """Names of all columns of a Spark frame; refuses other frames, and ``columns`` that are no names."""
    if not hasattr(frame, "mapInArrow"):
        raise KindError.argument("frame", "a Spark data frame", type(frame).__name__)
    for column in columns:
        if column is not None and not isinstance(column, str):
            raise KindError.argument("labels, groups and ids", "names of columns", type(column).__name__)
    return list(frame.columns)


def _is_whole(kind: Any) -> bool:
    """Return whether a column of labels holds whole numbers, or arrays of them."""
    return isinstance(kind.elementType if isinstance(kind, T.ArrayType) else kind, T.IntegralType)


def _given_columns(frame: Any, columns: Any, labels: str | None = None) -> Any:
    """Columns of scores that were given, else the one column of arrays or vectors besides ``labels``, if there is."""
    if columns is not None:
        several = [columns] if isinstance(columns, str) else list(columns)
        if not all(isinstance(name, str) for name in several):
            raise KindError.argument("columns", "names of columns", columns)
        return several
    fields = [field for field in frame.schema if field.name != labels]
    found = [field.name for field in fields if _is_vector(field) or isinstance(field.dataType, T.ArrayType)]
    return found if len(found) == 1 else None


def _is_vector(field: Any) -> bool:
    return type(field.dataType).__name__ == "VectorUDT"


def _select(frame: Any, names: Sequence[str]) -> Any:
    """Frame of some columns, called c0, c1, … because Spark does not take every name; vectors become arrays."""

    def column(place: int, name: str) -> Any:
        quoted = f"`{name.replace('`', '``')}`"
        if not _is_vector(frame.schema[name]):
            return F.col(quoted).alias(f"c{place}")
        from pyspark.ml.functions import vector_to_array

        return vector_to_array(F.col(quoted)).alias(f"c{place}")

    return frame.select(*(column(place, name) for place, name in enumerate(names)))


def _label_type(classes: Sequence[object]) -> Any:
    kinds = {bool: T.BooleanType, int: T.LongType, float: T.DoubleType, str: T.StringType}
    types = {type(name) for name in classes}
    return kinds[types.pop()]() if len(types) == 1 else T.StringType()


def _broadcast(frame: Any, task: PredictionTask) -> Any:
    """Send the task to every worker once, if the session supports it. Return an object with the task as ``value``."""
    try:
        return frame.sparkSession.sparkContext.broadcast(task)
    except Exception:  # noqa: BLE001 - Spark Connect has no context; the task is then sent with every job
        return _NotBroadcast(task)


@dataclass(frozen=True)
class _NotBroadcast:
    value: PredictionTask
