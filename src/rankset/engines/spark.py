"""Calibration, prediction and decisions on Spark data frames.

    rule = rankset.engines.spark.calibrate(frame, "label")               # one column per class, or one array column
    sets = rankset.engines.spark.predict(rule, new_frame, alpha=0.1)     # adds the columns labels, size and top
    sets.createOrReplaceTempView("sets")
    spark.sql("select avg(size) from sets")
    triage = rankset.engines.spark.triage(frame, "label")                # decisions: spark_decisions
    done = rankset.engines.spark.accept(triage, new_frame, error=0.02)   # adds the columns accepted, label and p_value

Each worker computes the rule of its partition, and the driver merges the rules. A worker sends 8 bytes per row and key
(RANK has two keys). rankset must be installed on the workers. The workers must use the same Python version as the
driver (see ``PYSPARK_PYTHON``). The tasks that are sent to the workers are in ``worker_tasks``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.sql import types as T  # noqa: N812

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.engines import spark_frames
from rankset.engines.frame_columns import label_names
from rankset.engines.partial_rules import final_rule
from rankset.engines.spark_decisions import accept, decide, triage
from rankset.engines.worker_tasks import CalibrationTask, PredictionTask
from rankset.inputs.matrix import Kind
from rankset.io.layout import Layout
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.scores import Score
from rankset.targets import OneLabel, Target

__all__ = ["accept", "calibrate", "decide", "predict", "triage"]


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
    weights: str | None = None,
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
    weights : str, optional
        Name of the column with the weight of each row, as in ``rankset.calibrate``.

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
    layout = Layout(label, groups, ids, absent=absent, several=task.several_labels, weights=weights)
    return final_rule(spark_frames.learn(frame, task, layout, columns, marks))


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
    weights: str | None = None,
) -> Any:
    """Return the same sets as ``rule.predict``, as a Spark data frame that is computed later.

    Parameters
    ----------
    rule : Rule
    frame : Spark data frame
        Model outputs, as in ``calibrate``.
    alpha : float, str or Fraction
        Largest allowed probability that a set does not contain the true label.
    columns, groups, ids, weights
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
    kind = spark_frames.label_type(task.classes or ())
    fields = [
        T.StructField("labels", T.ArrayType(kind)),
        T.StructField("size", T.LongType()),
        T.StructField("top", kind),
    ]
    return spark_frames.predict(frame, task, Layout(None, groups, ids, weights=weights), columns, keep, fields)
