"""Write sets to a file (csv, jsonl, parquet, npz or xlsx) or to an open stream, part by part.

A file is written completely or not at all (``atomic``).
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final

from rankset.errors import FileError
from rankset.io import atomic
from rankset.io.sets_table import check_kept_names
from rankset.io.writers.base import SetsAndKept, Writer
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
    suffix = path.suffixes[-2] if path.suffix == ".gz" and len(path.suffixes) > 1 else path.suffix
    if suffix not in FORMATS or (path.suffix == ".gz" and suffix not in TEXT_FORMATS):
        raise FileError.unknown_kind(str(path), tuple(FORMATS))
    if style != PLAIN and suffix not in FOR_SPREADSHEETS:
        raise FileError.not_for_spreadsheets(str(path))
    with ExitStack() as stack:
        file: Any = stack.enter_context(atomic.open_output(path, force=force))
        if path.suffix == ".gz":
            file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", mtime=0))
        kind: Any = FORMATS[suffix]
        styled = (style,) if suffix in FOR_SPREADSHEETS else ()
        writer: Writer = kind(file, str(path), *styled)
        return _write_parts(writer, parts)


def stream_sets(file: Any, parts: Iterable[SetsAndKept], *, style: Style = PLAIN) -> None:
    """Write the sets as csv to an open file."""
    _write_parts(Csv(file, "standard output", style), parts)


def _write_parts(writer: Writer, parts: Iterable[SetsAndKept]) -> int:
    """Write all parts; those without rows only if there are no others, because their columns have no types."""
    rows, without_rows = 0, None
    try:
        for sets, kept in parts:
            check_kept_names(kept)
            if len(sets):
                writer.add(sets, kept)
            elif without_rows is None:
                without_rows = (sets, kept)
            rows += len(sets)
        if rows == 0 and without_rows is not None:
            writer.add(*without_rows)
    except BaseException:
        with suppress(Exception):
            writer.close()
        raise
    writer.close()
    return rows
