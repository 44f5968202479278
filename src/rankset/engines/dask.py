"""Calibration, prediction and decisions on Dask arrays and Dask data frames, with any scheduler.

    rule = rankset.engines.dask.calibrate(probs, labels)                    # Dask array, rows in chunks
    mask = rankset.engines.dask.predict(rule, new_probs, alpha=0.1)         # lazy boolean array (n, K)

    rule = rankset.engines.dask.calibrate(frame, "label", groups="site")    # one column per class, or one list column
    sets = rankset.engines.dask.predict(rule, new_frame, alpha=0.1, groups="site")   # lazy: labels, size, top

    triage = rankset.engines.dask.triage(probs, labels)                     # decisions: dask_decisions
    accepted = rankset.engines.dask.accept(triage, new_probs, error=0.02)   # lazy boolean array (n,)

The worker that has a chunk computes the rule of this chunk. Rules are merged sixteen at a time. A worker sends 8 bytes
per row and key (RANK has two keys). The tasks that are sent to the workers are in ``worker_tasks``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.engines import dask_arrays, dask_frames
from rankset.engines.dask_arrays import RowValues
from rankset.engines.dask_decisions import accept, decide, triage
from rankset.engines.dask_frames import is_frame
from rankset.engines.frame_columns import label_names
from rankset.engines.partial_rules import final_rule
from rankset.engines.worker_tasks import CalibrationTask, PredictionTask
from rankset.errors import KindError
from rankset.inputs.matrix import Kind
from rankset.io.layout import Layout
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.scores import Score
from rankset.targets import OneLabel, Target

__all__ = ["accept", "calibrate", "decide", "predict", "triage"]


def calibrate(
    probs: Any,
    labels: RowValues,
    *,
    method: Score | str | None = None,
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    columns: str | Sequence[str] | None = None,
    groups: RowValues | None = None,
    ids: RowValues | None = None,
    seed: int = 0,
    absent: str | None = None,
    score: Score | str | None = None,
    target: Target | str = OneLabel(),  # noqa: B008
    weights: RowValues | None = None,
) -> Rule:
    """Return the same rule, byte for byte, as ``rankset.calibrate`` for all rows.

    The rule is computed immediately, with the current Dask scheduler.

    Parameters
    ----------
    probs : Dask array (n, K) or Dask data frame
        Model outputs. A data frame has one column per class, or one column of lists.
    labels : array, series or str
        True label of each row. For a data frame, the name of the label column.
    method, condition, kind, classes, seed, score
        As in ``rankset.calibrate``. ``method="auto"`` is not possible, because it needs its rows at once: pass some of
        the rows to ``rankset.auto``, and the ``score`` of its rule as ``method`` here, with the other rows.
    columns : str or sequence of str, optional
        Names of the data frame columns with model outputs. Default: the only column of lists. If there is no such
        column, all columns except labels, groups and ids.
    groups, ids : array, series or str, optional
        Group and id of each row. For a data frame, the names of the columns.
    absent : str, optional
        Text of labels in rows whose true label is not among the candidates, as ``rankset.ABSENT``. "" stands for
        missing labels. Only for a data frame; an array of labels can contain ``rankset.ABSENT``.
    target
        As in ``rankset.calibrate``. If rows can have several labels, ``labels`` is a 0/1 matrix (n, K), an array of
        lists, or the name of a column of lists; in a column, names can also be texts with ; between them. Or a list of
        the names of columns of 0 and 1, one for every class in the order of the columns of model outputs. Columns that
        have the names of the ``classes`` are matched by name.
    weights : array, series, number or str, optional
        Weight of each row, as in ``rankset.calibrate``. For a data frame, the name of the column.

    Returns
    -------
    Rule

    Raises
    ------
    RanksetError
        If ``rankset.calibrate`` would raise an error. The message names the partition.

    Examples
    --------
    >>> import dask.array as da, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.engines.dask.calibrate(da.from_array(probs, chunks=(100, -1)), labels)
    >>> rule == rs.calibrate(probs, labels)
    True
    """
    task = CalibrationTask.of(method, score, condition, kind, classes, seed, target)
    if not is_frame(probs) and columns is not None:
        raise KindError.argument("columns", "None if probs is an array", columns)
    if not is_frame(probs) and absent is not None:
        raise KindError.argument("absent", "None if probs is an array, whose labels can be rankset.ABSENT", absent)
    if is_frame(probs):
        label, marks = label_names(labels, several=task.several_labels)
        layout = Layout(label, groups, ids, absent=absent, several=task.several_labels, weights=weights)
        merged = dask_frames.learn(probs, task, layout, columns, marks)
    else:
        merged = dask_arrays.gather(probs, task, {"labels": labels, "groups": groups, "ids": ids, "weights": weights})
    return final_rule(merged)


@takes_alpha
def predict(
    rule: Rule,
    probs: Any,
    alpha: Alpha,
    *,
    columns: str | Sequence[str] | None = None,
    groups: RowValues | None = None,
    ids: RowValues | None = None,
    empty: Empty = "allow",
    keep: Sequence[str] = (),
    confidence: Alpha | None = None,
    next_rows: int | None = None,
    all_groups: bool = False,
    weights: RowValues | None = None,
) -> Any:
    """Return the same sets as ``rule.predict``, as a lazy Dask object.

    Parameters
    ----------
    rule : Rule
    probs : Dask array (n, K) or Dask data frame
        Model outputs, as in ``calibrate``.
    alpha : float, str or Fraction
        Largest allowed probability that a set does not contain the true label.
    columns, groups, ids, weights
        As in ``calibrate``.
    empty : {"allow", "top"}
        "allow" keeps empty sets. "top" adds the most likely label to each empty set.
    keep : sequence of str
        Extra columns of a data frame that are copied to the result.
    confidence, next_rows, all_groups
        As in ``Rule.predict``: the promise holds for this calibration with the probability ``confidence``.

    Returns
    -------
    Dask array or Dask data frame
        For an array: booleans (n, K), True if the label of the column is in the set of the row. For a data frame: the
        same index, the extra columns, then the columns ``labels`` (a list, most likely first), ``size`` and ``top``
        (the most likely label of the set).

    Raises
    ------
    RanksetError
        If ``rule.predict`` would raise an error. Errors about rows are raised when Dask computes the result. The
        message names the partition.

    Examples
    --------
    >>> import dask.array as da, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs, labels)
    >>> rs.engines.dask.predict(rule, da.from_array(probs, chunks=(100, -1)), alpha=0.1).compute().shape
    (260, 4)
    """
    task = PredictionTask.of(rule, alpha, empty, confidence=confidence, next_rows=next_rows, all_groups=all_groups)
    kept = (keep,) if isinstance(keep, str) else tuple(keep)
    if is_frame(probs):
        return dask_frames.predict(probs, task, Layout(None, groups, ids, keep=kept, weights=weights), columns)
    if columns is not None or kept:
        raise KindError.argument("columns and keep", "None if probs is an array", columns or kept)
    return dask_arrays.predict(probs, task, {"groups": groups, "ids": ids, "weights": weights})
