"""Read csv (``.csv``) and tab-separated (``.tsv``) files; ``recognise`` finds other separators.

All cells stay texts. Which of them are numbers is decided in ``columns``, where it is known what a column is for;
``parse_cells`` does it, and raises the errors that name a row.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankset.io.cut_numbers import commas_explained
from rankset.io.dialect import Recognised
from rankset.io.memory_budget import Budget
from rankset.io.readers.table import ARRAY_BYTES, Table, TableReader
from rankset.io.recognise import NONE, SAMPLE_BYTES, Sample, cells_of, recognise_separator, stated_separator
from rankset.io.source import Source

COLUMN_BYTES = 10 << 10
"""Bytes that pyarrow takes for every column besides its cells: 9.1 KB, measured with 50,000 columns."""
CELL_BYTES = 64
"""Bytes that Python takes for a cell of the first line."""
LINE_END = re.compile(rb"[\r\n]")
MAX_BLOCK = 16 << 20
MIN_BLOCK = 256 << 10
MAX_FIRST_LINE = 64 << 20
"""Most bytes of the first record."""


def reader(default: str) -> TableReader:
    """Return the reader of files whose cells are separated by ``default``, unless another separator is recognised."""

    def read(source: Source) -> Table:
        start = _Start.of(source)
        if not start.first:
            return Table(_no_columns(), is_text=True)
        source.budget.check(CELL_BYTES * max(map(LINE_END.split(start.first, maxsplit=1)[0].count, b",;\t|")))
        sep = source.dialect.sep or start.stated
        sep = sep or recognise_separator(source.budget.path, start.sample(source), source.dialect, default)
        found = Recognised(one_column=sep == NONE)
        if source.dialect.sep is None and sep not in (default, NONE):
            found.sep = sep
        with commas_explained(source.budget.path, sep):
            table = _read(source, sep, start)
        return Table(table, has_names=source.header, is_text=True, sep=sep, recognised=found)

    return read


@dataclass(frozen=True)
class _Start:
    """The start of a file: the separator in a line before the first record, the first record, and some more."""

    stated: str | None
    first: bytes
    more: bytes

    @classmethod
    def of(cls, source: Source) -> _Start:
        with source.open() as stream:
            line = stream.readline(16)
            stated = stated_separator(line)
            first = _first_record(stream, source.budget, b"" if stated else line)
            return cls(stated, first.removeprefix(codecs.BOM_UTF8) and first, stream.read(SAMPLE_BYTES))

    def sample(self, source: Source) -> Sample:
        """Return the text of the start."""
        first, more = self.first.decode("utf-8-sig", "replace"), self.more.decode("utf-8", "replace")
        return Sample(first, more, is_cut=len(self.more) == SAMPLE_BYTES, header=source.header)


def _no_columns() -> Any:
    import pyarrow as pa

    return pa.table({})


def _read(source: Source, delimiter: str, start: _Start) -> Any:
    """Arrow table of all cells as texts; without a header the columns are called 0, 1, 2, …"""
    import pyarrow as pa

    budget, header, first = source.budget, source.header, start.first
    budget.check(COLUMN_BYTES * (LINE_END.split(first, maxsplit=1)[0].count(delimiter.encode()) + 1))
    cells = cells_of(first.decode("utf-8-sig"), delimiter)  # raises if the names are not UTF-8
    names = cells if header else [f"f{place}" for place in range(len(cells))]  # the names that pyarrow makes
    block = max(MIN_BLOCK, min(MAX_BLOCK, budget.limit // 64), 4 * len(first))
    batches, needed = [], COLUMN_BYTES * len(names)
    with source.open_for_arrow() as stream:
        arrow_reader = _arrow_reader(stream, names, delimiter, block, header=header, skipped=start.stated is not None)
        if any(kind != pa.string() for kind in arrow_reader.schema.types):
            raise ValueError("its first line must contain the column names, with quotes only around complete names")
        for batch in arrow_reader:
            batches.append(batch)
            needed += batch.nbytes + (8 * batch.num_rows + ARRAY_BYTES) * batch.num_columns
            budget.check(needed)
    table = pa.Table.from_batches(batches, arrow_reader.schema)
    table = _without_empty_end(table) if len(names) == 1 else _without_empty_rows(table)
    return table if header else table.rename_columns([str(place) for place in range(table.num_columns)])


def _arrow_reader(
    stream: Any, names: list[str], delimiter: str, block: int, *, header: bool, skipped: bool = False
) -> Any:
    """Reader of pyarrow that converts nothing; ``skipped``: the first line is no record."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    several = len(names) > 1  # with several columns an empty line is no row
    return arrow_csv.open_csv(
        stream,
        read_options=arrow_csv.ReadOptions(
            block_size=block, autogenerate_column_names=not header, use_threads=False, skip_rows=int(skipped)
        ),
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


def _without_empty_rows(table: Any) -> Any:
    """Table without the rows at its end in which all cells are empty; spreadsheets write such lines (;;;)."""
    from pyarrow import compute

    if len(table) == 0 or any(column[-1].as_py() for column in table.columns):
        return table
    filled = np.zeros(len(table), dtype=np.bool_)
    for column in table.columns:
        filled |= compute.binary_length(column).to_numpy() > 0
    return table[: len(table) - int(filled[::-1].argmax()) if filled.any() else 0]


def _first_record(stream: Any, budget: Budget, begun: bytes) -> bytes:
    """First line that is not empty, with the lines that belong to it because a quote is open; ``begun`` is read."""
    limit = min(MAX_FIRST_LINE, budget.limit // 8)
    first, line = b"", begun if begun.endswith(b"\n") else begun + stream.readline(limit - len(begun))
    while line:
        if first or line not in (b"\n", b"\r\n"):
            first += line
            if len(first) >= limit:
                raise ValueError(f"its first line is longer than {limit:,} bytes")
            if first.count(b'"') % 2 == 0:
                break
        line = stream.readline(limit - len(first))
    return first
