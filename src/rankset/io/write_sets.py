"""Write sets, or other columns, to a file (csv, jsonl, parquet, npz or xlsx) or to an open stream, part by part.

A file is written completely or not at all (``atomic``).
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from rankset.errors import FileError
from rankset.io import atomic
from rankset.io.sets_table import check_kept_names
from rankset.io.writers.base import KeptColumns, SetsAndKept, Writer
from rankset.io.writers.csv import PLAIN, Csv, Style
from rankset.io.writers.jsonl import JsonLines
from rankset.io.writers.npz import Npz
from rankset.io.writers.parquet import Parquet
from rankset.io.writers.xlsx import Xlsx

FORMATS: Final[Mapping[str, type[Writer]]] = {
    ".csv": Csv,
    ".jsonl": JsonLines,
    ".parquet": Parquet,
    ".npz": Npz,
    ".xlsx": Xlsx,
}
"""Writers by suffix."""
FOR_SPREADSHEETS = (".csv", ".xlsx")
TEXT_FORMATS = (".csv", ".jsonl")
"""Suffixes that may be followed by ``.gz``."""


def write_sets(path: Path, parts: Iterable[SetsAndKept], *, force: bool = False, style: Style = PLAIN) -> int:
    """Write a row per set (its size, its most likely label, its labels); return the number of rows.

    Raises ``FileError`` if ``path`` has no known suffix, exists and ``force`` is false, or cannot be written, and for a
    ``style`` other than the plain one if the file is for no spreadsheet.
    """
    with _open_writer(path, force=force, style=style) as writer:
        return _write_parts(writer, parts)


def write_columns(
    path: Path, own: KeptColumns, kept: KeptColumns, *, force: bool = False, style: Style = PLAIN
) -> None:
    """Write a row per row of the columns: kept ones, and then those of rankset. Errors are those of ``write_sets``."""
    check_kept_names(kept, own)
    with _open_writer(path, force=force, style=style) as writer, _closing(writer):
        writer.add_columns(own, kept)


def check_suffix(path: Path) -> str:
    """Return the suffix that names the format of a file, without ``.gz``; raise ``FileError`` if there is no such."""
    suffix = path.suffixes[-2] if path.suffix == ".gz" and len(path.suffixes) > 1 else path.suffix
    if suffix not in FORMATS or (path.suffix == ".gz" and suffix not in TEXT_FORMATS):
        raise FileError.unknown_kind(str(path), tuple(FORMATS))
    return suffix


@contextmanager
def _open_writer(path: Path, *, force: bool, style: Style) -> Iterator[Writer]:
    """Open the writer of the format of a file."""
    suffix = check_suffix(path)
    if style != PLAIN and suffix not in FOR_SPREADSHEETS:
        raise FileError.not_for_spreadsheets(str(path))
    with ExitStack() as stack:
        file: Any = stack.enter_context(atomic.open_output(path, force=force))
        if path.suffix == ".gz":
            file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", mtime=0))
        kind: Any = FORMATS[suffix]
        styled = (style,) if suffix in FOR_SPREADSHEETS else ()
        yield kind(file, str(path), *styled)


def stream_sets(file: Any, parts: Iterable[SetsAndKept], *, style: Style = PLAIN) -> None:
    """Write the sets as csv to an open file."""
    _write_parts(Csv(file, "standard output", style), parts)


def stream_columns(file: Any, own: KeptColumns, kept: KeptColumns, *, style: Style = PLAIN) -> None:
    """Write columns as csv to an open file."""
    check_kept_names(kept, own)
    with _closing(Csv(file, "standard output", style)) as writer:
        writer.add_columns(own, kept)


@contextmanager
def _closing(writer: Writer) -> Iterator[Writer]:
    """Close a writer at the end; after an error, errors of closing it are left out."""
    try:
        yield writer
    except BaseException:
        with suppress(Exception):
            writer.close()
        raise
    writer.close()


def _write_parts(writer: Writer, parts: Iterable[SetsAndKept]) -> int:
    """Write all parts; those without rows only if there are no others, because their columns have no types."""
    rows, without_rows = 0, None
    with _closing(writer):
        for sets, kept in parts:
            check_kept_names(kept)
            if len(sets):
                writer.add(sets, kept)
            elif without_rows is None:
                without_rows = (sets, kept)
            rows += len(sets)
        if rows == 0 and without_rows is not None:
            writer.add(*without_rows)
    return rows
