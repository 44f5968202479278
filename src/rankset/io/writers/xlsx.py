"""Write sets as a workbook (``.xlsx``) with openpyxl. Numbers are numbers; texts are texts, also those like formulas."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from rankset.core.arrays import EXACT
from rankset.errors import FileError, Place, located
from rankset.inputs.vocabulary import distinct_texts
from rankset.io.sets_table import SET_COLUMNS
from rankset.io.writers.base import KeptColumns, Writer
from rankset.io.writers.csv import SEPARATOR, kept_values
from rankset.sets import PredictionSets

MAX_ROWS = 1 << 20
"""Most rows of a sheet, with the names of the columns."""
MAX_TEXT = 32_767
"""Most characters of a cell."""
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that a workbook cannot hold; they are written by number."""
DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:[.,][0-9]{1,17})?")
"""A number as programs write it."""


class Xlsx(Writer):
    """One sheet with the columns size, top and labels; labels joined by ``|``.

    A kept column of texts becomes numbers if all of them are written as numbers without a needless digit, so that a
    text such as 007 or 1.50 stays as it is.
    """

    def __init__(self, file: Any, path: str) -> None:
        super().__init__(file, path)
        try:
            from openpyxl import Workbook
            from openpyxl.cell import WriteOnlyCell
        except ImportError:
            raise FileError.no_openpyxl(path) from None
        self.book, self.make_cell = Workbook(write_only=True), WriteOnlyCell
        self.sheet = self.book.create_sheet("sets")
        self.rows = 0
        self.names: Any = None

    def add(self, sets: PredictionSets, kept: KeptColumns) -> None:
        if self.names is None:
            for name in sets.names.values:
                if SEPARATOR in str(name):
                    raise FileError.separator_in_name(self.path, name)
            with located(Place(file=self.path)):
                self.names = np.array([*distinct_texts(sets.names, "an .xlsx file"), None], dtype=object)[:-1]
            self._write_row([*kept, *SET_COLUMNS])
        tops = np.array([*sets.names.values, None], dtype=object)
        others = zip(*map(_with_numbers, map(kept_values, kept.values())), strict=True) if kept else ((),) * len(sets)
        codes = np.split(sets.codes, sets.offsets[1:-1]) if len(sets) else ()
        for some, other in zip(codes, others, strict=True):
            labels = SEPARATOR.join(self.names[some].tolist())
            self._write_row([*other, len(some), tops[some[0]] if len(some) else None, labels])

    def _write_row(self, values: list[Any]) -> None:
        self.rows += 1
        if self.rows > MAX_ROWS:
            raise FileError.too_many_rows(self.path, MAX_ROWS - 1)
        self.sheet.append([self._cell(value) for value in values])

    def _cell(self, value: Any) -> Any:
        """Return what openpyxl writes as a number, a boolean, an empty cell, or else as a text."""
        if value is None or isinstance(value, bool):
            return value
        is_exact = isinstance(value, int) and abs(value) < EXACT
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


def _with_numbers(values: list[Any]) -> list[Any]:
    """Return texts as numbers if all of them are written as numbers; other values as they are."""
    words = {value for value in values if value not in ("", None)}
    if not words or not all(isinstance(word, str) and _is_exact(word) for word in words):
        return values
    return [None if value in ("", None) else float(value.replace(",", ".")) for value in values]


def _is_exact(text: str) -> bool:
    """Whether a text is a number, and the number is written like the text."""
    plain = text.replace(",", ".")
    return DECIMAL.fullmatch(text) is not None and plain in (repr(float(plain)), str(float(plain)).removesuffix(".0"))
