"""Score files of every usual kind, as columns: .npy, .npz, .csv, .tsv, .jsonl, .parquet and Arrow, packed or not.

NumPy and pyarrow do the reading; nothing is parsed by hand and nothing in a file is ever run. What a file says of
itself is checked against its size before memory is spent.
"""

from __future__ import annotations

import gzip
import io
import itertools
import json
import math
import mmap
import re
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
WHOLE = re.compile(r"-?[0-9]{1,18}")
"""A whole number, in text."""
MOST_HEADER = 1 << 16
"""Bytes the header of an array may have."""
MOST_STDIN = 4 << 30
"""Bytes that are taken from standard input."""
MOST_LINE = 64 << 20
"""Bytes of a line."""
SMALL = 64 << 20
"""Bytes that are unpacked without a question; beyond, honest tables do not become fifty times as large."""
MOST_TABLE_RATIO = 50


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Inside, whatever libraries raise about a file that is not what it says becomes one clear error."""
    try:
        yield
    except FileError:
        raise
    except MemoryError:
        raise FileError.unreadable(path, "it does not fit into memory") from None
    except Exception as error:  # noqa: BLE001 - a damaged file can make anything go wrong
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise FileError.unreadable(path, reason) from None


@dataclass(frozen=True)
class Columns:
    """What a file holds: one matrix without names (npy), arrays by name (npz), or named columns."""

    path: str
    matrix: NDArray[Any] | None = None
    archive: Archive | None = None
    table: Any = None
    headed: bool = True

    @property
    def names(self) -> list[str]:
        """The names of the columns or arrays; none where the file has none."""
        if self.archive is not None:
            return self.archive.names
        return [] if self.table is None else list(self.table.column_names)

    def column(self, name: str) -> NDArray[Any]:
        """One named column, as an array of its plain values."""
        if name not in self.names:
            raise FileError.no_column(self.path, name, self.names)
        if self.archive is not None:
            return self.archive.read(name)
        with reading(self.path):
            return _plain(self.table.column(name))

    def scores(
        self, apart: Sequence[str] = (), *, key: str | None = None, wanted: Sequence[str] | None = None
    ) -> tuple[NDArray[Any], list[str] | None]:
        """The matrix of scores and the names of its columns, if it has names.

        Columns: those that are ``wanted``, if all of them are there, else all but those ``apart``. A column of lists is
        a matrix without names. Arrays: the one called ``key``, else the only one that is not ``apart``.
        """
        if key is not None and self.archive is None:
            raise FileError.no_arrays(self.path, key)
        if self.matrix is not None:
            return self.matrix, None
        with reading(self.path):
            return self._scores(apart, key, wanted)

    def _scores(
        self, apart: Sequence[str], key: str | None, wanted: Sequence[str] | None
    ) -> tuple[NDArray[Any], list[str] | None]:
        names = [name for name in self.names if name not in apart]
        if self.archive is not None:
            if key is None and len(names) != 1:
                raise FileError.which_key(self.path, names)
            return self.archive.read(names[0] if key is None else key), None
        if not names:
            raise FileError.no_scores(self.path, self.names)
        lists = [name for name in names if _is_list(self.table.column(name))]
        if len(lists) == 1:
            return _from_lists(self.path, lists[0], self.table.column(lists[0])), None
        if wanted is not None and set(wanted) & set(self.names):
            missing = [name for name in wanted if name not in self.names]
            if missing:
                raise FileError.no_class(self.path, missing)
            names = list(wanted)
        self._check(names)
        matrix = np.column_stack([_numbers(self.path, name, self.table.column(name)) for name in names])
        return matrix, names if self.headed else None

    def _check(self, names: Sequence[str]) -> None:
        """Refuses columns that are classes by mistake only."""
        if self.headed and "" in names:
            raise FileError.no_name(self.path)
        if self.headed and len(names) > 1 and all(map(_is_fraction, names)):
            raise FileError.no_header(self.path, names)
        if len(names) == 1 and ";" in names[0]:
            raise FileError.other_separator(self.path, names[0])

    def values(self) -> NDArray[Any]:
        """The one column of a file of labels, groups or names."""
        if self.matrix is not None:
            if self.matrix.ndim != 1:
                raise FileError.not_a_column(self.path, self.matrix.shape)
            return self.matrix
        if len(self.names) != 1:
            raise FileError.one_column(self.path, self.names)
        return self.column(self.names[0])


def _is_fraction(name: str) -> bool:
    """Whether a column's name is rather one of its numbers."""
    try:
        return not float(name).is_integer()
    except (ValueError, OverflowError):
        return False


def read(path: str, *, kind: str | None = None, header: bool = True) -> Columns:
    """The columns of a file, or of standard input (``-``); ``kind`` tells what it is ("csv", "jsonl", …) where its
    name does not."""
    if path == STDIN:
        return _standard_input(path, f".{kind or 'csv'}", header=header)
    file = Path(path)
    if not file.exists():
        raise FileError.missing(path)
    if not file.is_file():
        raise FileError.unreadable(path, "it is a directory or a device")
    suffix = _suffix(file)
    if suffix not in KNOWN and kind:
        suffix = f".{kind}"
    if suffix not in KNOWN:
        raise FileError.unknown_kind(path, KNOWN)
    with reading(path):
        return _read(file, path, suffix, header=header)


def is_known(path: str) -> bool:
    """Whether a file's name tells that it can be read."""
    return _suffix(Path(path)) in KNOWN


def _standard_input(path: str, suffix: str, *, header: bool) -> Columns:
    if sys.stdin is None:
        raise FileError.unreadable(path, "standard input is closed")
    data = sys.stdin.buffer.read(MOST_STDIN + 1)
    if len(data) > MOST_STDIN:
        raise FileError.unreadable(path, f"standard input has more than {MOST_STDIN:,} bytes; write it to a file")
    with reading(path):
        if suffix == ".npy":
            return Columns(path, _array(np.load(io.BytesIO(data), allow_pickle=False)))
        return _table(path, suffix, Opened(io.BytesIO(data), len(data)), header=header)


def _read(file: Path, path: str, suffix: str, *, header: bool) -> Columns:
    if suffix == ".npy":
        return Columns(path, _npy(file))
    if suffix == ".npz":
        return Columns(path, archive=Archive.of(file))
    size = file.stat().st_size
    with file.open("rb") as stream:
        if file.suffix.lower() == ".gz":
            limit = max(SMALL, MOST_TABLE_RATIO * size)
            with gzip.GzipFile(fileobj=stream) as packed:
                unpacked = io.BytesIO(_unpacked(packed, limit, path))  # pyarrow's threads would outlive a Python stream
            return _table(path, suffix, Opened(unpacked, size), header=header)
        return _table(path, suffix, Opened(stream, size, file), header=header)


@dataclass(frozen=True)
class Opened:
    """A file to be read as a table: its bytes, how many they are on disk, and where they lie, if as they are."""

    stream: Any
    size: int
    file: Path | None = None


def _unpacked(packed: Any, limit: int, path: str) -> bytes:
    """All that a packed file holds, up to a limit."""
    data = packed.read(limit + 1)
    if len(data) > limit:
        raise FileError.unpacks_too_far(path, limit)
    return data


def _suffix(file: Path) -> str:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    return suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else suffixes[-1] if suffixes else ""


def _npy(file: Path) -> NDArray[Any]:
    """A memory map: a header that promises more than the file holds is refused by NumPy."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return _array(np.load(file, mmap_mode="r", allow_pickle=False))
    except ValueError as error:
        if "Object arrays" in str(error) or "Python objects" in str(error):
            raise FileError.pickled(str(file)) from None
        if "pickle" in str(error).lower():
            raise FileError.unreadable(str(file), "it does not begin like an .npy file") from None
        raise


def release(matrix: NDArray[Any]) -> None:
    """Lets go of the pages of a memory map that were read: they would count as this process's memory."""
    mapped = getattr(matrix, "_mmap", None)
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def _array(loaded: Any) -> NDArray[Any]:
    """What NumPy loaded, if it is an array with rows."""
    if not isinstance(loaded, np.ndarray):
        loaded.close()
        raise ValueError("it holds several arrays; call it .npz")  # noqa: TRY004
    if loaded.ndim == 0:
        raise ValueError("it holds a single number")
    return loaded


@dataclass(frozen=True)
class Archive:
    """An .npz file: its arrays by name, each checked before it is unpacked."""

    file: Path
    names: list[str]

    @classmethod
    def of(cls, file: Path) -> Archive:
        with zipfile.ZipFile(file) as archive:
            entries = (info.filename for info in archive.infolist())
            return cls(file, [name.removesuffix(".npy") for name in entries if name.endswith(".npy")])

    def read(self, name: str) -> NDArray[Any]:
        """One array."""
        if name not in self.names:
            raise FileError.no_key(str(self.file), name, sorted(self.names))
        with reading(str(self.file)), zipfile.ZipFile(self.file) as archive:
            return _array(self._unpacked(archive, archive.getinfo(f"{name}.npy"), name))

    def _unpacked(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> NDArray[Any]:
        limit = min(MOST_UNPACKED, MOST_RATIO * max(1, info.compress_size) + 4096)
        if info.file_size > limit:
            raise FileError.bomb(str(self.file), name, info.compress_size, info.file_size)
        with archive.open(info) as stream:
            version = np.lib.format.read_magic(stream)
            told = stream.read(2 if version == (1, 0) else 4)
            if int.from_bytes(told, "little") > MOST_HEADER:
                raise FileError.unreadable(str(self.file), f"{name!r} has a header of more than {MOST_HEADER:,} bytes")
        with archive.open(info) as stream:
            np.lib.format.read_magic(stream)
            head = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = head(stream)
            if dtype.hasobject:
                raise FileError.pickled(str(self.file))
            if math.prod(shape) * dtype.itemsize > info.file_size:
                raise FileError.unreadable(str(self.file), f"{name!r} promises {shape} of {dtype} and holds less")
        with archive.open(info) as stream:
            return np.lib.format.read_array(stream, allow_pickle=False)


def _table(path: str, suffix: str, opened: Opened, *, header: bool) -> Columns:
    """A table, by pyarrow."""
    try:
        import pyarrow as pa
    except ImportError:
        raise FileError.no_pyarrow(path) from None
    if suffix not in READERS:
        raise FileError.unknown_kind(path, tuple(READERS))
    reader = READERS[suffix] if header else HEADLESS.get(suffix, READERS[suffix])
    try:
        table = reader(opened)
        table.validate(full=suffix in UNCHECKED)
        names = table.column_names
    except pa.ArrowException as error:
        raise FileError.unreadable(path, " ".join(str(error).split())[:200]) from None
    if len(set(names)) < len(names):
        raise FileError.same_names(path, next(name for name in names if names.count(name) > 1))
    return Columns(path, table=table, headed=header or suffix not in HEADLESS)


def _csv(delimiter: str, *, header: bool = True) -> Callable[[Opened], Any]:
    def read_csv(opened: Opened) -> Any:
        from pyarrow import csv

        options = csv.ReadOptions(block_size=16 << 20, autogenerate_column_names=not header)
        source = opened.file or opened.stream
        table = csv.read_csv(source, read_options=options, parse_options=csv.ParseOptions(delimiter=delimiter))
        return table if header else table.rename_columns([str(place) for place in range(table.num_columns)])

    return read_csv


def _lines(opened: Opened) -> Any:
    """A text per line, without a heading."""
    import pyarrow as pa

    lines = opened.stream.read().decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    values = lines[:-1] if lines[-1] == "" else lines
    whole = bool(values) and all(map(WHOLE.fullmatch, values))
    return pa.table(
        {"0": pa.array([int(value) for value in values] if whole else values, None if whole else pa.string())}
    )


def _json_lines(opened: Opened) -> Any:
    """An object per line, by Python's own library: pyarrow does not survive every text."""
    import pyarrow as pa

    rows: list[dict[str, Any]] = []
    for number in itertools.count():
        line = opened.stream.readline(MOST_LINE)
        if not line:
            break
        if len(line) == MOST_LINE:
            raise ValueError(f"line {number} is longer than {MOST_LINE:,} bytes")
        if line.isspace():
            continue
        row = json.loads(line)
        if not isinstance(row, dict):
            raise ValueError(f"line {number} is no object")  # noqa: TRY004
        if rows and row.keys() != rows[0].keys():
            raise ValueError(f"line {number} has other fields than the first")
        rows.append(row)
    return pa.Table.from_pylist(rows)


def _parquet(opened: Opened) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetFile(pa.memory_map(str(opened.file)) if opened.file else opened.stream) as file:
        groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
        columns = range(file.metadata.num_columns)
        needed = 8 * sum(group.column(column).num_values for group in groups for column in columns)
        if needed > max(4 * SMALL, 20 * MOST_TABLE_RATIO * opened.size):
            raise ValueError(f"its {opened.size:,} bytes would become {needed:,}")
        texts = [
            field.name
            for field in file.schema_arrow
            if any(test(field.type) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary))
        ]
    source = pa.memory_map(str(opened.file)) if opened.file else opened.stream
    return parquet.read_table(source, read_dictionary=texts, use_threads=False, pre_buffer=False)


def _arrow(opened: Opened) -> Any:
    import pyarrow as pa
    from pyarrow import feather

    return feather.read_table(pa.memory_map(str(opened.file)) if opened.file else opened.stream, use_threads=False)


READERS: Final[Mapping[str, Callable[[Opened], Any]]] = {
    ".txt": _lines,
    ".csv": _csv(","),
    ".tsv": _csv("\t"),
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
}
HEADLESS: Final[Mapping[str, Callable[[Opened], Any]]] = {
    ".csv": _csv(",", header=False),
    ".tsv": _csv("\t", header=False),
}
UNCHECKED = (".arrow", ".feather")
"""Files whose numbers pyarrow takes for offsets into memory as they are."""
KNOWN = (".npy", ".npz", *READERS)


def _is_list(column: Any) -> bool:
    import pyarrow as pa

    return (
        pa.types.is_list(column.type) or pa.types.is_large_list(column.type) or pa.types.is_fixed_size_list(column.type)
    )


def _from_lists(path: str, name: str, column: Any) -> NDArray[Any]:
    """A matrix from a column of lists of one length."""
    joined = column.combine_chunks()
    lengths = np.asarray(joined.value_lengths().to_numpy(zero_copy_only=False))
    if joined.null_count:
        raise FileError.missing_cell(path, name, int(np.asarray(joined.is_null()).argmax()))
    if (lengths != lengths[:1]).any():
        raise FileError.ragged(path, name, int((lengths != lengths[0]).argmax()))
    width = int(lengths[0]) if len(lengths) else 0
    values = joined.flatten()
    if values.null_count:
        raise FileError.missing_cell(path, name, int(np.asarray(values.is_null()).argmax()) // width)
    return _numbers(path, name, values).reshape(len(joined), width)


def _numbers(path: str, name: str, column: Any) -> NDArray[Any]:
    import pyarrow as pa

    if column.null_count:
        raise FileError.missing_cell(path, name, int(np.asarray(column.is_null()).argmax()))
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
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
