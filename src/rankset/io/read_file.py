"""Read a file of model outputs, labels or groups: ``read_file(path)`` gives its ``Columns``.

NumPy and pyarrow do the parsing, and nothing in a file is ever executed. Every reader counts the memory it needs and
refuses the file before that exceeds the budget (``memory_budget``).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from rankset.errors import FileError, KindError, PackageError, Place, located
from rankset.io.columns import Columns
from rankset.io.dialect import PLAIN_ENCODING, RECOGNISED, Dialect, Recognised
from rankset.io.encodings import HEAD, encoding_of, encoding_of_other
from rankset.io.memory_budget import Budget
from rankset.io.notes import Note, say
from rankset.io.parse_cells import TEXT_BYTES
from rankset.io.readers import columnar, csv, jsonl, npy, npz, text, xlsx
from rankset.io.readers.table import Table, TableReader
from rankset.io.source import Source
from rankset.io.unreadable import unreadable_as_error

STDIN = "-"
"""The path that stands for standard input."""

FORMATS: Final[Mapping[str, TableReader]] = {
    ".txt": text.read,
    ".csv": csv.reader(","),
    ".tsv": csv.reader("\t"),
    ".jsonl": jsonl.read,
    ".ndjson": jsonl.read,
    ".parquet": columnar.reader("parquet"),
    ".arrow": columnar.reader("arrow"),
    ".feather": columnar.reader("arrow"),
    ".xlsx": xlsx.read,
    ".xlsm": xlsx.read,
}
"""Readers of tables by suffix. Any of these may be followed by ``.gz``."""
SUFFIXES = (".npy", ".npz", *FORMATS)
"""Suffixes of all files that can be read."""
SEPARATED = (".csv", ".tsv", ".txt")
"""Suffixes of files that can have separators."""
WORKBOOKS = (".xlsx", ".xlsm")
BINARY = (".npy", ".npz", ".parquet", ".arrow", ".feather", *WORKBOOKS)
"""Suffixes of files that are no text files."""
OTHER_WORKBOOKS = (".xls", ".xlsb", ".ods", ".numbers")
"""Suffixes of spreadsheets that are not read."""


def read_file(
    path: str,
    *,
    file_format: str | None = None,
    header: bool = True,
    dialect: Dialect = RECOGNISED,
    sheet: str | None = None,
) -> Columns:
    """Read the columns of a file, or of standard input (``-``).

    ``file_format`` ("csv", "jsonl", …) is used where the file name has no known suffix, and in place of another suffix
    of text files; binary files are what their suffix says. What ``dialect`` leaves open is recognised. ``sheet`` is the
    name or number of the sheet of a workbook. Raises ``FileError`` if the
    file does not exist, is damaged, has no known format, or takes more memory than ``memory_budget.limit()``.
    """
    budget = Budget.of(path)
    if path == STDIN:
        suffix = f".{_known_format(path, file_format or 'csv')}"
        return _read_standard_input(Source(budget, header=header, dialect=dialect, sheet=sheet), suffix)
    file = _regular_file(path)
    suffix = _suffix(file)
    if file_format and suffix not in BINARY:
        suffix = f".{_known_format(path, file_format)}"
    if suffix in OTHER_WORKBOOKS:
        raise FileError.other_spreadsheet(path, suffix)
    if suffix not in SUFFIXES:
        raise FileError.unknown_kind(path, SUFFIXES)
    with unreadable_as_error(path):
        if suffix == ".npy":
            return Columns(path, npy.read(file))
        if suffix == ".npz":
            return Columns(path, archive=npz.Archive.of(file, budget))
        return _read_table(Source(budget, file, header=header, dialect=dialect, sheet=sheet), suffix)


def read_lines(path: str, dialect: Dialect = RECOGNISED) -> list[str]:
    """Read the lines of a text file of class names, whatever its suffix."""
    file, budget = _regular_file(path), Budget.of(path)
    with unreadable_as_error(path):
        found = _read_text(Source(budget, file, dialect=dialect), text.read)
        say(Note(path, "classes", found.recognised or Recognised()))
        column = found.table.column(0)
        budget.check(column.nbytes * 2 + TEXT_BYTES * len(column))
        return column.to_pylist()


def is_tabbed_text(path: str, dialect: Dialect) -> bool:
    """Whether a file is a table that Excel saved as text: it ends in .txt and has a tab in its first line."""
    if path == STDIN or _suffix(Path(path)) != ".txt" or not Path(path).is_file():
        return False
    with unreadable_as_error(path):
        source = Source(Budget.of(path), Path(path))
        with source.open() as stream:
            head = stream.read(HEAD)
        encoding = dialect.encoding or encoding_of(head)
        return "\t" in head.decode(encoding, "replace").partition("\n")[0]


def is_of(path: str, suffixes: Collection[str], file_format: str | None = None) -> bool:
    """Whether a file has one of some formats, by its suffix or as ``file_format`` says."""
    suffix = "" if path == STDIN else _suffix(Path(path))
    if file_format is not None and suffix not in BINARY:
        suffix = f".{file_format}"
    return (suffix or ".csv") in suffixes


def is_readable(path: str) -> bool:
    """Whether the suffix of a file is one that ``read_file`` knows."""
    return _suffix(Path(path)) in SUFFIXES


def _regular_file(path: str) -> Path:
    """Return the path if there is a regular file."""
    file = Path(path)
    if not file.exists():
        raise FileError.missing(path)
    if file.is_fifo():
        raise FileError.pipe(path)
    if not file.is_file():
        raise FileError.unreadable(path, "it is a directory or a device")
    return file


def _known_format(path: str, file_format: str) -> str:
    """Return the format if it can be read from a file or, without .npz, from standard input."""
    known = [suffix[1:] for suffix in SUFFIXES if path != STDIN or suffix != ".npz"]
    if file_format not in known:
        with located(Place(file=path)):
            raise KindError.argument("the format", f"one of {', '.join(known)}", file_format)
    return file_format


def _suffix(file: Path) -> str:
    """Suffix that names the format, without ``.gz``."""
    suffixes = [suffix.lower() for suffix in file.suffixes]
    return suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else suffixes[-1] if suffixes else ""


def _read_standard_input(source: Source, suffix: str) -> Columns:
    budget = source.budget
    if sys.stdin is None:
        raise FileError.unreadable(budget.path, "standard input is closed")
    parts, size = [], 0
    while part := sys.stdin.buffer.read(1 << 20):
        parts.append(part)
        size += len(part)
        budget.check(2 * size)  # the parts, and then all of them joined
    data = b"".join(parts)
    parts.clear()
    with unreadable_as_error(budget.path):
        if suffix == ".npy":
            return Columns(budget.path, npy.read_bytes(data, budget.path))
        return _read_table(replace(source, budget=budget.with_taken(size), data=data), suffix)


def _read_table(source: Source, suffix: str) -> Columns:
    """Read a table with pyarrow."""
    path = source.budget.path
    try:
        import pyarrow as pa
    except ImportError:
        raise PackageError.to_read("pyarrow", path) from None
    if suffix not in FORMATS:
        raise FileError.unknown_kind(path, tuple(FORMATS))
    try:
        reader = FORMATS[suffix]
        read = reader(source) if suffix in BINARY else _read_text(source, reader)
        names = read.table.column_names
    except pa.ArrowException as error:
        raise FileError.unreadable(path, " ".join(str(error).split())[:200]) from None
    if len(set(names)) < len(names):
        raise FileError.same_names(path, next(name for name, count in Counter(names).items() if count > 1))
    budget = source.budget.with_taken(-read.mapped_bytes)
    return Columns(
        path,
        table=read.table,
        has_names=read.has_names,
        is_text=read.is_text,
        budget=budget,
        line_orders=read.line_orders,
        sep=read.sep,
        decimal=source.dialect.decimal,
        recognised=read.recognised or Recognised(),
        formulas=read.formulas,
    )


def _read_text(source: Source, read: TableReader) -> Table:
    """Read a text file in the encoding that was passed, else in that which its bytes tell, else as cp1252."""
    import pyarrow as pa

    path, given = source.budget.path, source.dialect.encoding
    if given is None:
        with source.open() as stream:
            encoding = encoding_of(stream.read(HEAD))
    else:
        encoding = given
    try:
        table = read(source.with_encoding(encoding))
    except (UnicodeDecodeError, pa.ArrowInvalid) as error:
        if encoding != PLAIN_ENCODING or not (isinstance(error, UnicodeDecodeError) or "invalid UTF8" in str(error)):
            raise
        if given is not None:
            raise FileError.undecodable(path, encoding) from None
        with source.open() as stream:
            encoding = encoding_of_other(path, stream)
        table = read(source.with_encoding(encoding))
    found = table.recognised or Recognised()
    found.encoding = None if given is not None or encoding == PLAIN_ENCODING else encoding
    return table._replace(recognised=found)
