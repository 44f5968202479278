"""Write sets as parquet (``.parquet``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from rankset.errors import FileError, needs_extra
from rankset.io.sets_table import SET_COLUMNS, sets_table
from rankset.io.writers.base import KeptColumns, Writer
from rankset.sets import PredictionSets

MAX_TEXT_BYTES = 32 << 20
"""Most bytes of kept texts that are written at once."""


class Parquet(Writer):
    """The columns of ``PredictionSets.to_frame``."""

    def __init__(self, file: Any, path: str) -> None:
        super().__init__(file, path)
        self.writer: Any = None

    def add(self, sets: PredictionSets, kept: KeptColumns) -> None:
        own = sets_table(sets)
        self.add_columns({name: own.column(name) for name in SET_COLUMNS}, kept)

    def add_columns(self, own: KeptColumns, kept: KeptColumns) -> None:
        with needs_extra("Arrow tables"):
            import pyarrow as pa
        step, rows = _rows_at_once(kept.values()), len(next(iter(own.values())))
        for start in range(0, max(1, rows), step):
            part = slice(start, start + step)
            some = {name: _with_one_text_type(column[part]) for name, column in kept.items()}
            try:
                self._write(pa.table({**some, **{name: column[part] for name, column in own.items()}}), some)
            except pa.ArrowException as error:
                raise FileError.unwritable(self.path, " ".join(str(error).split())[:200]) from None

    def _write(self, table: Any, kept: KeptColumns) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        if self.writer is None:  # a column without values so far counts as one of texts
            kinds = [pa.string() if pa.types.is_null(field.type) else field.type for field in table.schema]
            schema = pa.schema(list(zip(table.column_names, kinds, strict=True)))
            self.writer = parquet.ParquetWriter(self.file, schema)
        for name in kept:
            expected, received = self.writer.schema.field(name).type, table.schema.field(name).type
            if expected != received and not pa.types.is_null(received):
                raise FileError.other_type(name, expected, received)
        self.writer.write_table(table.cast(self.writer.schema))

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def _rows_at_once(columns: Iterable[Any]) -> int:
    """Number of rows to write at once: repeated texts are one text in memory, and many in what is written."""
    longest = [_longest_text(column) for column in columns if not isinstance(column, np.ndarray)]
    return max(1, MAX_TEXT_BYTES // max([1, *longest]))


def _longest_text(column: Any) -> int:
    """Bytes of the longest text in a column of repeated texts; 0 for other columns."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_dictionary(column.type) or pa.types.is_nested(column.type.value_type):
        return 0
    sizes = [compute.max(compute.binary_length(_texts(chunk.dictionary))).as_py() for chunk in column.chunks]
    return max([0, *(size for size in sizes if size)])


def _texts(words: Any) -> Any:
    """An Arrow array of texts as it is; an empty one for other types."""
    import pyarrow as pa

    texts = pa.types.is_string(words.type) or pa.types.is_large_string(words.type) or pa.types.is_binary(words.type)
    return words if texts else pa.array([], pa.string())


def _with_one_text_type(column: Any) -> Any:
    """A kept column; all types that Arrow has for texts become one."""
    import pyarrow as pa

    if isinstance(column, np.ndarray):
        return column
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return column.cast(pa.string()) if texts else column
