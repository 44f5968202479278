"""Read workbooks (``.xlsx``, ``.xlsm``) with openpyxl: the cells of one sheet, as texts.

Formulas are not calculated; the values that the spreadsheet program stored for them are read. Nothing is executed.
"""

from __future__ import annotations

import datetime as dt
import itertools
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rankset.core.arrays import EXACT
from rankset.errors import FileError, PackageError
from rankset.io.memory_budget import Budget
from rankset.io.readers.table import ARRAY_BYTES, Table
from rankset.io.readers.workbook_check import check_workbook
from rankset.io.source import Source

MAX_ROWS = 1 << 20
"""Most rows of a sheet."""
PART_ROWS = 4096
"""Rows that are converted to a table at a time."""
CELL_BYTES = 120
"""Bytes that Python takes for the text of a cell while its rows are converted."""

LETTER_BYTES = 8
"""Bytes for each letter of a text: cells can share one text in a workbook, and have copies of it in a table."""

NOWHERE = (0, -1)
"""Corner of a sheet without cells."""

Row = Sequence[Any]


def read(source: Source) -> Table:
    """Read the sheet with cells, or the one that was passed; empty rows and columns around its cells are left out."""
    import pyarrow as pa

    path = source.budget.path
    with _open_workbook(source) as (values, formulas, budget):
        title = _sheet(values, source.sheet, path)
        start, left = _corner(values[title])
        rows = _rows_with_content(values[title], start, budget)
        first = _texts(next(rows)) if source.header and left >= 0 else []
        if left < 0:
            return Table(pa.table({}), is_text=True)
        table = _table(rows, budget)
        names, table, left = _with_names(first or list(map(str, range(table.num_columns))), table, left)
        missing = {} if formulas is None else _missing_values(values[title], formulas[title], start, left, source)
        return Table(
            table.rename_columns(names),
            has_names=source.header,
            is_text=True,
            formulas={names[place]: row for place, row in missing.items() if place < len(names)},
        )


@contextmanager
def _open_workbook(source: Source) -> Iterator[tuple[Any, Any, Budget]]:
    """Open a workbook with the values of its formulas, and again with the formulas if there are any, else None.

    The third is what is left of the budget.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise PackageError.to_read("openpyxl", source.budget.path) from None
    with source.on_disk() as file, file.open("rb") as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about parts that are not read
        needed, has_formulas = check_workbook(stream, source.budget)
        values = load_workbook(stream, read_only=True, data_only=True, keep_links=False)
        if not has_formulas:
            yield values, None, source.budget.with_taken(needed)
            return
        source.budget.check(2 * needed)
        with file.open("rb") as again:
            yield values, load_workbook(again, read_only=True, keep_links=False), source.budget.with_taken(2 * needed)


def _sheet(workbook: Any, wanted: str | None, path: str) -> str:
    """Return the name of the sheet to read: that with the name or number ``wanted``, or the only one with cells."""
    titles = [sheet.title for sheet in workbook.worksheets]
    for sheet in workbook.worksheets:
        sheet.reset_dimensions()  # programs write wrong ones
    if wanted is not None:
        if wanted in titles:
            return wanted
        if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted[:9]) <= len(titles):
            return titles[int(wanted[:9]) - 1]
        raise FileError.no_sheet(path, wanted, titles)
    shown = [sheet for sheet in workbook.worksheets if sheet.sheet_state == "visible"]
    filled = [sheet.title for sheet in shown if _has_cells(sheet)]
    if len(filled) > 1:
        raise FileError.which_sheet(path, filled)
    if not titles:
        raise FileError.no_sheet(path, "1", titles)
    return (filled or titles)[0]


def _has_cells(sheet: Any) -> bool:
    return _corner(sheet) != NOWHERE


def _corner(sheet: Any) -> tuple[int, int]:
    """Return the number of the first row with content, and the number of its first column with content."""
    for number, row in enumerate(itertools.islice(sheet.iter_rows(values_only=True), MAX_ROWS)):
        for place, value in enumerate(row):
            if value is not None:
                return number, place
    return NOWHERE


def _rows_with_content(sheet: Any, start: int, budget: Budget) -> Iterator[Row]:
    """Yield the rows from ``start`` to the last one with content."""
    empty = 0
    for number, row in enumerate(sheet.iter_rows(min_row=start + 1, values_only=True), start):
        if number >= MAX_ROWS:
            raise FileError.too_many_rows(budget.path, MAX_ROWS)
        if all(value is None for value in row):
            empty += 1
            continue
        yield from itertools.repeat((), empty)
        empty = 0
        yield row


def _table(rows: Iterator[Row], budget: Budget) -> Any:
    """Arrow table of the texts of all rows; its columns are called 0, 1, 2, …"""
    import pyarrow as pa

    parts, needed = [], 0
    while some := _some_rows(rows, budget.with_taken(needed)):
        width = max(map(len, some))
        columns = [_texts([row[place] if place < len(row) else None for row in some]) for place in range(width)]
        parts.append(pa.table([pa.array(column, pa.string()) for column in columns], list(map(str, range(width)))))
        needed += 2 * parts[-1].nbytes + ARRAY_BYTES * width
        budget.check(needed)
    width = max((part.num_columns for part in parts), default=0)
    return pa.concat_tables([_widened(part, width) for part in parts]) if parts else pa.table({})


def _some_rows(rows: Iterator[Row], budget: Budget) -> list[Row]:
    """Return the next rows, if the texts of their cells fit the budget."""
    some, widest, letters = [], 0, 0
    for row in itertools.islice(rows, PART_ROWS):
        some.append(row)
        widest = max(widest, len(row))
        letters += sum(len(value) for value in row if isinstance(value, str))
        budget.check(CELL_BYTES * widest * len(some) + LETTER_BYTES * letters)
    return some


def _widened(table: Any, width: int) -> Any:
    """Table with further columns of empty texts."""
    import pyarrow as pa

    for place in range(table.num_columns, width):
        table = table.append_column(str(place), pa.array([""] * len(table), pa.string()))
    return table


def _with_names(names: list[str], table: Any, left: int) -> tuple[list[str], Any, int]:
    """Names and table with the same number of columns, without empty columns at the left and at the right.

    ``left`` columns at the left have no cell in the first row. The number of columns left out at the left comes third.
    """
    width = max(len(names), table.num_columns)
    table = _widened(table, width)
    names = [*names, *([""] * (width - len(names)))]
    while names and not names[-1] and _is_blank(table.column(len(names) - 1)):
        names.pop()
    blank = 0
    while blank < min(left, len(names)) and _is_blank(table.column(blank)):
        blank += 1
    return names[blank:], table.select(list(range(blank, len(names)))), blank


def _is_blank(column: Any) -> bool:
    """Return whether all cells of a column are empty."""
    from pyarrow import compute

    return not compute.any(compute.not_equal(column, "")).as_py()


def _missing_values(values: Any, formulas: Any, start: int, left: int, source: Source) -> dict[int, int]:
    """Return the columns with formulas that have no stored value, and the first row of each."""
    formulas.reset_dimensions()
    found: dict[int, int] = {}
    skipped = start + 1 if source.header else start
    pairs = zip(values.iter_rows(values_only=True), formulas.iter_rows(values_only=True), strict=True)
    for row, (shown, written) in enumerate(itertools.islice(pairs, skipped, None)):
        for place, value in enumerate(written[left:]):
            if value is not None and shown[left + place] is None:
                found.setdefault(place, row)
    return found


def _texts(values: Sequence[Any]) -> list[str]:
    return [value if isinstance(value, str) else _text(value) for value in values]


def _text(value: Any) -> str:
    """Text of a cell: whole numbers without a point, TRUE and FALSE, dates as ISO texts, empty cells as empty texts."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return str(int(value))
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)
