"""Rows of two sources, as users pass them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core import parallel
from rankset.errors import InputError, KindError, LabelError
from rankset.inputs.matrix import SUM_TO_ONE
from rankset.inputs.prepare import Prepared, prepare
from rankset.inputs.ragged import Ragged

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def two_sources(source: Any, target: Any, kind: str) -> tuple[Prepared, Prepared]:  # noqa: ANN401
    """Return outputs of old and of new rows, prepared; new rows must have the columns of the old ones."""
    names = ("source_outputs", "target_outputs")
    old = prepare(source, kind=kind)
    if old.kind == "decision":
        raise KindError.argument("kind", "a kind of probabilities or logits, because the fit uses probabilities", kind)
    new = _like(old, target, source, names)
    return old, new


def labelled_and_new(
    outputs: Any,  # noqa: ANN401
    labels: ArrayLike,
    target: Any,  # noqa: ANN401
    kind: str,
    classes: Iterable[object] | None,
) -> tuple[Prepared, Prepared]:
    """Return labelled rows, without those whose label is absent, and new rows, prepared."""
    if isinstance(outputs, Ragged) or isinstance(target, Ragged):
        expected = "a matrix with the same classes in all rows, because every class gets a factor"
        raise KindError.argument("fit_outputs and target_outputs", expected, "Ragged rows")
    old = prepare(outputs, labels, kind=kind, classes=classes)
    if old.kind not in SUM_TO_ONE:
        raise KindError.argument("kind", "'probs', 'logits' or 'binary', because one label of each row is true", kind)
    new = _like(old, target, outputs, ("fit_outputs", "target_outputs"))
    if old.absent is not None:
        old = old.take(np.flatnonzero(~old.absent))
    columns = np.unique(columns_of(old))
    if len(columns) == 0:
        raise InputError.too_few_rows_of_source("fit_outputs", 1, 0)
    if len(columns) == 1:
        raise InputError.one_class(old.classes.values[int(columns[0])])
    return old, new


def columns_of(data: Prepared) -> Ints:
    """Return the columns of the labels of rows that have labels."""
    if data.labels is None:
        raise LabelError.not_one_dimensional("fit_labels", "NoneType")
    return data.labels


def probabilities(data: Prepared) -> Floats:
    """Return the probabilities of all rows (n, K)."""
    parts = parallel.map_blocks(data.rows, len(data), data.n_columns)
    return np.concatenate(parts).astype(np.float64)


def _like(old: Prepared, target: Any, source: Any, names: tuple[str, str]) -> Prepared:  # noqa: ANN401
    """Return new rows, prepared as the old ones; raise an error if one of both is empty, or if they are the same."""
    if target is source:
        raise InputError.same_rows(*names)
    ragged = old.counts is not None or isinstance(target, Ragged)
    new = prepare(target, kind=old.kind, classes=None if ragged else old.classes)
    for name, rows in zip(names, (old, new), strict=True):
        if not len(rows):
            raise InputError.too_few_rows_of_source(name, 1, 0)
    if old.matrix.shape == new.matrix.shape and np.array_equal(old.matrix, new.matrix):
        raise InputError.same_rows(*names)
    return new
