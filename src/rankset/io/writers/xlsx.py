"""Write sets as a workbook (``.xlsx``) with openpyxl: numbers as numbers, texts as texts, also those like formulas."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from rankset.errors import FileError, PackageError, Place, located
from rankset.inputs.vocabulary import distinct_texts
from rankset.io.sets_table import SET_COLUMNS
from rankset.io.writers.base import KeptColumns, Writer
from rankset.io.writers.csv import PLAIN, SEPARATOR, Style, kept_values
from rankset.io.writers.values import python_values
from rankset.sets import PredictionSets
from rankset.sets.option_names import names_of_cells

MAX_ROWS = 1 << 20
"""Most rows of a sheet, with the names of the columns."""
MAX_TEXT = 32_767
"""Most characters of a cell."""
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that a workbook cannot hold; they are written by number."""
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(?:\.([0-9]+))?([eE][+-][0-9]{1,3})?")
"""A number as programs write it: not 007. An exponent has a sign, as in 4.7e-05; 12e4 may be a code."""
EXPONENT = "e"
"""Stands for the digits after the point of a number with an exponent."""
MAX_DIGITS = 15
"""Digits that a number in a spreadsheet keeps; zeros at the start do not count."""
SMALLEST = sys.float_info.min
"""Smallest number above 0 that a spreadsheet holds with all digits."""


class Xlsx(Writer):
    """One sheet with the columns size, top and labels; labels joined by ``|``.

    A kept column of texts (of a csv file) becomes numbers if that loses no digit: see ``_as_numbers``. ``style``
    has the decimal mark of these texts, and the column of ids, whose texts stay texts in every file.
    """

    def __init__(self, file: Any, path: str, style: Style = PLAIN) -> None:
        super().__init__(file, path)
        self.style, self.decimal = style, style.read or style.decimal
        try:
            from openpyxl import Workbook
            from openpyxl.cell import Cell, WriteOnlyCell
        except ImportError:
            raise PackageError.to_write("openpyxl", path) from None
        self.book, self.make_cell, self.cells = Workbook(write_only=True), WriteOnlyCell, Cell
        self.sheet = self.book.create_sheet("sets")
        self.rows = 0
        self.names: Any = None

    def add(self, sets: PredictionSets, kept: KeptColumns) -> None:
        if sets.options is not None:
            self._check_names(names_of_cells(sets).tolist())
        if self.names is None:
            self._check_names(sets.names.values)
            with located(Place(file=self.path)):
                self.names = np.array([*distinct_texts(sets.names, "an .xlsx file"), None], dtype=object)[:-1]
            self._write_row([*kept, *SET_COLUMNS])
        shared = np.array([*sets.names.values, None], dtype=object)
        columns = [self._column(name, kept_values(column)) for name, column in kept.items()]
        others = zip(*columns, strict=True) if kept else ((),) * len(sets)
        codes = np.split(sets.codes, sets.offsets[1:-1]) if len(sets) else ()
        for row, (some, other) in enumerate(zip(codes, others, strict=True)):
            texts, tops = (self.names, shared) if sets.options is None else (sets.options[row].astype(str),) * 2
            labels = SEPARATOR.join(texts[some].tolist())
            self._write_row([*other, len(some), tops[some[0]] if len(some) else None, labels])

    def add_columns(self, own: KeptColumns, kept: KeptColumns) -> None:
        if self.rows == 0:
            self.sheet.title = "rows"
            self._write_row([*kept, *own])
        columns = [self._column(name, kept_values(column)) for name, column in kept.items()]
        for row in zip(*columns, *map(python_values, own.values()), strict=True):
            self._write_row(list(row))

    def _check_names(self, names: Iterable[object]) -> None:
        """Refuse names that contain what stands between two labels."""
        for name in names:
            if SEPARATOR in str(name):
                raise FileError.separator_in_name(self.path, name)

    def _write_row(self, values: list[Any]) -> None:
        self.rows += 1
        if self.rows > MAX_ROWS:
            raise FileError.too_many_rows(self.path, MAX_ROWS - 1)
        self.sheet.append([self._cell(value) for value in values])

    def _column(self, name: str, values: list[Any]) -> list[Any]:
        """Return a kept column, as cells with the same number of decimals if its texts are such numbers."""
        if name == self.style.ids:
            return [None if value is None else str(value) for value in values] if self.style.ids_of_text else values
        found = _as_numbers(values, self.decimal)
        if found is None:
            return values
        numbers, decimals = found
        shown = f"0.{'0' * decimals}" if decimals else "General"
        return [None if number is None else self._number_cell(number, shown) for number in numbers]

    def _number_cell(self, number: float, shown: str) -> Any:
        cell = self.make_cell(self.sheet, value=number)
        cell.number_format = shown
        return cell

    def _cell(self, value: Any) -> Any:
        """Return what openpyxl writes as a number, a boolean, an empty cell, or else as a text."""
        if value is None or isinstance(value, bool | self.cells):
            return value
        is_exact = isinstance(value, int) and abs(value) < 10**MAX_DIGITS
        if is_exact or (isinstance(value, float) and math.isfinite(value)):
            return value
        text = NOT_IN_XML.sub(lambda found: ascii(found[0])[1:-1], str(value))
        if len(text) > MAX_TEXT:
            raise FileError.long_cell(self.path, MAX_TEXT, len(text))
        if not text:
            return None
        cell = self.make_cell(self.sheet, value="")
        cell.value = text
        cell.data_type = "s"  # a text such as =1+1 is not a formula, and #N/A not an error
        return cell

    def close(self) -> None:
        self.book.save(self.file)
        super().close()


def _as_numbers(values: list[Any], decimal: str) -> tuple[list[float | None], int] | None:
    """Return texts as numbers, and the number of decimals to show (0: as many as there are); None if that loses digits.

    All of them must be numbers with up to 15 digits before the point, or 15 digits in all if they have no point:
    programs write all 17 digits of a double. Either none has a needless zero at the end, or all have the same
    number of decimals, which are then shown: 0.25 and 1.5; or 0.25 and 1.50.
    A zero after the point, as in 2.0, does not count, and no zero of a number with an exponent, as in 5.0e-05.
    """
    words = list(dict.fromkeys(value for value in values if value not in ("", None)))
    if not words or not all(isinstance(word, str) for word in words):
        return None
    found = [_digits(_with_point(word, decimal)) for word in words]
    if None in found:
        return None
    fractions = [fraction for fraction in found if fraction not in (None, EXPONENT)]
    needless = any(fraction.endswith("0") and fraction != "0" for fraction in fractions)
    lengths = {len(fraction) for fraction in fractions}
    if needless and len(lengths) > 1:
        return None
    numbers = [None if value in ("", None) else float(_with_point(value, decimal)) for value in values]
    return numbers, lengths.pop() if needless and len(fractions) == len(found) else 0


def _digits(text: str) -> str | None:
    """Return the digits after the point of a number, or ``EXPONENT``; None if a spreadsheet cannot hold the number."""
    found = NUMBER.fullmatch(text)
    if found is None:
        return None
    whole, fraction, exponent = found[1], found[2] or "", found[3]
    digits = (whole + fraction).lstrip("0")
    is_held = not digits or SMALLEST <= abs(float(text)) < math.inf
    counted = whole.lstrip("0") if fraction else digits  # a program writes all digits of a double
    if len(counted) > MAX_DIGITS or not is_held:
        return None
    return fraction if exponent is None else EXPONENT


def _with_point(text: str, decimal: str) -> str:
    """Text of a number with a decimal point; the other mark makes it no number."""
    return text if decimal == "." else text.replace(".", "?").replace(decimal, ".")
