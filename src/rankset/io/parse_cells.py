"""Parse text cells (csv, tsv, txt): scores as numbers, labels and ids as whole numbers or names.

The errors raised here name the file, the column and the row of a cell that is missing or is no number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import object_array
from rankset.errors import FileError, short_repr

WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")
"""A whole number as programs write it; 007, +7 and 7.0 are texts."""
MISSING = frozenset({"", "#N/A", "#N/A N/A", "#NA", "N/A", "NA", "NULL", "n/a", "null", "<NA>", "None"})
"""Texts that csv files write in place of a missing number."""
Spellings = Sequence[tuple[re.Pattern[str], Callable[[str], Any]]]
"""Patterns of texts that are numbers, each with the function that converts such a text."""
NAMES: Spellings = ((WHOLE_NUMBER, int),)
"""Spellings in columns of labels and ids."""
TEXT_BYTES = 96
"""Bytes that Python takes for a text, besides its characters."""


def parse_numbers(path: str, name: str, column: Any, first: int) -> NDArray[Any]:
    """Parse an Arrow array of texts as float64; ``first`` is the number of its first row in the file."""
    import pyarrow as pa

    try:
        return column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return _parse_one_by_one(path, name, column, first)


def _parse_one_by_one(path: str, name: str, column: Any, first: int) -> NDArray[Any]:
    """Do the same for texts with spaces around the numbers; raise an error that names the cell that is no number."""
    import pyarrow as pa

    texts = [text.strip() for text in column.to_pylist()]
    for row, text in enumerate(texts, first):
        if text in MISSING:
            raise FileError.missing_cell(path, name, row)
        if not _is_number(text):
            raise FileError.not_numbers(path, name, short_repr(text), row)
    return pa.array(texts, pa.string()).cast(pa.float64()).to_numpy(zero_copy_only=False)


def _is_number(text: str) -> bool:
    import pyarrow as pa

    try:
        pa.scalar(text).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def parse_names(words: Sequence[Any], spellings: Spellings) -> NDArray[Any]:
    """Array of texts; of numbers if all texts are spelled as numbers, with None where one is missing."""
    present = [word for word in words if word not in ("", None)]
    for pattern, number in spellings if present else ():
        if all(map(pattern.fullmatch, present)):
            if len(present) == len(words):
                return np.array([number(word) for word in words])
            return object_array([None if word in ("", None) else number(word) for word in words])
    return object_array(words)


def whole_numbers_or_names(names: Sequence[str]) -> list[Any]:
    """Names as whole numbers if all of them are written as such, else as they are."""
    return [int(name) for name in names] if all(map(WHOLE_NUMBER.fullmatch, names)) else list(names)
