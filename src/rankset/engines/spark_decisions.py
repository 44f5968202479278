"""Triage and decisions on Spark data frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.sql import types as T  # noqa: N812

from rankset.conditions import Condition, Marginal
from rankset.decisions.errors_by_group import Errors
from rankset.decisions.gate import Gate
from rankset.decisions.triage import Triage
from rankset.engines import spark_frames
from rankset.engines.decision_tasks import CountTask, DecisionTask, GateTask, TriageTask
from rankset.engines.partial_rules import final_triage
from rankset.inputs.matrix import Kind
from rankset.io.layout import Layout
from rankset.scores import Score


def triage(
    frame: Any,
    labels: str | None = None,
    *,
    correct: str | None = None,
    within: int = 1,
    confidence: Score | str | None = None,
    score: Score | str | None = None,
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    columns: str | Sequence[str] | None = None,
    groups: str | None = None,
    ids: str | None = None,
    seed: int = 0,
    absent: str | None = None,
) -> Triage:
    """Return the same triage, byte for byte, as ``rankset.triage`` for all rows.

    Parameters
    ----------
    frame : Spark data frame
        Model outputs: one column per class, one column of arrays or vectors, or one column with a confidence per row.
    labels : str, optional
        Name of the column with the true labels. With one confidence per row, of the column that says whether each
        answer is right.
    correct : str, optional
        Instead of labels: name of the column that says whether each answer is right.
    within, score, condition, kind, classes, seed
        As in ``rankset.triage``.
    confidence : score or str, optional
        As in ``rankset.triage``. "auto" is not possible, because it needs its rows at once: pass some of the rows to
        ``rankset.triage`` with "auto", and the ``score`` of its result here, with the other rows.
    columns : str or sequence of str, optional
        Names of the columns with model outputs. Default: the only column of arrays or vectors. If there is no such
        column, all columns except labels, groups and ids.
    groups, ids : str, optional
        Names of the columns with groups and ids.
    absent : str, optional
        As in ``calibrate``: text of labels that are not among the candidates.

    Returns
    -------
    Triage

    Raises
    ------
    RanksetError
        If ``rankset.triage`` would raise an error. The message names the partition.

    Examples
    --------
    >>> import rankset as rs
    >>> from pyspark.sql import SparkSession
    >>> session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    >>> rows = [(0.9, 0.1, "cat"), (0.2, 0.8, "dog"), (0.4, 0.6, "cat")] * 10
    >>> triage = rs.engines.spark.triage(session.createDataFrame(rows, ["cat", "dog", "label"]), "label")
    >>> triage == rs.triage([row[:2] for row in rows], [row[2] for row in rows], classes=["cat", "dog"])
    True
    """
    task = TriageTask.of(
        *(confidence, score, condition, kind, classes, seed, within), labels=labels, correct=correct, absent=absent
    )
    layout = Layout(labels if correct is None else correct, groups, ids, absent=absent)
    return final_triage(spark_frames.learn(frame, task, layout, columns))


def accept(
    triage: Triage,
    frame: Any,
    error: Errors,
    *,
    columns: str | Sequence[str] | None = None,
    groups: str | None = None,
    ids: str | None = None,
    keep: Sequence[str] | None = None,
) -> Any:
    """Return which rows of a batch are accepted, the same as ``triage.accept`` for all rows, as a Spark data frame.

    Rows are read twice. First the workers count p-values where the rows lie, immediately. Only these counts are
    collected, and decide what is accepted. The result is computed later and reads the rows again, so they must be the
    same then.

    Parameters
    ----------
    triage : Triage
    frame : Spark data frame
        All rows of the batch, as in ``triage``.
    error : float, str, Fraction or dict
        Largest expected share of wrong answers among the accepted ones, as in ``Triage.accept``.
    columns, groups, ids
        As in ``triage``. Without ids at most one count for each wrong row of the triage is collected, with ids up to
        one for each row of the batch.
    keep : sequence of str, optional
        Extra columns that are copied to the result. Default: all columns without model outputs.

    Returns
    -------
    Spark data frame
        The extra columns, then the columns ``accepted``, ``label`` (the most likely label, accepted or not) and
        ``p_value``. There is no ``label`` if rows have one confidence each.

    Raises
    ------
    RanksetError
        If ``triage.accept`` would raise an error. The message names the partition.

    Examples
    --------
    >>> import rankset as rs
    >>> from pyspark.sql import SparkSession
    >>> session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    >>> rows = [(0.9, 0.1, "cat"), (0.2, 0.8, "dog"), (0.4, 0.6, "cat")] * 10
    >>> triage = rs.triage([row[:2] for row in rows], [row[2] for row in rows], classes=["cat", "dog"])
    >>> frame = session.createDataFrame([(1, 0.95, 0.05), (2, 0.45, 0.55)], ["id", "cat", "dog"])
    >>> done = rs.engines.spark.accept(triage, frame, error=0.1, keep=["id"])
    >>> for row in done.orderBy("id").collect():
    ...     print(row.id, row.accepted, row.label, round(row.p_value, 3))
    1 True cat 0.032
    2 False dog 0.355
    """
    counting = CountTask.of(triage, error)
    layout = Layout(None, groups, ids)
    counts = spark_frames.count(frame, counting, layout, columns, keep)
    task = counting.accepting(counts, with_ids=ids is not None)
    return spark_frames.predict(frame, task, layout, columns, keep, _fields(task))


def decide(
    gate: Gate,
    frame: Any,
    *,
    columns: str | Sequence[str] | None = None,
    groups: str | None = None,
    ids: str | None = None,
    keep: Sequence[str] | None = None,
) -> Any:
    """Return which rows a gate accepts, the same as ``gate.decide``, as a Spark data frame that is computed later.

    Parameters
    ----------
    gate : Gate
        The result of ``Triage.threshold``.
    frame : Spark data frame
        Model outputs, as in ``triage``.
    columns, groups, ids, keep
        As in ``accept``.

    Returns
    -------
    Spark data frame
        As from ``accept``, without ``p_value``.

    Raises
    ------
    RanksetError
        If ``gate.decide`` would raise an error. Errors about rows are raised when Spark computes the result.

    Examples
    --------
    >>> import rankset as rs
    >>> from pyspark.sql import SparkSession
    >>> session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    >>> rows = [(0.9, 0.1, "cat"), (0.2, 0.8, "dog"), (0.4, 0.6, "cat")] * 100
    >>> triage = rs.triage([row[:2] for row in rows], [row[2] for row in rows], classes=["cat", "dog"])
    >>> gate = triage.threshold(error=0.1)
    >>> frame = session.createDataFrame([(1, 0.95, 0.05), (2, 0.45, 0.55)], ["id", "cat", "dog"])
    >>> for row in rs.engines.spark.decide(gate, frame, keep=["id"]).orderBy("id").collect():
    ...     print(row.id, row.accepted, row.label)
    1 True cat
    2 False dog
    """
    task = GateTask.of(gate)
    return spark_frames.predict(frame, task, Layout(None, groups, ids), columns, keep, _fields(task))


def _fields(task: DecisionTask) -> list[Any]:
    """Fields of Spark for the columns of decisions."""
    kinds = {"accepted": T.BooleanType(), "p_value": T.DoubleType()}
    return [
        T.StructField(name, kinds.get(name) or spark_frames.label_type(task.classes or ())) for name in task.columns
    ]
