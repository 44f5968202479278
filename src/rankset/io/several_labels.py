"""Labels of rows that can have several of them, in files: lists, names separated by a mark, and 0/1 matrices."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import object_array
from rankset.errors import FileError, InputError, LabelError
from rankset.inputs.label_lists import lists_of_matrix
from rankset.inputs.labels_of_rows import LabelLists
from rankset.inputs.per_row import is_missing
from rankset.io.arrow_to_numpy import is_list, names_or_numbers
from rankset.io.parse_cells import MISSING, parse_names

if TYPE_CHECKING:
    from rankset.io.columns import Columns

Ints = NDArray[np.int64]
Shape = tuple[int, int]

MARKS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
"""Texts of a 0/1 matrix."""


class LabelsRead(NamedTuple):
    """Labels of a file: one per row; or those of all rows, one after the other, and the number of labels of each row.

    A 0/1 matrix whose columns have no names is ``labels`` itself, of booleans, if those of the scores have none either.
    ``columns`` are the names of the columns of a 0/1 matrix, which must be the classes.
    """

    labels: NDArray[Any] | None
    sizes: Ints | None = None
    columns: Sequence[str] | None = None


def read_several(
    columns: Columns,
    name: str | None,
    apart: Collection[str],
    *,
    sep: str,
    shape: Shape | None,
    names: Sequence[str] | None,
    order: Sequence[str] | None,
) -> LabelsRead:
    """Return the labels of rows that can have several.

    Parameters
    ----------
    columns : the file of labels, or the file of scores if the labels are one of its columns.
    name : the column of labels; None if the file holds nothing else but the columns ``apart``.
    sep : separates the names in a cell.
    shape : the number of rows and classes; None if every row has candidates of its own.
    names : the names of the columns of scores; None if they have none.
    order : the same in the order of the file of scores; None if its rows have several orders.
    """
    if columns.table is None:
        return _of_array(_array(columns, name), columns.path, sep, shape, names, order)
    if name is not None and name not in columns.names:
        raise FileError.no_column(columns.path, name, columns.names)
    own = [name] if name is not None else columns.names_without(apart)
    if len(own) != 1:
        return _of_named_columns(columns, own, shape, names)
    found = _of_column(columns, own[0], sep)
    if columns.is_text and shape and found.sizes is not None and 0 < len(found.sizes) < shape[0]:
        raise FileError.label_lines(columns.path, shape[0], len(found.sizes))
    called = {name.lower() for name in names or ()}
    if found.labels is not None and found.labels.dtype.kind == "b" and shape and called.isdisjoint(("true", "false")):
        return _of_array(_booleans(found, shape), columns.path, sep, shape, names, order)
    _refuse_zeros_and_ones(found, shape)
    return found


def _array(columns: Columns, name: str | None) -> NDArray[Any]:
    """Return the array of labels of a file without a table."""
    if columns.archive is None:
        return np.asarray(columns.matrix)
    if name is None and len(columns.names) != 1:
        raise FileError.one_column(columns.path, columns.names)
    return columns.archive.read(columns.names[0] if name is None else name)


def _of_array(
    array: NDArray[Any],
    path: str,
    sep: str,
    shape: Shape | None,
    names: Sequence[str] | None,
    order: Sequence[str] | None,
) -> LabelsRead:
    """Return labels that are an array: a 0/1 matrix in the order of the columns of scores, or texts."""
    if array.ndim == 1 and array.dtype.kind == "U":
        return _split(array.tolist(), path, "labels", sep, whole=False)
    if array.ndim != 2 or array.dtype.kind not in "biuf" or shape is None:
        raise LabelError.one_label_per_row("labels", f"an array of {array.dtype} of shape {array.shape}")
    lists = lists_of_matrix(array, shape)
    if names is None:
        return LabelsRead(lists.mask(shape[1]))
    if order is None:
        raise LabelError.lines_in_several_orders(path)
    return LabelsRead(object_array(order)[lists.codes], lists.sizes)


def _of_named_columns(
    columns: Columns, names: Sequence[str], shape: Shape | None, classes: Sequence[str] | None
) -> LabelsRead:
    """Return labels that are a table with one column of 0 and 1 for every class."""
    if shape is None:
        raise FileError.one_column(columns.path, columns.names)
    try:
        lists = _lists_of_columns(columns, names, shape[0])
    except (InputError, LabelError) as error:
        others = [name for name in names if name not in (classes or names)]
        if error.where.column in others and len(others) + len(classes or ()) == len(names):
            raise FileError.label_columns(columns.path, [], others) from None
        raise
    return LabelsRead(parse_names(names, whole=True)[lists.codes], lists.sizes, names if columns.has_names else None)


def marks_of_columns(columns: Columns, names: Sequence[str], n_rows: int) -> NDArray[np.bool_]:
    """Return the columns ``names`` of 0 and 1 as a matrix (n, K) of booleans."""
    return _lists_of_columns(columns, names, n_rows).mask(len(names))


def _lists_of_columns(columns: Columns, names: Sequence[str], n_rows: int) -> LabelLists:
    """Return the labels of columns of 0 and 1; errors name the column."""
    array = _marks(columns, names) if columns.is_text else columns.numbers(names)
    try:
        return lists_of_matrix(array, (n_rows, len(names)))
    except (InputError, LabelError) as error:
        place = error.where.column
        error.where = error.where.in_column(names[place] if isinstance(place, int) else place)
        raise


def _marks(columns: Columns, names: Sequence[str]) -> NDArray[np.bool_]:
    """Return a 0/1 matrix that is written as texts."""
    marks = np.empty((len(columns.table), len(names)), dtype=np.bool_)
    for place, name in enumerate(names):
        for row, cell in enumerate(columns.text_column(name).tolist()):
            if cell in MISSING or cell is None:
                raise FileError.missing_cell(columns.path, name, row)
            mark = MARKS.get(cell.strip().lower())
            if mark is None:
                raise LabelError.not_indicator("labels", row, name, cell)
            marks[row, place] = mark
    return marks


def _of_column(columns: Columns, name: str, sep: str) -> LabelsRead:
    """Return labels that are one column: lists, or texts with names that ``sep`` separates."""
    import pyarrow as pa

    column = columns.table.column(name)
    if not len(column):  # nothing is known about the type of an empty column
        return LabelsRead(object_array([]), np.zeros(0, dtype=np.int64))
    if is_list(column.type):
        return _of_lists(columns, name, column)
    texts = columns.column(name) if not columns.is_text else columns.text_column(name)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)):
        raise LabelError.one_label_per_row("labels", f"a column of {kind}")
    return _split(texts.tolist(), columns.path, name, sep, whole=columns.is_text)


def _of_lists(columns: Columns, name: str, column: Any) -> LabelsRead:
    """Return labels that are a column of lists."""
    if column.null_count:
        raise FileError.missing_cell(columns.path, name, int(np.asarray(column.is_null()).argmax()))
    columns.budget.check(columns.table.nbytes + 2 * column.nbytes + 24 * len(column))
    import pyarrow as pa
    from pyarrow import compute

    sizes = np.asarray(compute.list_value_length(column), dtype=np.int64)
    flat = pa.chunked_array([chunk.flatten() for chunk in column.chunks], type=column.type.value_type)
    if flat.type.num_fields:
        raise FileError.nested(columns.path, name, str(column.type))
    labels = names_or_numbers(flat, columns.budget, whole=False) if len(flat) else object_array([])
    gone = labels.dtype.kind in "Of" and [place for place, label in enumerate(labels.tolist()) if is_missing(label)]
    if gone:
        raise LabelError.missing_in_list("labels", int(np.repeat(np.arange(len(sizes)), sizes)[gone[0]]))
    return LabelsRead(labels, sizes)


def _split(cells: Sequence[Any], path: str, name: str, sep: str, *, whole: bool) -> LabelsRead:
    """Return the names in cells; an empty cell has none."""
    rows = [[part.strip() for part in cell.split(sep)] if cell and cell.strip() else [] for cell in cells]
    for row, parts in enumerate(rows):
        if "" in parts:
            raise FileError.label_cell(path, name, row, cells[row], sep)
    sizes = np.array([len(parts) for parts in rows], dtype=np.int64)
    return LabelsRead(parse_names(list(chain.from_iterable(rows)), whole=whole), sizes)


def _booleans(found: LabelsRead, shape: Shape) -> NDArray[np.bool_]:
    """Return lists of booleans, one for every class, as a matrix (n, K)."""
    labels, sizes = np.asarray(found.labels), np.asarray(found.sizes)
    wrong = sizes != shape[1]
    if wrong.any():
        row = int(wrong.argmax())
        raise LabelError.booleans("labels", row, f"{sizes[row]} booleans for {shape[1]} classes")
    return labels.reshape(len(sizes), shape[1])


def _refuse_zeros_and_ones(found: LabelsRead, shape: Shape | None) -> None:
    """Raise an error for lists that can be labels or rows of a 0/1 matrix: never guess."""
    labels, sizes = found.labels, found.sizes
    if (
        labels is None
        or sizes is None
        or shape is None
        or shape[1] < 2
        or not len(sizes)
        or labels.dtype.kind not in "biuf"
    ):
        return
    if (sizes == shape[1]).all() and np.isin(labels, (0, 1)).all():
        raise LabelError.zeros_and_ones("labels", shape[1])
