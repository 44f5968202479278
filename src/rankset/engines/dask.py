"""The same rule on Dask: arrays and data frames, with any scheduler.

    rule = rankset.engines.dask.calibrate(probs, labels)                    # dask arrays, rows in chunks
    mask = rankset.engines.dask.predict(rule, new_probs, alpha=0.1)         # lazy (n, K) booleans

    rule = rankset.engines.dask.calibrate(frame, "label", groups="site")    # a column per class, or one of lists
    sets = rankset.engines.dask.predict(rule, new_frame, alpha=0.1, groups="site")   # lazy: labels, size, top

Every chunk becomes a rule on the worker that holds it; rules are merged sixteen at a time. Workers send 8 bytes per row
and key (RANK has two keys). What is sent to workers is in ``worker_tasks``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import dask.array as da

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha
from rankset.engines import dask_arrays, dask_frames
from rankset.engines.partial_rules import final_rule
from rankset.engines.worker_tasks import CalibrationTask, PredictionTask
from rankset.errors import KindError
from rankset.inputs.matrix import Kind
from rankset.io.layout import Layout
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.scores import Rank, Score

RowValues = Any
"""Labels, groups or ids. Of a frame: the name of a column. Of an array: an array with a value per row."""


def calibrate(
    probs: Any,
    labels: RowValues,
    *,
    score: Score = Rank(),  # noqa: B008
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    columns: str | Sequence[str] | None = None,
    groups: RowValues | None = None,
    ids: RowValues | None = None,
    seed: int = 0,
) -> Rule:
    """Return the rule that ``rankset.calibrate`` gives for all rows, byte for byte.

    It is computed at once, with the current scheduler of Dask.

    Parameters
    ----------
    probs : dask array (n, K) or dask frame
        Model outputs. A frame has a column per class, or one column of lists.
    labels : array, series or str
        True label of every row; for a frame the name of a column.
    score, condition, kind, classes, seed
        As in ``rankset.calibrate``.
    columns : str or sequence of str, optional
        Columns of a frame that hold scores; by default all except labels, groups and ids.
    groups, ids : array, series or str, optional
        Group and id of every row; for a frame names of columns.

    Returns
    -------
    Rule

    Raises
    ------
    RanksetError
        As ``rankset.calibrate``; the message names the partition.

    Examples
    --------
    >>> import dask.array as da, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.engines.dask.calibrate(da.from_array(probs, chunks=(100, -1)), labels)
    >>> rule == rs.calibrate(probs, labels)
    True
    """
    task = CalibrationTask.of(score, condition, kind, classes, seed)
    if not _is_frame(probs) and columns is not None:
        raise KindError.argument("columns", "None if probs is an array", columns)
    if _is_frame(probs):
        merged = dask_frames.calibrate(probs, task, Layout(labels, groups, ids), columns)
    else:
        merged = dask_arrays.calibrate(probs, task, labels, groups, ids)
    return final_rule(merged)


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
) -> Any:
    """Return the sets that ``rule.predict`` gives, lazily.

    Parameters
    ----------
    rule : Rule
    probs : dask array (n, K) or dask frame
        Model outputs, as in ``calibrate``.
    alpha : float, str or Fraction
        Tolerated miss rate.
    columns, groups, ids
        As in ``calibrate``.
    empty : {"allow", "top"}
        Keep empty sets, or give them the most likely label.
    keep : sequence of str
        Columns of a frame that are copied to the answer, before those of the sets.

    Returns
    -------
    dask array or dask frame
        For an array booleans (n, K): which labels are in which set. For a frame its index, the kept columns, and the
        columns labels (a list, most likely first), size and top.

    Raises
    ------
    RanksetError
        As ``rule.predict``; errors about rows come when the answer is computed, and name the partition.

    Examples
    --------
    >>> import dask.array as da, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs, labels)
    >>> rs.engines.dask.predict(rule, da.from_array(probs, chunks=(100, -1)), alpha=0.1).compute().shape
    (260, 4)
    """
    task, kept = PredictionTask.of(rule, alpha, empty), (keep,) if isinstance(keep, str) else tuple(keep)
    if _is_frame(probs):
        return dask_frames.predict(probs, task, Layout(None, groups, ids, keep=kept), columns)
    if columns is not None or kept:
        raise KindError.argument("columns and keep", "None if probs is an array", columns or kept)
    return dask_arrays.predict(probs, task, groups, ids)


def _is_frame(values: Any) -> bool:
    if isinstance(values, da.Array):
        return False
    if hasattr(values, "to_delayed") and hasattr(values, "npartitions") and hasattr(values, "columns"):
        return True
    raise KindError.argument("probs", "a dask array or a dask data frame", type(values).__name__)
