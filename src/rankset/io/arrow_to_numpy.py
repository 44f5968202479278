"""Arrow columns as NumPy arrays: numbers, lists of numbers, texts. Errors name the file, the column and the row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import object_array
from rankset.errors import FileError
from rankset.io.memory_budget import Budget
from rankset.io.parse_cells import TEXT_BYTES, parse_names


def is_list(kind: Any) -> bool:
    """Whether an Arrow type is one of lists."""
    import pyarrow as pa

    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def number_dtype(path: str, field: Any) -> np.dtype[Any]:
    """NumPy type of a column of numbers."""
    import pyarrow as pa

    if pa.types.is_decimal(field.type):
        return np.dtype(float)
    if not (pa.types.is_floating(field.type) or pa.types.is_integer(field.type) or pa.types.is_boolean(field.type)):
        raise FileError.not_numbers(path, field.name, str(getattr(field.type, "value_type", field.type)))
    return np.dtype(field.type.to_pandas_dtype())


def numbers(path: str, name: str, column: Any, first: int, width: int = 1) -> NDArray[Any]:
    """Numbers of an Arrow array with ``width`` values per row; ``first`` is the number of its first row."""
    import pyarrow as pa

    if column.null_count:
        raise FileError.missing_cell(path, name, first + int(np.asarray(column.is_null()).argmax()) // width)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return to_numpy(column)


def to_numpy(column: Any) -> NDArray[Any]:
    """Values of an Arrow array; numbers without a copy, by a way on which pyarrow does not import pandas."""
    import pyarrow as pa

    numeric = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
    if numeric and len(column) and not column.null_count:
        return np.from_dlpack(column)
    return column.to_numpy(zero_copy_only=False)


def matrix_of_columns(table: Any, kind: Any, numbers_of: Callable[[str, Any, int], NDArray[Any]]) -> NDArray[Any]:
    """Matrix of the columns of a table; ``numbers_of`` gets the name, some rows and the number of the first of them."""
    matrix, first = np.empty((len(table), table.num_columns), dtype=kind), 0
    for batch in table.to_batches():
        rows = matrix[first : first + len(batch)]
        for place, (name, column) in enumerate(zip(table.column_names, batch.columns, strict=True)):
            rows[:, place] = numbers_of(name, column, first)
        first += len(batch)
    return matrix


def matrix_of_lists(path: str, name: str, column: Any) -> NDArray[Any]:
    """Matrix of a column of lists of one length; without a copy if the column is one chunk."""
    import pyarrow as pa

    kind = number_dtype(path, pa.field(name, column.type.value_type))
    width, first = 0, 0
    matrix: NDArray[Any] | None = None
    for chunk in (chunk for chunk in column.chunks if len(chunk)):
        if chunk.null_count:
            raise FileError.missing_cell(path, name, first + int(np.asarray(chunk.is_null()).argmax()))
        width = width if first else len(chunk[0])
        if not width:
            raise FileError.empty_lists(path, name, first)
        if not pa.types.is_fixed_size_list(chunk.type):  # their rows may take no bytes in the file, lengths would
            differ = np.asarray(chunk.value_lengths().to_numpy(zero_copy_only=False)) != width
            if differ.any():
                raise FileError.ragged(path, name, first + int(differ.argmax()))
        rows = numbers(path, name, chunk.flatten(), first, width).reshape(len(chunk), width)
        if len(chunk) == len(column):
            return rows
        matrix = np.empty((len(column), width), dtype=kind) if matrix is None else matrix
        matrix[first : first + len(chunk)] = rows
        first += len(chunk)
    return np.empty((0, 0), dtype=kind) if matrix is None else matrix


def names_or_numbers(column: Any, budget: Budget, *, whole: bool) -> NDArray[Any]:
    """Values of a column of labels, groups or ids; texts as Python objects, one for every distinct text.

    If ``whole``, texts become integers where all of them are whole numbers.
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind) and pa.types.is_primitive(kind.value_type):  # categories that are numbers or dates
        kind, column = kind.value_type, column.cast(kind.value_type)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = pa.chunked_array([column.cast(pa.large_string()).combine_chunks().dictionary_encode()])
    if pa.types.is_dictionary(column.type):
        parts = [_decode_dictionary(chunk, budget, whole=whole) for chunk in column.chunks]
        return np.concatenate(parts) if parts else object_array([])
    if column.null_count or pa.types.is_nested(kind):
        budget.check(16 * column.nbytes + TEXT_BYTES * len(column))
    joined = column.combine_chunks()
    if joined.null_count and not pa.types.is_nested(kind):
        return object_array(joined.to_pylist())
    return joined.to_numpy(zero_copy_only=False)


def _decode_dictionary(chunk: Any, budget: Budget, *, whole: bool) -> NDArray[Any]:
    """Values of a dictionary array."""
    import pyarrow as pa

    budget.check(chunk.dictionary.nbytes + TEXT_BYTES * len(chunk.dictionary))
    words = chunk.dictionary.to_pylist()
    places = chunk.indices.cast(pa.int64()).fill_null(len(words)).to_numpy(zero_copy_only=False)
    known = [*words, None] if chunk.indices.null_count else words
    return parse_names(known, whole=whole)[places]
