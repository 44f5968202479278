"""Score files of every usual kind, as columns: .npy, .npz, .csv, .tsv, .jsonl, .parquet and Arrow, packed or not.

NumPy and pyarrow do the reading; nothing is parsed by hand and nothing in a file is ever run. Every reader counts what
it takes, and refuses the file before that goes beyond the budget (``budget``).
"""

from __future__ import annotations

import io
import math
import mmap
import re
import sys
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rankset.errors import FileError, short_repr
from rankset.inputs.matrix import object_array
from rankset.io import columnar, text_files
from rankset.io.memory_budget import Budget
from rankset.io.text_files import Source

STDIN = "-"
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How NumPy packs arrays; other methods unpack without a limit."""
MOST_RATIO = 1100
"""How much smaller than its content a packed array can honestly be: deflate packs no better."""
WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
"""A whole number as programs write it: 007, +7 and 7.0 are texts."""
ABSENT = frozenset({"", "#N/A", "#N/A N/A", "#NA", "N/A", "NA", "NULL", "n/a", "null", "<NA>", "None"})
"""What csv files write where there is no number."""
Spellings = Sequence[tuple[re.Pattern[str], Callable[[str], Any]]]
"""How texts that are numbers are spelt, and what makes a number of one."""
NAMES: Spellings = ((WHOLE, int),)
MOST_HEADER = 1 << 16
"""Bytes the header of an array may have."""
ENTRY = 16
"""Bytes that Python takes for every byte of an .npz file's list of arrays."""
WORD = 96
"""Bytes that Python takes for a text, beside its letters."""


NO_LIMIT = Budget("", sys.maxsize)
"""The budget of tables that are in memory already."""


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
    """What a file holds: one matrix without names (npy), arrays by name (npz), or named columns.

    ``written``: the cells of the table are texts as the file has them. ``budget``: what making arrays of them may take.
    """

    path: str
    matrix: NDArray[Any] | None = None
    archive: Archive | None = None
    table: Any = None
    headed: bool = True
    written: bool = False
    budget: Budget = NO_LIMIT

    @property
    def names(self) -> list[str]:
        """The names of the columns or arrays; none where the file has none."""
        if self.archive is not None:
            return self.archive.names
        return [] if self.table is None else list(self.table.column_names)

    @property
    def index(self) -> frozenset[str]:
        """The columns that pandas wrote for the index of a frame: they are no classes, and no labels."""
        return frozenset(name for name in self._index_told() if isinstance(name, str))

    def column(self, name: str) -> NDArray[Any]:
        """One named column of labels, groups or ids: texts, or whole numbers where all of them are."""
        return self._column(name, NAMES)

    def group(self, name: str) -> NDArray[Any]:
        """One named column of groups; texts as they are, so that a name is the same in every file."""
        return self._column(name, ())

    def index_values(self) -> list[NDArray[Any]] | None:
        """The levels of the index that pandas wrote; None where there is none."""
        names = [name for name in self.names if name in self.index]
        if names:
            return [self._column(name, ()) for name in names]
        for told in self._index_told():
            if isinstance(told, dict) and told.get("kind") == "range":
                numbers: list[Any] = [told.get(name) for name in ("start", "stop", "step")]
                whole = all(type(number) is int and abs(number) < 2**62 for number in numbers) and numbers[2] != 0
                found = range(*numbers) if whole else range(0)
                self.budget.check(self.table.nbytes + 16 * len(self.table))
                return [np.arange(*numbers)] if found and len(found) == len(self.table) else None
        return None

    def _index_told(self) -> list[Any]:
        """What pandas wrote about the index of a frame."""
        try:
            return list((self.table.schema.pandas_metadata or {}).get("index_columns", []))
        except (AttributeError, TypeError, ValueError):
            return []

    def kept(self, name: str) -> Any:
        """One named column that is only handed on: texts as they are, or whole numbers where all of them are.

        Columns of files that have types (parquet, Arrow, JSON lines) stay columns of Arrow, of their type.
        """
        if self.table is None or self.written or name not in self.names:
            return self._column(name, NAMES)
        column = self.table.column(name)
        self.budget.check(self.table.nbytes + 2 * column.nbytes + 24 * len(column))
        return column

    def _column(self, name: str, spellings: Spellings) -> NDArray[Any]:
        if name not in self.names:
            raise FileError.no_column(self.path, name, self.names)
        if self.archive is not None:
            return self.archive.read(name)
        with reading(self.path):
            column = self.table.column(name)
            self.budget.check(self.table.nbytes + 2 * column.nbytes + 24 * len(column))
            return _plain(column, self.budget, spellings if self.written else ())

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
        without = {*apart, *self.index}
        names = [name for name in self.names if name not in without]
        if self.archive is not None:
            if key is None and len(names) != 1:
                raise FileError.which_key(self.path, names)
            return self.archive.read(names[0] if key is None else key), None
        if not names:
            raise FileError.no_scores(self.path, self.names)
        known = set(self.names) if self.headed else set()  # without a heading columns go by their places
        clash = [name for name in wanted or () if name in known and name in apart]
        if clash:
            raise FileError.class_apart(self.path, clash[0])
        lists = [name for name in names if _is_list(self.table.schema.field(name).type)]
        if len(lists) == 1 and not (wanted is not None and known.issuperset(wanted)):
            self._check_alone(lists[0], names if wanted is None else ())
            column = self.table.column(lists[0])
            self.budget.check(self.table.nbytes + (column.nbytes if column.num_chunks > 1 else 0))
            return _from_lists(self.path, lists[0], column), None
        if wanted is not None and known & set(wanted):
            missing = [name for name in wanted if name not in known]
            if missing:
                raise FileError.no_class(self.path, missing)
            names = list(wanted)
        self._check(names)
        self.budget.check(self.table.nbytes + 8 * len(self.table) * len(names))
        return self._matrix(names), names if self.headed else None

    def _check_alone(self, lists: str, names: Sequence[str]) -> None:
        """Refuses a column of lists beside columns that could be classes as well."""
        import pyarrow as pa

        kinds = {name: self.table.schema.field(name).type for name in names if name != lists}
        numbers = [name for name, kind in kinds.items() if pa.types.is_floating(kind)]
        if len(numbers) > 1:
            raise FileError.lists_and_columns(self.path, lists, numbers)

    def _matrix(self, names: Sequence[str]) -> NDArray[Any]:
        """The cells of some columns, as numbers."""
        table = self.table.select(names)
        kinds = [np.dtype(float) if self.written else _kind(self.path, field) for field in table.schema]
        matrix = np.empty((len(table), len(names)), dtype=np.result_type(*kinds))
        numbers, first = _parsed if self.written else _numbers, 0
        for batch in table.to_batches():
            rows = matrix[first : first + len(batch)]
            for place, (name, column) in enumerate(zip(names, batch.columns, strict=True)):
                rows[:, place] = numbers(self.path, name, column, first)
            first += len(batch)
        return matrix

    def _check(self, names: Sequence[str]) -> None:
        """Refuses columns that are classes by mistake only."""
        if self.headed and "" in names:
            raise FileError.no_name(self.path)
        if self.headed and all(map(_is_fraction, names)):
            raise FileError.no_header(self.path, names)
        if len(names) == 1 and ";" in names[0]:
            raise FileError.other_separator(self.path, names[0])

    def values(self) -> NDArray[Any]:
        """The one column of a file of labels, groups or names."""
        if self.matrix is not None:
            if self.matrix.ndim != 1 and self.matrix.shape[1:] != (1,):
                raise FileError.not_a_column(self.path, self.matrix.shape)
            return self.matrix.reshape(-1)
        names = [name for name in self.names if name not in self.index]
        if len(names) != 1:
            raise FileError.one_column(self.path, self.names)
        return self.column(names[0])


def _is_fraction(name: str) -> bool:
    """Whether a column's name is rather one of its numbers."""
    try:
        return not float(name).is_integer()
    except (ValueError, OverflowError):
        return False


def read(path: str, *, kind: str | None = None, header: bool = True) -> Columns:
    """The columns of a file, or of standard input (``-``); ``kind`` tells what it is ("csv", "jsonl", …) where its
    name does not. It takes no more memory than ``budget.limit()``, and refuses what does."""
    budget = Budget.of(path)
    if path == STDIN:
        return _standard_input(budget, f".{kind or 'csv'}", header=header)
    file = _regular(path)
    suffix = _suffix(file)
    if suffix not in KNOWN and kind:
        suffix = f".{kind}"
    if suffix not in KNOWN:
        raise FileError.unknown_kind(path, KNOWN)
    with reading(path):
        if suffix == ".npy":
            return Columns(path, _npy(file))
        if suffix == ".npz":
            return Columns(path, archive=Archive.of(file, budget))
        return _table(Source(budget, file), suffix, header=header)


def _regular(path: str) -> Path:
    """A file that is there, and is one."""
    file = Path(path)
    if not file.exists():
        raise FileError.missing(path)
    if not file.is_file():
        raise FileError.unreadable(path, "it is a directory or a device")
    return file


def lines(path: str) -> list[str]:
    """The lines of a text."""
    file, budget = _regular(path), Budget.of(path)
    with reading(path):
        column = text_files.lines_table(Source(budget, file)).column(0)
        budget.check(column.nbytes * 2 + WORD * len(column))
        return column.to_pylist()


def is_known(path: str) -> bool:
    """Whether a file's name tells that it can be read."""
    return _suffix(Path(path)) in KNOWN


def _standard_input(budget: Budget, suffix: str, *, header: bool) -> Columns:
    if sys.stdin is None:
        raise FileError.unreadable(budget.path, "standard input is closed")
    parts, size = [], 0
    while part := sys.stdin.buffer.read(1 << 20):
        parts.append(part)
        size += len(part)
        budget.check(2 * size)  # the parts, and then the whole
    data = b"".join(parts)
    parts.clear()
    with reading(budget.path):
        if suffix == ".npy":
            _promise(io.BytesIO(data), len(data), budget.path, "it")
            return Columns(budget.path, _array(np.load(io.BytesIO(data), allow_pickle=False)))
        return _table(Source(budget.beside(size), data=data), suffix, header=header)


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


def _promise(stream: Any, size: int, path: str, name: str) -> None:
    """Refuses an array whose header is too long, tells of Python objects, or promises more than its ``size``."""
    version = np.lib.format.read_magic(stream)
    told = stream.read(2 if version == (1, 0) else 4)
    if int.from_bytes(told, "little") > MOST_HEADER:
        raise FileError.unreadable(path, f"{name} has a header of more than {MOST_HEADER:,} bytes")
    stream.seek(0)
    np.lib.format.read_magic(stream)
    head = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = head(stream)
    if dtype.hasobject:
        raise FileError.pickled(path)
    if math.prod(shape) * dtype.itemsize > size:
        raise FileError.unreadable(path, f"{name} promises {shape} of {dtype} and holds less")


class _Listed(io.FileIO):
    """A file whose list of arrays is read at once, if that fits the budget."""

    def __init__(self, file: Path, budget: Budget) -> None:
        super().__init__(file)
        self.budget = budget

    def read(self, size: int | None = -1, /) -> bytes:
        """So many bytes."""
        self.budget.check(ENTRY * (size or 0))
        return super().read(size) or b""


@dataclass(frozen=True)
class Archive:
    """An .npz file: its arrays by name, each checked before it is unpacked."""

    file: Path
    names: list[str]
    budget: Budget

    @classmethod
    def of(cls, file: Path, budget: Budget) -> Archive:
        with _Listed(file, budget) as stream, zipfile.ZipFile(stream) as archive:
            entries = (info.filename for info in archive.infolist())
            return cls(file, [name.removesuffix(".npy") for name in entries if name.endswith(".npy")], budget)

    def read(self, name: str) -> NDArray[Any]:
        """One array."""
        path = str(self.file)
        if name not in self.names:
            raise FileError.no_key(path, name, sorted(self.names))
        with reading(path), zipfile.ZipFile(self.file) as archive:
            info = archive.getinfo(f"{name}.npy")
            if info.compress_type not in PACKED:
                raise FileError.unreadable(path, f"{name!r} is packed by another method than deflate")
            if info.file_size > MOST_RATIO * max(1, info.compress_size) + 4096:
                raise FileError.bomb(path, name, info.compress_size, info.file_size)
            with archive.open(info) as stream:
                _promise(stream, info.file_size, path, repr(name))
            self.budget.check(info.file_size)
            with archive.open(info) as stream:
                return _array(np.lib.format.read_array(stream, allow_pickle=False))


def _table(source: Source, suffix: str, *, header: bool) -> Columns:
    """A table, by pyarrow."""
    path = source.budget.path
    try:
        import pyarrow as pa
    except ImportError:
        raise FileError.no_pyarrow(path) from None
    if suffix not in READERS:
        raise FileError.unknown_kind(path, tuple(READERS))
    try:
        table, mapped = READERS[suffix](source, header)
        names = table.column_names
    except pa.ArrowException as error:
        raise FileError.unreadable(path, " ".join(str(error).split())[:200]) from None
    if len(set(names)) < len(names):
        raise FileError.same_names(path, next(name for name, count in Counter(names).items() if count > 1))
    headed = header or suffix not in HEADED
    return Columns(path, table=table, headed=headed, written=suffix in WRITTEN, budget=source.budget.beside(-mapped))


def _columnar(kind: str) -> Reading:
    def read_columnar(source: Source, _header: bool) -> tuple[Any, int]:  # noqa: FBT001
        with source.on_disk() as file:
            return columnar.READER.table(str(file), kind, source.budget)

    return read_columnar


Reading = Callable[[Source, bool], tuple[Any, int]]
"""What makes a table of a file, with its heading or without, and tells how many of its bytes take no memory."""
READERS: Final[Mapping[str, Reading]] = {
    ".txt": lambda source, _header: (text_files.lines_table(source), 0),
    ".csv": lambda source, header: (text_files.csv_table(source, ",", header=header), 0),
    ".tsv": lambda source, header: (text_files.csv_table(source, "\t", header=header), 0),
    ".jsonl": lambda source, _header: (text_files.json_table(source), 0),
    ".ndjson": lambda source, _header: (text_files.json_table(source), 0),
    ".parquet": _columnar("parquet"),
    ".arrow": _columnar("arrow"),
    ".feather": _columnar("arrow"),
}
HEADED = (".csv", ".tsv")
"""Files that may have names of columns in their first line."""
WRITTEN = (".txt", *HEADED)
"""Files whose cells are texts."""
KNOWN = (".npy", ".npz", *READERS)


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def _from_lists(path: str, name: str, column: Any) -> NDArray[Any]:
    """A matrix from a column of lists of one length; one that lies in memory as it is, if it does."""
    import pyarrow as pa

    kind = _kind(path, pa.field(name, column.type.value_type))
    width, first = 0, 0
    matrix: NDArray[Any] | None = None
    for chunk in (chunk for chunk in column.chunks if len(chunk)):
        if chunk.null_count:
            raise FileError.missing_cell(path, name, first + int(np.asarray(chunk.is_null()).argmax()))
        lengths = np.asarray(chunk.value_lengths().to_numpy(zero_copy_only=False))
        width = width if first else int(lengths[0])
        if (lengths != width).any():
            raise FileError.ragged(path, name, first + int((lengths != width).argmax()))
        rows = _numbers(path, name, chunk.flatten(), first, width).reshape(len(chunk), width)
        if len(chunk) == len(column):
            return rows
        matrix = np.empty((len(column), width), dtype=kind) if matrix is None else matrix
        matrix[first : first + len(chunk)] = rows
        first += len(chunk)
    return np.empty((0, 0), dtype=kind) if matrix is None else matrix


def _kind(path: str, field: Any) -> np.dtype[Any]:
    """What NumPy calls the numbers of a column."""
    import pyarrow as pa

    if pa.types.is_decimal(field.type):
        return np.dtype(float)
    if not (pa.types.is_floating(field.type) or pa.types.is_integer(field.type) or pa.types.is_boolean(field.type)):
        raise FileError.not_numbers(path, field.name, str(getattr(field.type, "value_type", field.type)))
    return np.dtype(field.type.to_pandas_dtype())


def _numbers(path: str, name: str, column: Any, first: int, width: int = 1) -> NDArray[Any]:
    """The numbers of some rows, from row ``first`` on, ``width`` of them in every row."""
    import pyarrow as pa

    if column.null_count:
        raise FileError.missing_cell(path, name, first + int(np.asarray(column.is_null()).argmax()) // width)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return column.to_numpy(zero_copy_only=False)


def _parsed(path: str, name: str, column: Any, first: int) -> NDArray[Any]:
    """Texts as the numbers they tell."""
    import pyarrow as pa

    try:
        return column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return _trimmed(path, name, column, first)


def _trimmed(path: str, name: str, column: Any, first: int) -> NDArray[Any]:
    """The same for texts with spaces around the numbers; or an error that tells which is no number."""
    import pyarrow as pa

    texts = [text.strip() for text in column.to_pylist()]
    for row, text in enumerate(texts, first):
        if text in ABSENT:
            raise FileError.missing_cell(path, name, row)
        if not _is_number(text):
            raise FileError.not_numbers(path, name, short_repr(text), row)
    return pa.array(texts, pa.string()).cast(pa.float64()).to_numpy(zero_copy_only=False)


def _is_number(text: str) -> bool:
    import pyarrow as pa

    try:
        pa.scalar(text).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _spelt(words: Sequence[Any], spellings: Spellings) -> NDArray[Any]:
    """Texts, or numbers if all of them are spelt as such; None where a number is missing."""
    there = [word for word in words if word not in ("", None)]
    for pattern, number in spellings if there else ():
        if all(map(pattern.fullmatch, there)):
            if len(there) == len(words):
                return np.array([number(word) for word in words])
            return object_array([None if word in ("", None) else number(word) for word in words])
    return object_array(words)


def _plain(column: Any, budget: Budget, spellings: Spellings) -> NDArray[Any]:
    """Names or numbers as NumPy has them; texts as objects, each of them once, so that none is cut."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = pa.chunked_array([column.cast(pa.large_string()).combine_chunks().dictionary_encode()])
    if pa.types.is_dictionary(column.type):
        parts = [_looked_up(chunk, budget, spellings) for chunk in column.chunks]
        return np.concatenate(parts) if parts else object_array([])
    if column.null_count or pa.types.is_nested(kind):
        budget.check(16 * column.nbytes + WORD * len(column))
    joined = column.combine_chunks()
    if joined.null_count and not pa.types.is_nested(kind):
        return object_array(joined.to_pylist())
    return joined.to_numpy(zero_copy_only=False)


def _looked_up(chunk: Any, budget: Budget, spellings: Spellings) -> NDArray[Any]:
    """The values that the numbers of a dictionary array stand for."""
    import pyarrow as pa

    budget.check(chunk.dictionary.nbytes + WORD * len(chunk.dictionary))
    words = chunk.dictionary.to_pylist()
    places = chunk.indices.cast(pa.int64()).fill_null(len(words)).to_numpy(zero_copy_only=False)
    known = [*words, None] if chunk.indices.null_count else words
    return _spelt(known, spellings)[places]
