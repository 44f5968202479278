"""Columns of Dask and Spark frames: which of them hold scores, and partitions of a frame as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankset.engines.worker_tasks import Partition
from rankset.errors import NOWHERE, FileError, Place, located
from rankset.inputs.matrix import Kind
from rankset.io.columns import Columns
from rankset.io.layout import Layout
from rankset.io.sets_table import check_kept_names, sets_table
from rankset.sets import PredictionSets


def score_columns(
    names: Sequence[str], layout: Layout, columns: str | Sequence[str] | None, classes: Sequence[object] | None = None
) -> list[str]:
    """Columns that hold scores: ``columns`` if given, else those named like ``classes``, else all that are left."""
    apart = [name for name in (layout.label, layout.group, layout.identity, *layout.keep) if name is not None]
    given = None if columns is None else [columns] if isinstance(columns, str) else [str(name) for name in columns]
    if given is None and classes is not None and {str(name) for name in classes} <= set(names):
        given = [str(name) for name in classes]
    picked = [name for name in names if name not in apart] if given is None else list(given)
    for name in (*picked, *apart):
        if name not in names:
            raise FileError.no_column("", name, names)
    if not picked:
        raise FileError.no_scores("", names)
    return picked


def partition_of(
    columns: Columns,
    layout: Layout,
    first_row: int = 0,
    *,
    where: Place = NOWHERE,
    classes: Sequence[object] | None = None,
    kind: Kind = "probs",
) -> Partition:
    """Return the rows of a table that is in memory."""
    with located(where, first_row):
        rows = layout.rows_of(columns, classes=classes, kind=kind)
        rows.check_order(classes)
        rows = rows.with_labels_of(classes)
    return Partition(rows.scores, rows.marked_labels, rows.groups, rows.ids, where, first_row)


def kept_and_sets(table: Any, sets: PredictionSets, kept: Sequence[str]) -> Any:
    """Return an Arrow table with the ``kept`` columns of a table, then the columns of its sets."""
    answer = sets_table(sets)
    check_kept_names(kept)
    for place, name in enumerate(kept):
        answer = answer.add_column(place, name, table.column(name))
    return answer
