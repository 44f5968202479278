"""Read csv (``.csv``) and tab-separated (``.tsv``) files.

All cells stay texts. Which of them are numbers is decided in ``columns``, where it is known what a column is for;
``parse_cells`` does it, and raises the errors that name a row.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from typing import Any

from rankset.io.memory_budget import Budget
from rankset.io.readers.table import ARRAY_BYTES, Table, TableReader
from rankset.io.source import Source

COLUMN_BYTES = 10 << 10
"""Bytes that pyarrow takes for every column besides its cells: 9.1 KB, measured with 50,000 columns."""
LINE_END = re.compile(rb"[\r\n]")
MAX_BLOCK = 16 << 20
MIN_BLOCK = 256 << 10
MAX_FIRST_LINE = 64 << 20
"""Most bytes of the first record."""


def reader(delimiter: str) -> TableReader:
    """Return the reader of files whose cells are separated by ``delimiter``."""

    def read(source: Source) -> Table:
        with source.open() as stream:
            first = _first_record(stream, source.budget)
        if not first.removeprefix(codecs.BOM_UTF8):
            return Table(_no_columns(), is_text=True)
        return Table(_read(source, delimiter, first), has_names=source.header, is_text=True)

    return read


def _no_columns() -> Any:
    import pyarrow as pa

    return pa.table({})


def _read(source: Source, delimiter: str, first: bytes) -> Any:
    """Arrow table of all cells as texts; without a header the columns are called 0, 1, 2, …"""
    import pyarrow as pa

    budget, header = source.budget, source.header
    budget.check(COLUMN_BYTES * (LINE_END.split(first, maxsplit=1)[0].count(delimiter.encode()) + 1))
    cells = _cells(first.decode("utf-8-sig"), delimiter)  # raises if the names are not UTF-8
    names = cells if header else [f"f{place}" for place in range(len(cells))]  # the names that pyarrow makes
    block = max(MIN_BLOCK, min(MAX_BLOCK, budget.limit // 64), 4 * len(first))
    batches, needed = [], COLUMN_BYTES * len(names)
    with source.open_for_arrow() as stream:
        arrow_reader = _arrow_reader(stream, names, delimiter, block, header=header)
        if any(kind != pa.string() for kind in arrow_reader.schema.types):
            raise ValueError("its first line must contain the column names, with quotes only around complete names")
        for batch in arrow_reader:
            batches.append(batch)
            needed += batch.nbytes + (8 * batch.num_rows + ARRAY_BYTES) * batch.num_columns
            budget.check(needed)
    table = pa.Table.from_batches(batches, arrow_reader.schema)
    if len(names) == 1:
        table = _without_empty_end(table)
    return table if header else table.rename_columns([str(place) for place in range(table.num_columns)])


def _arrow_reader(stream: Any, names: list[str], delimiter: str, block: int, *, header: bool) -> Any:
    """Reader of pyarrow that converts nothing."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    several = len(names) > 1  # with several columns an empty line is no row
    return arrow_csv.open_csv(
        stream,
        read_options=arrow_csv.ReadOptions(block_size=block, autogenerate_column_names=not header, use_threads=False),
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=several),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=not several,  # which tells empty lines from empty texts in quotes
            quoted_strings_can_be_null=False,
            null_values=[""],
        ),
    )


def _without_empty_end(table: Any) -> Any:
    """Table of one column without the empty lines at its end, and with empty texts for other empty lines."""
    from pyarrow import compute

    column = table.column(0)
    if column.null_count == 0:
        return table
    filled = column.is_valid().to_numpy().nonzero()[0]
    kept = compute.fill_null(column, "")[: int(filled[-1]) + 1 if len(filled) else 0]
    return type(table).from_arrays([kept], schema=table.schema)


def _first_record(stream: Any, budget: Budget) -> bytes:
    """First line that is not empty, with the lines that belong to it because a quote is open."""
    limit = min(MAX_FIRST_LINE, budget.limit // 8)
    first = b""
    while line := stream.readline(limit - len(first)):
        if not first and line in (b"\n", b"\r\n"):
            continue
        first += line
        if len(first) >= limit:
            raise ValueError(f"its first line is longer than {limit:,} bytes")
        if first.count(b'"') % 2 == 0:
            break
    return first


def _cells(record: str, delimiter: str) -> list[str]:
    """Cells of one record."""
    return next(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter), [])
