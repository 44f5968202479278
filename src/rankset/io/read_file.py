"""Read a file of model outputs, labels or groups: ``read_file(path)`` gives its ``Columns``.

NumPy and pyarrow do the parsing, and nothing in a file is ever executed. Every reader counts the memory it needs and
refuses the file before that exceeds the budget (``memory_budget``).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rankset.errors import FileError, KindError, PackageError, Place, located
from rankset.io.columns import Columns
from rankset.io.memory_budget import Budget
from rankset.io.parse_cells import TEXT_BYTES
from rankset.io.readers import columnar, csv, jsonl, npy, npz, text
from rankset.io.readers.table import TableReader
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
}
"""Readers of tables by suffix. Any of these may be followed by ``.gz``."""
SUFFIXES = (".npy", ".npz", *FORMATS)
"""Suffixes of all files that can be read."""
BINARY = (".npy", ".npz", ".parquet", ".arrow", ".feather")
"""Suffixes of files that are no text files."""


def read_file(path: str, *, file_format: str | None = None, header: bool = True) -> Columns:
    """Read the columns of a file, or of standard input (``-``).

    ``file_format`` ("csv", "jsonl", …) is used where the file name has no known suffix, and in place of another suffix
    of text files; binary files are what their suffix says. Raises ``FileError`` if the
    file does not exist, is damaged, has no known format, or takes more memory than ``memory_budget.limit()``.
    """
    budget = Budget.of(path)
    if path == STDIN:
        return _read_standard_input(budget, f".{_known_format(path, file_format or 'csv')}", header=header)
    file = _regular_file(path)
    suffix = _suffix(file)
    if file_format and suffix not in BINARY:
        suffix = f".{_known_format(path, file_format)}"
    if suffix not in SUFFIXES:
        raise FileError.unknown_kind(path, SUFFIXES)
    with unreadable_as_error(path):
        if suffix == ".npy":
            return Columns(path, npy.read(file))
        if suffix == ".npz":
            return Columns(path, archive=npz.Archive.of(file, budget))
        return _read_table(Source(budget, file, header=header), suffix)


def read_lines(path: str) -> list[str]:
    """Read the lines of a text file, whatever its suffix."""
    file, budget = _regular_file(path), Budget.of(path)
    with unreadable_as_error(path):
        column = text.read(Source(budget, file)).table.column(0)
        budget.check(column.nbytes * 2 + TEXT_BYTES * len(column))
        return column.to_pylist()


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


def _read_standard_input(budget: Budget, suffix: str, *, header: bool) -> Columns:
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
        return _read_table(Source(budget.with_taken(size), data=data, header=header), suffix)


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
        read = FORMATS[suffix](source)
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
    )
