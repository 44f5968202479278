"""Labels of rows that can have several of them: 0/1 matrices, or lists of labels, as sorted columns row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import object_array
from rankset.errors import InputError, KindError, LabelError
from rankset.errors.label_lists import SEPARATORS
from rankset.inputs import frames, tensors
from rankset.inputs.labels_of_rows import LabelLists
from rankset.inputs.matrix import is_masked
from rankset.inputs.options import option_codes
from rankset.inputs.per_row import is_missing, label_codes
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Array, Names

Ints = NDArray[np.int64]
Result = TypeVar("Result")

NONE = np.zeros(0, dtype=np.int64)
NUMBERS = (int, float, np.integer, np.floating, np.bool_)
BOOLEANS = (bool, np.bool_)


def label_lists(
    labels: Any,  # noqa: ANN401
    classes: Names,
    n_rows: int,
    index: RowIndex,
    *,
    name: str = "labels",
    by_position: bool = False,
    counts: Ints | None = None,
) -> LabelLists:
    """Return the labels of each row.

    Parameters
    ----------
    labels : a matrix (n, K) of 0 and 1, dense or sparse; a frame with one such column per class; or a list of lists,
        tuples, sets or arrays of class names or column numbers, also as a column of lists. A list of booleans says of
        every class whether it is a label.
    classes : the names of the columns.
    n_rows, index : the number of rows, and their index.
    by_position : columns have no names of their own, so integers are column numbers if no class is called by one.
    counts : number of candidates of each row, if rows have different numbers of them.

    Raises
    ------
    LabelError : if labels are anything else, or unknown, or repeated within a row.
    """
    if is_masked(labels):
        raise KindError.not_names(name, "a masked array", "Fill the masked entries, or drop their rows.")
    if frames.is_frame(labels):
        column = frames.only_column(labels) if len(classes) != 1 or _holds_lists(labels) else None
        if column is None:
            matrix, _, _ = frames.match_columns(labels, classes.values, name)
            index.check(labels, name)
            return lists_of_matrix(matrix, (n_rows, len(classes)), name)
        labels = column
    if hasattr(labels, "tocsr") and hasattr(labels, "nnz"):
        return _from_sparse(labels, (n_rows, len(classes)), name)
    array = _array(labels)
    if array is not None and array.ndim == 2 and array.dtype.kind in "biuf":
        return lists_of_matrix(array, (n_rows, len(classes)), name)
    rows = _lists(labels, array, n_rows, index, name)
    widths = np.full(n_rows, len(classes)) if counts is None else counts
    marked = None if _have_booleans([classes.values]) else _from_booleans(rows, widths, name)
    return _from_lists(rows, classes, name, by_position=by_position) if marked is None else marked


def _holds_lists(frame: Any) -> bool:  # noqa: ANN401
    """Return whether the only column of a frame holds lists."""
    column = frames.only_column(frame)
    first = next(iter(column.to_list() if hasattr(column, "to_list") else column.to_pylist()), None)
    return isinstance(first, Iterable) and not isinstance(first, str | bytes)


def _array(labels: Any) -> Array | None:  # noqa: ANN401
    """Return arrays and tensors as arrays; None for lists and everything else."""
    plain = tensors.unwrap(labels)
    if not hasattr(plain, "ndim") or not hasattr(plain, "dtype") or plain.ndim == 1:
        return None
    array = np.asarray(plain)
    numbers = array.dtype.kind == "O" and all(isinstance(one, NUMBERS) for one in array.flat)
    return array.astype(np.float64) if numbers else array


def lists_of_matrix(array: Array, shape: tuple[int, int], name: str = "labels") -> LabelLists:
    """Return the labels of a matrix of 0 and 1."""
    if array.shape != shape:
        if array.ndim == 2 and array.shape[1] == shape[1]:
            raise InputError.length(name, shape[0], len(array))
        raise LabelError.indicator_shape(name, shape, array.shape)
    mask = array.astype(np.bool_)
    wrong = mask != array
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        if is_missing(array[row, column]):
            raise InputError.missing(name, row, column)
        raise LabelError.not_indicator(name, row, column, array[row, column].item())
    return LabelLists.of_mask(mask)


def _from_sparse(matrix: Any, shape: tuple[int, int], name: str) -> LabelLists:  # noqa: ANN401
    """Return the labels of a sparse matrix of 0 and 1."""
    if tuple(matrix.shape) != shape:
        raise LabelError.indicator_shape(name, shape, tuple(matrix.shape))
    wide = matrix if matrix.dtype.kind == "b" else matrix.astype(np.float64)  # sums of small integers overflow
    rows = wide.tocsr().copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    rows.sort_indices()
    wrong = np.asarray(rows.data) != 1
    if wrong.any():
        place = int(wrong.argmax())
        row = int(np.searchsorted(rows.indptr, place, "right")) - 1
        value = rows.data[place].item()
        raise LabelError.not_indicator(name, row, int(rows.indices[place]), int(value) if value % 1 == 0 else value)
    return LabelLists(rows.indptr.astype(np.int64), rows.indices.astype(np.int64))


def _lists(labels: Any, array: Array | None, n_rows: int, index: RowIndex, name: str) -> list[list[Any]]:  # noqa: ANN401
    """Return one list of labels per row."""
    if array is not None:
        raise LabelError.one_label_per_row(name, f"an array of shape {array.shape}")
    if isinstance(labels, str | bytes | Mapping) or not isinstance(labels, Iterable):
        raise LabelError.one_label_per_row(name, f"a {type(labels).__name__}")
    rows = labels.to_pylist() if hasattr(labels, "to_pylist") else list(labels)
    if len(rows) != n_rows:
        raise InputError.length(name, n_rows, len(rows))
    index.check(labels, name)
    if rows and not any(_is_list(row) for row in rows):
        raise _joined_names(rows, name) or LabelError.one_label_per_row(name, "one label per row")
    for row, entry in enumerate(rows):
        if not _is_list(entry):
            raise LabelError.no_list(name, row, entry)
        if isinstance(entry, AbstractSet) and _have_booleans([entry]):
            raise LabelError.booleans(name, row, "a set, which has no order")
    return [list(row) for row in rows]


def _joined_names(rows: list[Any], name: str) -> LabelError | None:
    """Return the error for texts with separators in them; None if there are none."""
    texts = [row for row in rows if isinstance(row, str)]
    found = ((text, sep) for sep in SEPARATORS for text in texts if sep in text)
    text, sep = next(found, ("", ""))
    return LabelError.joined_names(name, text, sep) if sep and len(texts) == len(rows) else None


def _is_list(entry: object) -> bool:
    """Return whether ``entry`` can be the labels of a row."""
    return (
        isinstance(entry, Iterable) and not isinstance(entry, str | bytes | Mapping) and getattr(entry, "ndim", 1) == 1
    )


def _have_booleans(rows: Iterable[Iterable[Any]]) -> bool:
    """Return whether a label is True or False."""
    return not {type(label) for row in rows if not isinstance(row, range) for label in row}.isdisjoint(BOOLEANS)


def _from_booleans(rows: list[list[Any]], widths: Ints, name: str) -> LabelLists | None:
    """Return the labels of lists with one boolean for each of the ``widths`` classes; None if there are no booleans."""
    if not _have_booleans(rows):
        return None
    for row, (marks, width) in enumerate(zip(rows, widths.tolist(), strict=True)):
        if not all(isinstance(mark, BOOLEANS) for mark in marks):
            raise LabelError.booleans(name, row, "booleans beside other labels")
        if len(marks) != width:
            raise LabelError.booleans(name, row, f"{len(marks)} booleans for {width} classes")
    codes = [[place for place, mark in enumerate(marks) if mark] for marks in rows]
    offsets = np.cumsum([0, *(len(row) for row in codes)], dtype=np.int64)
    return LabelLists(offsets, np.array([code for row in codes for code in row], dtype=np.int64))


def _from_lists(rows: list[list[Any]], classes: Names, name: str, *, by_position: bool) -> LabelLists:
    """Return the labels of lists of class names or column numbers."""
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    number = np.repeat(np.arange(len(rows)), sizes)
    values = _narrowed([label for row in rows for label in row])
    _refuse_zeros_and_ones(rows, len(classes), name)
    if getattr(values, "dtype", np.dtype("O")).kind == "O":  # not all are integers
        _refuse_missing(rows, name)

    def codes() -> Ints:
        return label_codes(values, classes, len(values), RowIndex(), name=name, by_position=by_position, several=True)

    return _sorted_lists(
        sizes, with_rows(codes, number) if len(values) else NONE, name, lambda _, code: classes.values[code]
    )


def _sorted_lists(sizes: Ints, codes: Ints, name: str, name_of: Callable[[int, int], object]) -> LabelLists:
    """Return labels in ascending order; raise an error for labels that are repeated within a row."""
    number = np.repeat(np.arange(len(sizes)), sizes)
    if (codes < 0).any():
        raise LabelError.absent_among_several(name, int(number[int((codes < 0).argmax())]))
    codes = codes[np.lexsort((codes, number))]
    twice = (np.diff(codes) == 0) & (np.diff(number) == 0)
    if twice.any():
        row = int(number[int(twice.argmax())])
        same = codes[:-1][twice & (number[:-1] == row)]
        raise LabelError.repeated(name, row, [name_of(row, code) for code in same.tolist()])
    return LabelLists(np.concatenate(([0], sizes.cumsum())).astype(np.int64), codes)


def with_rows(codes: Callable[[], Result], number: Ints) -> Result:
    """Return ``codes()``; an error about a label tells the row that has it."""
    try:
        return codes()
    except LabelError as error:
        error.where = error.where.at_row(None if error.where.row is None else int(number[error.where.row]))
        raise


def _narrowed(flat: list[Any]) -> Any:  # noqa: ANN401
    """Return labels as an array if all of them are integers, as they are otherwise."""
    kinds = {type(label) for label in flat}
    if all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        return np.array([int(label) for label in flat])
    return flat if len(kinds) == 1 else object_array(flat)


def _refuse_missing(rows: list[list[Any]], name: str) -> None:
    """Raise an error for the first row with a missing label."""
    for row, labels in enumerate(rows):
        if any(is_missing(label) for label in labels):
            raise LabelError.missing_in_list(name, row)


def _refuse_zeros_and_ones(rows: list[list[Any]], n_columns: int, name: str) -> None:
    """Raise an error for lists that can be labels or rows of a 0/1 matrix: never guess."""
    if len(rows) == 0 or any(len(row) != n_columns for row in rows) or n_columns < 2:
        return
    if all(isinstance(label, NUMBERS) and label in (0, 1) for row in rows for label in row):
        raise LabelError.zeros_and_ones(name, n_columns)


def option_lists(labels: Any, options: Array, index: RowIndex, *, name: str = "labels") -> LabelLists:  # noqa: ANN401
    """Return the labels of rows whose candidates have names: lists of names of their candidates.

    ``options`` is an array (n, K) with None as padding.
    """
    rows = _lists(labels, _array(labels), len(options), index, name)
    widths = np.array([sum(option is not None for option in row) for row in options.tolist()], dtype=np.int64)
    marked = None if _have_booleans(options.tolist()) else _from_booleans(rows, widths, name)
    if marked is not None:
        return marked
    _refuse_missing(rows, name)
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    number = np.repeat(np.arange(len(rows)), sizes)
    flat = [label for row in rows for label in row]

    def codes() -> Ints:
        return option_codes(object_array(flat), options[number], RowIndex(), name=name)

    return _sorted_lists(sizes, with_rows(codes, number) if flat else NONE, name, lambda row, code: options[row][code])
