"""Parse text cells of scores (csv, tsv, workbooks) as numbers, with a decimal point or a decimal comma.

The mark is the same in the whole file. The errors raised here name the file, the column and the row of a cell that is
missing, is no number, or can be two numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import FileError, short_repr
from rankset.io.arrow_to_numpy import matrix_of_columns, to_numpy
from rankset.io.dialect import Recognised
from rankset.io.parse_cells import MISSING

EXCEL_SEPARATOR = ";"
"""Separator that Excel writes where the decimal mark is a comma."""
COMMA = re.compile(r"[+-]?(?:[0-9]+,[0-9]*|,[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""A number with a decimal comma."""
THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:[.,'’ \u00a0\u2009\u202f][0-9]{3})+(?:[.,][0-9]*)?")
"""A number with separators of thousands; some have one reading without them: 1.234."""
LIKE_THOUSANDS = {mark: rf"^\s*[+-]?[1-9][0-9]{{0,2}}\{mark}[0-9]{{3}}\s*$" for mark in ".,"}
"""A number with a mark that can be a decimal mark or a separator of thousands."""


ERROR_VALUE = re.compile(r"#(?:N/A|[A-ZÄÖÜ]+[!?]|DIV/0!|NV)")
"""An error value of a spreadsheet, in several languages: #N/A, #NV, #DIV/0!, #WERT!, #NAME?."""


class _CommaFoundError(Exception):
    """The first number with a decimal comma, where decimal points were expected."""


def parse_scores(
    path: str, table: Any, sep: str | None, decimal: str | None, recognised: Recognised
) -> NDArray[np.float64]:
    """Parse a table of texts as float64; ``sep`` separates its cells, ``decimal`` is the mark that the user passed.

    Without it the decimal comma is recognised, and noted in ``recognised``, if there is a number that has one.
    """

    def parse_with(mark: str, example: str | None = None) -> NDArray[np.float64]:
        return matrix_of_columns(table, np.dtype(float), _Parser(path, mark, example))

    if decimal is not None:
        return parse_with(decimal)
    try:
        matrix = parse_with(".", "")
        if sep == EXCEL_SEPARATOR:
            _check_thousands(path, table, ".")
            recognised.whole = not _has(table, ".")
    except _CommaFoundError as found:
        matrix = parse_with(",", str(found))
        if sep != EXCEL_SEPARATOR:
            _check_thousands(path, table, ",")
        recognised.decimal = ","
    return matrix


@dataclass(frozen=True)
class _Parser:
    """Parses some rows of a column whose numbers have the decimal ``mark``.

    ``example`` is the number with a decimal comma from which the mark was recognised; None if the user passed the mark.
    """

    path: str
    mark: str
    example: str | None

    def __call__(self, name: str, column: Any, first: int) -> NDArray[np.float64]:
        import pyarrow as pa

        texts = column if self.mark == "." else self._with_points(name, column, first)
        try:
            return to_numpy(texts.cast(pa.float64()))
        except pa.ArrowInvalid:
            return self._parse_one_by_one(name, column, first)

    def _with_points(self, name: str, column: Any, first: int) -> Any:
        """Texts with decimal points in place of decimal commas; raise an error if one has a point already."""
        from pyarrow import compute

        points = compute.match_substring(column, ".")
        if compute.any(points).as_py():
            place = compute.index(points, value=True).as_py()
            self._refuse(name, column[place].as_py().strip(), first + place)
        return compute.replace_substring(column, ",", ".")

    def _parse_one_by_one(self, name: str, column: Any, first: int) -> NDArray[np.float64]:
        """Do the same for texts with spaces around the numbers; raise an error that names a cell that is no number."""
        import pyarrow as pa

        texts = [text.strip() for text in column.to_pylist()]
        for row, text in enumerate(texts, first):
            if ERROR_VALUE.fullmatch(text):
                raise FileError.error_value(self.path, text, row, name)
            if text in MISSING:
                raise FileError.missing_cell(self.path, name, row)
            if not _is_number(text if self.mark == "." else text.replace(",", ".")):
                self._refuse(name, text, row)
        plain = texts if self.mark == "." else [text.replace(",", ".") for text in texts]
        return to_numpy(pa.array(plain, pa.string()).cast(pa.float64()))

    def _refuse(self, name: str, text: str, row: int) -> None:
        """Raise the error for a cell that is no number with this decimal mark."""
        if text.endswith("%"):
            raise FileError.percent(self.path, text, row, name)
        if self.mark == "." and COMMA.fullmatch(text):
            if self.example is not None:
                raise _CommaFoundError(text)
            raise FileError.other_mark(self.path, text, row, name, ".")
        if self.mark == "," and _is_number(text):
            if self.example is None:
                raise FileError.other_mark(self.path, text, row, name, ",")
            raise FileError.two_marks(self.path, text, self.example, row, name)
        if THOUSANDS.fullmatch(text):
            raise FileError.thousands(self.path, text, row, name)
        raise FileError.not_numbers(self.path, name, short_repr(text), row)


def has_comma(table: Any) -> bool:
    """Return whether a cell of a table of texts has a comma."""
    return _has(table, ",")


def _has(table: Any, mark: str) -> bool:
    from pyarrow import compute

    return any(compute.any(compute.match_substring(column, mark)).as_py() for column in table.columns)


def _is_number(text: str) -> bool:
    import pyarrow as pa

    try:
        pa.scalar(text).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _check_thousands(path: str, table: Any, mark: str) -> None:
    """Refuse a table in which every number with the ``mark`` can have it as a separator of thousands."""
    from pyarrow import compute

    example: tuple[str, int, str] | None = None
    for name in table.column_names:
        column = table.column(name)
        marked = compute.match_substring(column, mark)
        if not compute.any(marked).as_py():
            continue
        alike = compute.match_substring_regex(column, LIKE_THOUSANDS[mark])
        if not compute.all(compute.equal(marked, alike)).as_py():
            return
        row = compute.index(marked, value=True).as_py()
        example = example or (column[row].as_py().strip(), row, name)
    if example is not None:
        raise FileError.thousands_or_decimals(path, *example)
