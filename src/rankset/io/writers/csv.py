"""Write sets as csv (``.csv``), for programs or for Excel and other spreadsheets."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import FileError, Place, located
from rankset.inputs.vocabulary import distinct_texts
from rankset.io.sets_table import SET_COLUMNS
from rankset.io.writers.base import KeptColumns, Writer
from rankset.io.writers.values import json_value, python_values
from rankset.sets import PredictionSets
from rankset.sets.option_names import names_of_cells

SEPARATOR = "|"
"""Stands between the labels of a set in a cell."""
FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")
"""Start of cells that spreadsheets run as formulas, or whose first character they skip."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Style:
    """How csv is written. ``quotes_formulas``: an apostrophe goes before texts that spreadsheets would run.

    ``decimal``: the decimal mark of numbers; a number among texts may have it as well as the decimal point.
    ``read``: the decimal mark of numbers among texts, if they are to get ``decimal`` instead.
    ``ids``: the column of ids, whose texts are texts in a workbook, also those like numbers; None: as other columns.
    ``ids_of_text``: these ids were read from a text file, where every cell is a text, also if all are whole numbers.
    """

    encoding: str = "utf-8"
    delimiter: str = ","
    quotes_formulas: bool = False
    decimal: str = "."
    read: str | None = None
    ids: str | None = None
    ids_of_text: bool = False

    def cell(self, value: object) -> object:
        """Return the content of the cell of a value."""
        text = str(value)
        if isinstance(value, float) and self.decimal != ".":
            return text.replace(".", self.decimal)
        if self.read not in (None, self.decimal) and NUMBER.fullmatch(text.replace(str(self.read), ".", 1)):
            return text.replace(str(self.read), self.decimal)
        number = text.replace(",", ".", 1) if self.delimiter == ";" else text
        quoted = self.quotes_formulas and FORMULA.match(text) and not NUMBER.fullmatch(number)
        return f"'{text}" if quoted else value


PLAIN = Style()
"""csv for programs."""
EXCEL = Style(encoding="utf-8-sig", quotes_formulas=True)
"""csv for spreadsheets; it begins with the mark by which Excel recognises UTF-8."""
EXCEL_WITH_COMMAS = replace(EXCEL, delimiter=";", decimal=",")
"""The same for spreadsheets where the decimal mark is a comma, and so the separator a semicolon."""


def excel_style(decimal: str | None, *, sep: str | None = None, read: str | None = None) -> Style:
    """Return the style for spreadsheets with the decimal mark ``decimal``; None means a point.

    Cells are separated by ``;`` where the mark is a comma or ``sep`` says it. ``read``: as in ``Style``.
    """
    style = EXCEL_WITH_COMMAS if decimal == "," else EXCEL
    return replace(style, delimiter=";" if sep == ";" else style.delimiter, read=read)


class Csv(Writer):
    """Columns size, top and labels; labels joined by ``|``."""

    def __init__(self, file: Any, path: str, style: Style = PLAIN) -> None:
        super().__init__(file, path)
        self.style = style
        self.text = io.TextIOWrapper(
            file, encoding=style.encoding, newline="", errors="backslashreplace", write_through=True
        )
        self.writer: Any = None
        self.names: NDArray[Any] = np.empty(0, dtype=object)

    def add(self, sets: PredictionSets, kept: KeptColumns) -> None:
        if sets.options is not None:
            self._check_names(names_of_cells(sets).tolist())
        if self.writer is None:
            self._check_names(sets.names.values)
            with located(Place(file=self.path)):
                self.names = np.array([*distinct_texts(sets.names, "a csv file"), None], dtype=object)[:-1]
            self._start((*kept, *SET_COLUMNS))
        others = zip(*map(kept_values, kept.values()), strict=True) if kept else ((),) * len(sets)
        codes = np.split(sets.codes, sets.offsets[1:-1]) if len(sets) else ()
        for row, (some, other) in enumerate(zip(codes, others, strict=True)):
            names = (self.names if sets.options is None else sets.options[row].astype(str))[some].tolist()
            self._write_row((*other, len(names), names[0] if names else "", SEPARATOR.join(names)))

    def add_columns(self, own: KeptColumns, kept: KeptColumns) -> None:
        if self.writer is None:
            self._start((*kept, *own))
        columns = [*map(kept_values, kept.values()), *(_lower(python_values(column)) for column in own.values())]
        for row in zip(*columns, strict=True):
            self._write_row(row)

    def _start(self, names: Iterable[str]) -> None:
        self.writer = csv.writer(self.text, delimiter=self.style.delimiter)
        self._write_row(names)

    def _check_names(self, names: Iterable[object]) -> None:
        """Refuse names that contain what stands between two labels."""
        for name in names:
            if SEPARATOR in str(name):
                raise FileError.separator_in_name(self.path, name)

    def _write_row(self, cells: Iterable[object]) -> None:
        self.writer.writerow(map(self.style.cell, cells) if self.style.quotes_formulas else cells)

    def close(self) -> None:
        self.text.detach()


def _lower(values: list[Any]) -> list[Any]:
    """Return booleans as true and false; other values as they are."""
    return [str(value).lower() if isinstance(value, bool) else value for value in values]


def kept_values(column: Any) -> list[Any]:
    """Values of a kept column; lists and objects as JSON."""
    values = python_values(column)
    return [json.dumps(json_value(value), default=str) if isinstance(value, list | dict) else value for value in values]
