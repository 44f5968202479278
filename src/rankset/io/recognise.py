"""Recognise the separator of a csv file from its first lines.

The separator of the suffix (comma, tab in .tsv) is taken wherever it makes a table. Another one is taken if it alone
does. A file that two separators make sense of is refused with both readings.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rankset.errors import FileError
from rankset.io.dialect import SEPARATORS, Dialect
from rankset.io.parse_cells import MISSING

NONE = "\x1f"
"""Separator of files that have one column; it occurs in no text."""
STATED = re.compile(rb"(?:\xef\xbb\xbf)?sep=([^\r\n])\r?\n?")
"""A first line by which files tell Excel their separator."""
SAMPLE_BYTES = 64 << 10
"""Bytes after the first line that are looked at."""
SAMPLE_RECORDS = 100
NUMBER = re.compile(
    r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:nan|inf|infinity)", re.IGNORECASE
)
"""A number with a decimal point or a decimal comma."""
HALVES = re.compile(r"[+-]?[0-9]+,[0-9]+")
"""Two whole numbers with a comma between them."""
LIKE_A_SHARE = re.compile(r"[+-]?0,[0-9]+|1,0+")
LIKE_DECIMALS = re.compile(r"[^,]*,0[0-9]+")
"""Whole numbers as no program writes them: 05 in 1,05."""
ONE_HOT = frozenset({"0,1", "1,0", "0,0"})


@dataclass(frozen=True)
class Sample:
    """The first record of a file, and text that follows it; ``is_cut``: the file goes on after that.

    ``header``: the first record holds names.
    """

    first: str
    rest: str
    is_cut: bool
    header: bool

    def records(self, sep: str) -> list[list[str]]:
        """Return the cells of the first records, those of the first one first; records without content are left out."""
        reader = csv.reader(io.StringIO(self.rest, newline=""), delimiter=sep)
        found: list[list[str]] = []
        try:
            for record in reader:
                found.append(record)
                if len(found) > SAMPLE_RECORDS:
                    break
        except csv.Error:
            return []
        if found and self.is_cut:
            found.pop()
        return [cells_of(self.first, sep), *filter(None, found)]


def cells_of(record: str, sep: str) -> list[str]:
    """Cells of one record."""
    return next(csv.reader(io.StringIO(record, newline=""), delimiter=sep), [])


def stated_separator(line: bytes) -> str | None:
    """Return the separator in a first line such as ``sep=;``; None if the line is another one."""
    found = STATED.fullmatch(line)
    return None if found is None or found[1] not in b",;\t|: ^~" else found[1].decode("ascii")


def recognise_separator(path: str, sample: Sample, dialect: Dialect, default: str) -> str:
    """Return the separator of a csv file, or ``NONE`` if it has one column; ``default`` is that of its suffix."""
    present = [sep for sep in SEPARATORS if sep in sample.first and len(cells_of(sample.first, sep)) > 1]
    if "," in present and dialect.decimal != "." and _is_cut_in_halves(sample):
        if dialect.decimal is None:
            raise FileError.halves(path, sample.records(NONE)[1 if sample.header else 0][0])
        present.remove(",")
        return _one_of(path, present, sample, default) if present else NONE
    if present == [default]:
        return default
    if not present:
        return NONE if _rows_need_one_column(sample, default) else default
    return _one_of(path, present, sample, default)


def _is_cut_in_halves(sample: Sample) -> bool:
    """Whether a comma makes two columns of whole numbers that look like one column of numbers with decimal commas."""
    rows = [",".join(cells) for cells in sample.records(",")[1 if sample.header else 0 :]]
    quoted = '"' in sample.first or '"' in sample.rest
    if quoted or not rows or not all(map(HALVES.fullmatch, rows)) or ONE_HOT.issuperset(rows):
        return False
    return all(map(LIKE_A_SHARE.fullmatch, rows)) or any(map(LIKE_DECIMALS.fullmatch, rows))


def _rows_need_one_column(sample: Sample, default: str) -> bool:
    """Whether the usual separator cuts the rows of a file whose first line has one cell."""
    return default in sample.rest and any(len(cells) > 1 for cells in sample.records(default))


@dataclass(frozen=True)
class _Reading:
    """What a separator makes of the first records: their count of columns, 0 if it differs, and whether it is good.

    A good reading has a column of numbers, and no cell that another separator would cut into numbers.
    """

    sep: str
    columns: int
    is_good: bool

    @classmethod
    def of(cls, sep: str, sample: Sample, others: Sequence[str]) -> _Reading:
        records = sample.records(sep)
        widths = {len(cells) for cells in records}
        if len(widths) != 1:
            return cls(sep, 0, is_good=False)
        rows = records[1 if sample.header else 0 :]
        good = any(map(_are_numbers, zip(*rows, strict=True)))
        good = good and not any(_holds_numbers(cell, others) for cells in rows for cell in cells)
        return cls(sep, widths.pop(), is_good=good)


def _one_of(path: str, present: Sequence[str], sample: Sample, default: str) -> str:
    """Return the one separator of those ``present`` in the first record that makes a table."""
    readings = [_Reading.of(sep, sample, [one for one in present if one != sep]) for sep in present]
    good = [one for one in readings if one.is_good]
    if len(good) > 1:
        raise FileError.two_separators(path, [one.sep for one in good], [one.columns for one in good])
    if good:
        return good[0].sep
    regular = [one.sep for one in readings if one.columns] or list(present)
    if default in regular or len(regular) == 1:
        return default if default in regular else regular[0]
    columns = [len(cells_of(sample.first, sep)) for sep in regular]
    raise FileError.two_separators(path, regular, columns)


def _are_numbers(cells: Sequence[str]) -> bool:
    """Whether the cells of a column are numbers, or missing."""
    words = {cell.strip() for cell in cells} - MISSING
    return bool(words) and all(map(NUMBER.fullmatch, words))


def _holds_numbers(cell: str, separators: Sequence[str]) -> bool:
    """Whether a cell is no number, but one of the separators cuts it into numbers."""
    if NUMBER.fullmatch(cell.strip()):
        return False
    parts = [cell.split(sep) for sep in separators if sep in cell]
    return any(all(NUMBER.fullmatch(part.strip()) for part in some) for some in parts)
