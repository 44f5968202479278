"""Score files of every usual kind, as columns: .npy, .npz, .csv, .tsv, .jsonl, .parquet and Arrow, packed or not.

NumPy and pyarrow do the reading; nothing is parsed by hand and nothing in a file is ever run. What a file says of
itself is checked against its size before memory is spent.
"""

from __future__ import annotations

import io
import math
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rankset.errors import FileError

STDIN = "-"
MOST_UNPACKED = 64 << 30
"""Bytes an .npz may unpack to."""
MOST_RATIO = 1100
"""How much smaller than its content a packed file can honestly be: deflate packs no better."""
DAMAGE = (
    OSError,
    ValueError,
    EOFError,
    MemoryError,
    OverflowError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    TypeError,
    LookupError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What libraries raise for files that are not what they say."""
ARROW = (".parquet", ".arrow", ".feather", ".csv", ".tsv", ".jsonl", ".ndjson")


@dataclass(frozen=True)
class Columns:
    """What a file holds: one matrix without names (npy, npz), or named columns."""

    path: str
    matrix: NDArray[Any] | None = None
    table: Any = None

    @property
    def names(self) -> list[str]:
        """The names of the columns; none where the file has none."""
        return [] if self.table is None else list(self.table.column_names)

    def column(self, name: str) -> NDArray[Any]:
        """One named column, as an array of its plain values."""
        if name not in self.names:
            raise FileError.no_column(self.path, name, self.names)
        try:
            return _plain(self.table.column(name))
        except UnicodeError as error:
            raise FileError.unreadable(self.path, str(error)) from None

    def scores(self, apart: Sequence[str] = ()) -> tuple[NDArray[Any], list[str] | None]:
        """The matrix of scores and the names of its columns, if it has names: all columns but those ``apart``.

        A single column of lists is a matrix without names.
        """
        if self.matrix is not None:
            return self.matrix, None
        names = [name for name in self.names if name not in apart]
        if not names:
            raise FileError.no_scores(self.path, self.names)
        if len(names) == 1 and _is_list(self.table.column(names[0])):
            return _from_lists(self.path, names[0], self.table.column(names[0])), None
        return np.column_stack([_numbers(self.path, name, self.table.column(name)) for name in names]), names

    def values(self) -> NDArray[Any]:
        """The one column of a file of labels, groups or names."""
        if self.matrix is not None:
            return self.matrix
        if len(self.names) != 1:
            raise FileError.one_column(self.path, self.names)
        return self.column(self.names[0])


def read(path: str, *, key: str | None = None, kind: str | None = None) -> Columns:
    """The columns of a file, or of standard input (``-``, of ``kind`` "csv", "jsonl", …, by default csv)."""
    if path == STDIN:
        return _stream(io.BytesIO(sys.stdin.buffer.read()), path, f".{kind or 'csv'}")
    file = Path(path)
    if not file.exists():
        raise FileError.missing(path)
    if not file.is_file():
        raise FileError.unreadable(path, "it is a directory or a device")
    suffix = f".{kind}" if kind else _suffix(file)
    if suffix not in (".npy", ".npz", *ARROW):
        raise FileError.unknown_kind(path, (".npy", ".npz", *ARROW))
    try:
        return _read(file, path, suffix, key)
    except FileError:
        raise
    except DAMAGE as error:
        raise FileError.unreadable(path, " ".join(str(error).split())[:200]) from None


def _read(file: Path, path: str, suffix: str, key: str | None) -> Columns:
    if suffix == ".npy":
        return Columns(path, _npy(file))
    if suffix == ".npz":
        return Columns(path, _npz(file, key))
    with file.open("rb") as stream:
        return _stream(stream, path, suffix, packed=file.suffix == ".gz")


def _suffix(file: Path) -> str:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    return suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else suffixes[-1] if suffixes else ""


def _npy(file: Path) -> NDArray[Any]:
    """A memory map: a header that promises more than the file holds is refused by NumPy."""
    try:
        return np.load(file, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        if "object" in str(error).lower() or "pickle" in str(error).lower():
            raise FileError.pickled(str(file)) from None
        raise


def _npz(file: Path, key: str | None) -> NDArray[Any]:
    with zipfile.ZipFile(file) as archive:
        entries = {
            info.filename.removesuffix(".npy"): info for info in archive.infolist() if info.filename.endswith(".npy")
        }
        if key is None and len(entries) != 1:
            raise FileError.which_key(str(file), sorted(entries))
        name = key if key is not None else next(iter(entries))
        if name not in entries:
            raise FileError.no_key(str(file), name, sorted(entries))
        info = entries[name]
        limit = min(MOST_UNPACKED, MOST_RATIO * max(1, info.compress_size) + 4096)
        if info.file_size > limit:
            raise FileError.bomb(str(file), name, info.compress_size, info.file_size)
        with archive.open(info) as stream:
            version = np.lib.format.read_magic(stream)
            head = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = head(stream)
            if dtype.hasobject:
                raise FileError.pickled(str(file))
            if math.prod(shape) * dtype.itemsize > info.file_size:
                raise FileError.unreadable(str(file), f"{name!r} promises {shape} of {dtype} and holds less")
        with archive.open(info) as stream:
            return np.lib.format.read_array(stream, allow_pickle=False)


def _stream(stream: Any, path: str, suffix: str, *, packed: bool = False) -> Columns:
    """A table, by pyarrow."""
    try:
        import pyarrow as pa
    except ImportError:
        raise FileError.no_pyarrow(path) from None
    if suffix not in READERS:
        raise FileError.unknown_kind(path, tuple(READERS))
    try:
        source = (
            pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "gzip")
            if packed
            else pa.PythonFile(stream, mode="r")
        )
        columns = Columns(path, table=READERS[suffix](source))
        columns.names  # noqa: B018 - they may be no text
    except (pa.ArrowException, *DAMAGE) as error:
        raise FileError.unreadable(path, " ".join(str(error).split())[:200]) from None
    return columns


def _csv(delimiter: str) -> Callable[[Any], Any]:
    def read_csv(source: Any) -> Any:
        from pyarrow import csv

        options = csv.ReadOptions(block_size=16 << 20)
        return csv.read_csv(source, read_options=options, parse_options=csv.ParseOptions(delimiter=delimiter))

    return read_csv


def _json_lines(source: Any) -> Any:
    from pyarrow import json

    return json.read_json(source, read_options=json.ReadOptions(block_size=16 << 20))


def _parquet(source: Any) -> Any:
    from pyarrow import parquet

    return parquet.read_table(source)


def _arrow(source: Any) -> Any:
    from pyarrow import feather

    return feather.read_table(source)


READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    ".csv": _csv(","),
    ".tsv": _csv("\t"),
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
}


def _is_list(column: Any) -> bool:
    import pyarrow as pa

    return (
        pa.types.is_list(column.type) or pa.types.is_large_list(column.type) or pa.types.is_fixed_size_list(column.type)
    )


def _from_lists(path: str, name: str, column: Any) -> NDArray[Any]:
    """A matrix from a column of lists of one length."""
    joined = column.combine_chunks()
    lengths = np.asarray(joined.value_lengths().to_numpy(zero_copy_only=False))
    if joined.null_count or (lengths != lengths[:1]).any():
        row = (
            int((lengths != lengths[0]).argmax())
            if not joined.null_count
            else int(np.asarray(joined.is_null()).argmax())
        )
        raise FileError.ragged(path, name, row)
    values = joined.flatten()
    return _numbers(path, name, values).reshape(len(joined), -1)


def _numbers(path: str, name: str, column: Any) -> NDArray[Any]:
    import pyarrow as pa

    if column.null_count:
        raise FileError.missing_cell(path, name, int(np.asarray(column.is_null()).argmax()))
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)):
        raise FileError.not_numbers(path, name, str(column.type))
    return (
        column.to_numpy()
        if not hasattr(column, "combine_chunks")
        else column.combine_chunks().to_numpy(zero_copy_only=False)
    )


def _plain(column: Any) -> NDArray[Any]:
    """Names or numbers as NumPy has them; texts as objects, so that none is cut."""
    import pyarrow as pa

    joined = column.combine_chunks()
    if pa.types.is_dictionary(joined.type):
        joined = joined.dictionary_decode()
    if pa.types.is_string(joined.type) or pa.types.is_large_string(joined.type) or joined.null_count:
        array = np.empty(len(joined), dtype=object)
        array[:] = joined.to_pylist()
        return array
    return joined.to_numpy(zero_copy_only=False)
