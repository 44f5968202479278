"""Triage and decisions on Dask arrays and Dask data frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rankset.conditions import Condition, Marginal
from rankset.decisions.errors_by_group import Errors
from rankset.decisions.gate import Gate
from rankset.decisions.triage import Triage
from rankset.engines import dask_arrays, dask_frames
from rankset.engines.dask_arrays import RowValues
from rankset.engines.dask_frames import is_frame
from rankset.engines.decision_tasks import CountTask, DecisionTask, GateTask, TriageTask
from rankset.engines.partial_rules import final_triage
from rankset.errors import KindError
from rankset.inputs.matrix import Kind
from rankset.io.layout import Layout
from rankset.scores import Score


def triage(
    probs: Any,
    labels: RowValues | None = None,
    *,
    correct: RowValues | None = None,
    within: int = 1,
    confidence: Score | str | None = None,
    score: Score | str | None = None,
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    columns: str | Sequence[str] | None = None,
    groups: RowValues | None = None,
    ids: RowValues | None = None,
    seed: int = 0,
    absent: str | None = None,
) -> Triage:
    """Return the same triage, byte for byte, as ``rankset.triage`` for all rows.

    It is computed immediately, with the current Dask scheduler.

    Parameters
    ----------
    probs : Dask array (n, K) or (n,), or Dask data frame
        Model outputs: a data frame has one column per class, one column of lists, or one column with a confidence per
        row. An array (n,) holds one confidence per row.
    labels : array, series or str, optional
        True label of each row. For a data frame, the name of the label column. With one confidence per row, whether
        each answer is right.
    correct : array, series or str, optional
        Instead of labels: whether each answer is right, as booleans. For a data frame, the name of the column.
    within, score, condition, kind, classes, seed
        As in ``rankset.triage``.
    confidence : score or str, optional
        As in ``rankset.triage``. "auto" is not possible, because it needs its rows at once: pass some of the rows to
        ``rankset.triage`` with "auto", and the ``score`` of its result here, with the other rows.
    columns : str or sequence of str, optional
        Names of the data frame columns with model outputs. Default: the only column of lists. If there is no such
        column, all columns except labels, groups and ids.
    groups, ids : array, series or str, optional
        Group and id of each row. For a data frame, the names of the columns.
    absent : str, optional
        As in ``calibrate``: text of labels that are not among the candidates. Only for the labels of a data frame.

    Returns
    -------
    Triage

    Raises
    ------
    RanksetError
        If ``rankset.triage`` would raise an error. The message names the partition.

    Examples
    --------
    >>> import dask.array as da, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> triage = rs.engines.dask.triage(da.from_array(probs, chunks=(100, -1)), labels)
    >>> triage == rs.triage(probs, labels)
    True
    """
    task = TriageTask.of(
        *(confidence, score, condition, kind, classes, seed, within), labels=labels, correct=correct, absent=absent
    )
    if is_frame(probs):
        layout = Layout(labels if correct is None else correct, groups, ids, absent=absent)
        return final_triage(dask_frames.learn(probs, task, layout, columns))
    if columns is not None:
        raise KindError.argument("columns", "None if probs is an array", columns)
    if absent is not None:
        raise KindError.argument("absent", "None if probs is an array, whose labels can be rankset.ABSENT", absent)
    known = {"labels": labels, "correct": correct, "groups": groups, "ids": ids}
    return final_triage(dask_arrays.gather(probs, task, known))


def accept(
    triage: Triage,
    probs: Any,
    error: Errors,
    *,
    columns: str | Sequence[str] | None = None,
    groups: RowValues | None = None,
    ids: RowValues | None = None,
    keep: Sequence[str] = (),
) -> Any:
    """Return which rows of a batch are accepted, the same as ``triage.accept`` for all rows, as a lazy Dask object.

    Rows are read twice. First the workers count p-values where the rows lie, immediately and with the current Dask
    scheduler. Only these counts are collected, and decide what is accepted. The result reads the rows again, so they
    must be the same then.

    Parameters
    ----------
    triage : Triage
    probs : Dask array or Dask data frame
        All rows of the batch, as in ``triage``.
    error : float, str, Fraction or dict
        Largest expected share of wrong answers among the accepted ones, as in ``Triage.accept``.
    columns, groups, ids
        As in ``triage``. Without ids at most one count for each wrong row of the triage is collected, with ids up to
        one for each row of the batch.
    keep : sequence of str
        Extra columns of a data frame that are copied to the result.

    Returns
    -------
    Dask array or Dask data frame
        For an array: booleans (n,), True if the row is accepted. For a data frame: the same index, the extra columns,
        then the columns ``accepted``, ``label`` (the most likely label, accepted or not) and ``p_value``. There is no
        ``label`` if rows have one confidence each.

    Raises
    ------
    RanksetError
        If ``triage.accept`` would raise an error. The message names the partition.

    Examples
    --------
    >>> import dask.array as da, rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> triage = rs.triage(probs[:1000], labels[:1000], kind="logits")
    >>> new = da.from_array(probs[1000:], chunks=(300, -1))
    >>> int(rs.engines.dask.accept(triage, new, error=0.05).sum().compute())
    726
    """
    task, layout = CountTask.of(triage, error), _layout(probs, columns, groups, ids, keep)
    if layout is not None:
        counts = dask_frames.count(probs, task, layout, columns)
    else:
        counts = dask_arrays.gather(probs, task, {"groups": groups, "ids": ids})
    return _decided(probs, task.accepting(counts, with_ids=ids is not None), layout, columns, groups, ids)


def decide(
    gate: Gate,
    probs: Any,
    *,
    columns: str | Sequence[str] | None = None,
    groups: RowValues | None = None,
    ids: RowValues | None = None,
    keep: Sequence[str] = (),
) -> Any:
    """Return which rows a gate accepts, the same as ``gate.decide``, as a lazy Dask object.

    Parameters
    ----------
    gate : Gate
        The result of ``Triage.threshold``.
    probs : Dask array or Dask data frame
        Model outputs, as in ``triage``.
    columns, groups, ids, keep
        As in ``accept``.

    Returns
    -------
    Dask array or Dask data frame
        As from ``accept``, without ``p_value``.

    Raises
    ------
    RanksetError
        If ``gate.decide`` would raise an error. Errors about rows are raised when Dask computes the result. The
        message names the partition.

    Examples
    --------
    >>> import dask.array as da, rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> gate = rs.triage(probs[:1500], labels[:1500], kind="logits").threshold(error=0.05)
    >>> accepted = rs.engines.dask.decide(gate, da.from_array(probs[1500:], chunks=(200, -1)))
    >>> bool((accepted.compute() == gate.accepts(probs[1500:])).all())
    True
    """
    task, layout = GateTask.of(gate), _layout(probs, columns, groups, ids, keep)
    return _decided(probs, task, layout, columns, groups, ids)


def _layout(probs: Any, columns: Any, groups: Any, ids: Any, keep: Sequence[str]) -> Layout | None:
    """Return the columns of a data frame; None for an array, for which ``columns`` and ``keep`` are refused."""
    kept = (keep,) if isinstance(keep, str) else tuple(keep)
    if is_frame(probs):
        return Layout(None, groups, ids, keep=kept)
    if columns is not None or kept:
        raise KindError.argument("columns and keep", "None if probs is an array", columns or kept)
    return None


def _decided(probs: Any, task: DecisionTask, layout: Layout | None, columns: Any, groups: Any, ids: Any) -> Any:
    if layout is not None:
        return dask_frames.predict(probs, task, layout, columns)
    return dask_arrays.decide(probs, task, groups, ids)
