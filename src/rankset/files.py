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
        try:
            return _plain(self.table.column(name))
        except UnicodeError as error:
            raise FileError.unreadable(self.path, str(error)) from None

    def scores(
        self, apart: Sequence[str] = (), *, key: str | None = None, wanted: Sequence[str] | None = None
    ) -> tuple[NDArray[Any], list[str] | None]:
        """The matrix of scores and the names of its columns, if it has names.

        Columns: those that are ``wanted``, if all of them are there, else all but those ``apart``. A column of lists is
        a matrix without names. Arrays: the one called ``key``, else the only one that is not ``apart``.
        """
        if self.matrix is not None:
            return self.matrix, None
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
        if wanted is not None and set(wanted) <= set(names):
            names = list(wanted)
        self._check(names)
        matrix = np.column_stack([_numbers(self.path, name, self.table.column(name)) for name in names])
        return matrix, names if self.headed else None

    def _check(self, names: Sequence[str]) -> None:
        """Refuses columns that are classes by mistake only."""
        if len(set(names)) < len(names):
            raise FileError.same_names(self.path, next(name for name in names if names.count(name) > 1))
        if self.headed and "" in names:
            raise FileError.no_name(self.path)
        if self.headed and len(names) > 1 and all(map(_is_fraction, names)):
            raise FileError.no_header(self.path, names)
        if len(names) == 1 and ";" in names[0]:
            raise FileError.other_separator(self.path, names[0])

    def values(self) -> NDArray[Any]:
        """The one column of a file of labels, groups or names."""
        if self.matrix is not None:
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
    try:
        return _read(file, path, suffix, header=header)
    except FileError:
        raise
    except DAMAGE as error:
        raise FileError.unreadable(path, " ".join(str(error).split())[:200]) from None


def _standard_input(path: str, suffix: str, *, header: bool) -> Columns:
    data = io.BytesIO(sys.stdin.buffer.read())
    if suffix != ".npy":
        return _stream(data, path, suffix, header=header)
    try:
        return Columns(path, np.load(data, allow_pickle=False))
    except DAMAGE as error:
        raise FileError.unreadable(path, " ".join(str(error).split())[:200]) from None


def _read(file: Path, path: str, suffix: str, *, header: bool) -> Columns:
    if suffix == ".npy":
        return Columns(path, _npy(file))
    if suffix == ".npz":
        return Columns(path, archive=Archive.of(file))
    with file.open("rb") as stream:
        return _stream(stream, path, suffix, packed=file.suffix == ".gz", header=header)


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
        try:
            with zipfile.ZipFile(self.file) as archive:
                return self._unpacked(archive, archive.getinfo(f"{name}.npy"), name)
        except FileError:
            raise
        except DAMAGE as error:
            raise FileError.unreadable(str(self.file), " ".join(str(error).split())[:200]) from None

    def _unpacked(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> NDArray[Any]:
        limit = min(MOST_UNPACKED, MOST_RATIO * max(1, info.compress_size) + 4096)
        if info.file_size > limit:
            raise FileError.bomb(str(self.file), name, info.compress_size, info.file_size)
        with archive.open(info) as stream:
            version = np.lib.format.read_magic(stream)
            head = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = head(stream)
            if dtype.hasobject:
                raise FileError.pickled(str(self.file))
            if math.prod(shape) * dtype.itemsize > info.file_size:
                raise FileError.unreadable(str(self.file), f"{name!r} promises {shape} of {dtype} and holds less")
        with archive.open(info) as stream:
            return np.lib.format.read_array(stream, allow_pickle=False)


def _stream(stream: Any, path: str, suffix: str, *, packed: bool = False, header: bool = True) -> Columns:
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
        reader = READERS[suffix] if header else HEADLESS.get(suffix, READERS[suffix])
        columns = Columns(path, table=reader(source), headed=header or suffix not in HEADLESS)
        columns.names  # noqa: B018 - they may be no text
    except (pa.ArrowException, *DAMAGE) as error:
        raise FileError.unreadable(path, " ".join(str(error).split())[:200]) from None
    return columns


def _csv(delimiter: str, *, header: bool = True) -> Callable[[Any], Any]:
    def read_csv(source: Any) -> Any:
        from pyarrow import csv

        options = csv.ReadOptions(block_size=16 << 20, autogenerate_column_names=not header)
        table = csv.read_csv(source, read_options=options, parse_options=csv.ParseOptions(delimiter=delimiter))
        return table if header else table.rename_columns([str(place) for place in range(table.num_columns)])

    return read_csv


def _lines(source: Any) -> Any:
    """A text per line, without a heading."""
    from pyarrow import csv

    options = csv.ReadOptions(block_size=16 << 20, column_names=["0"])
    return csv.read_csv(
        source, read_options=options, parse_options=csv.ParseOptions(delimiter="\x1f", quote_char=False)
    )


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
    ".txt": _lines,
    ".csv": _csv(","),
    ".tsv": _csv("\t"),
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
}
HEADLESS: Final[Mapping[str, Callable[[Any], Any]]] = {
    ".csv": _csv(",", header=False),
    ".tsv": _csv("\t", header=False),
}
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
