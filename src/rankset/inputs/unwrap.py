"""Rows as users hold them: arrays, frames, dictionaries, ``Ragged`` rows and outputs of Hugging Face, opened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.inputs import frames, huggingface, named_rows
from rankset.inputs.frames import ARRAY, Template
from rankset.inputs.ragged import Ragged
from rankset.inputs.row_index import RowIndex, index_of
from rankset.inputs.single_row import with_names
from rankset.inputs.vocabulary import Array, in_order

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Unwrapped:
    """An array-like of rows, and what the object that held it says about classes, candidates and index."""

    values: Any
    classes: Iterable[object] | None
    template: Template = ARRAY
    counts: Ints | None = None
    index: RowIndex = field(default_factory=RowIndex)
    options: Array | None = None
    by_position: bool = False


def unwrap(values: Any, classes: Iterable[object] | None, kind: str) -> Unwrapped:  # noqa: ANN401
    """Return rows with one column per class; columns that have names are put into the order of ``classes``."""
    if type(values) is np.ndarray and values.dtype.kind != "O":
        return Unwrapped(values, classes, by_position=True)
    values = with_names(named_rows.from_structs(huggingface.unwrap(values)))
    if frames.is_frame(values):
        match = frames.second_class if kind == "binary" else frames.match_columns
        matrix, names, template = match(values, classes)
        return Unwrapped(matrix, names, template, index=RowIndex(template.index, numbered=template.numbered))
    index = index_of(values)
    if huggingface.is_scored(values if index is None else _first_entries(values)):
        listed = values if index is None else list(values)
        return Unwrapped(*huggingface.match_columns(listed, classes), Template(index=index), index=RowIndex(index))
    if isinstance(values, Ragged):
        known = None if classes is None else in_order(classes)
        matrix = values._as_wide_as(len(known or ()) or values.values.shape[1])
        names, template = values._names_as_wide_as(matrix.shape[1]), values.template
        rows = RowIndex(template.index, numbered=template.numbered)
        return Unwrapped(matrix, known, template, values.counts, rows, names)
    if named_rows.are_named(values):
        columns = named_rows.match_columns(values, classes, kind)
        return Unwrapped(*columns, Template(index=index), index=RowIndex(index))
    return Unwrapped(values, classes, Template(index=index), index=RowIndex(index), by_position=True)


def _first_entries(series: Any) -> list[Any]:  # noqa: ANN401
    """Return the first entry of a series in a list; [] for a series of numbers or without entries."""
    return list(islice(series, 1)) if getattr(getattr(series, "dtype", None), "kind", "") == "O" else []
