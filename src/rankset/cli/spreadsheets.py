"""The options ``--excel`` and ``--excel-decimal``: output files for spreadsheets, written as the input was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from rankset.io.dialect import DECIMALS
from rankset.io.layout import Layout
from rankset.io.notes import Note, decimal_of_scores, separator_of_whole_scores
from rankset.io.read_file import SEPARATED, WORKBOOKS, is_of
from rankset.io.writers.csv import Style, excel_style

SPREADSHEET_OPTIONS = {
    "excel": click.option(
        "--excel",
        is_flag=True,
        help="Write csv for spreadsheets: text that looks like a formula is escaped, and if the input has decimal "
        "commas, the output has them too, with the separator ; (for .xlsx and other files without decimal marks: "
        "--decimal ,)",
    ),
    "excel_decimal": click.option(
        "--excel-decimal",
        type=click.Choice(DECIMALS),
        help="Like --excel, with this decimal mark whatever the input has; a comma also makes the separator ;",
    ),
}


def for_reading(layout: Layout, files: Sequence[str]) -> Layout:
    """Return the layout without --sep, which is then about the output, if no file has separators."""
    return layout if any(is_of(file, SEPARATED, layout.file_format) for file in files) else replace(layout, sep=None)


def style_as_read(heard: Sequence[Note], layout: Layout, file: str, decimal: str | None) -> Style:
    """Return how files for spreadsheets are written.

    That is with the mark ``decimal`` if it is given, else as the first ``file`` was read, about which notes were heard.
    """
    mark = read = decimal_of_scores(heard)
    if is_of(file, SEPARATED, layout.file_format):
        mark = read = layout.decimal or read
    elif not is_of(file, WORKBOOKS, layout.file_format):
        return excel_style(decimal or layout.decimal, sep=layout.sep)
    mark = decimal or layout.decimal or mark
    sep = layout.sep or separator_of_whole_scores(heard)
    return excel_style(mark, sep=None if decimal == "." else sep, read=read or ".")
