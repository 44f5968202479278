"""Numbers with decimal commas in files where a comma separates cells too: 0,5 becomes the two cells 0 and 5.

Such files are not read. What they are is told from the error that they lead to: lines with more cells than the first
one, or whole numbers that are no probabilities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import FileError, InputError, RanksetError

WRONG_WIDTH = re.compile(r"Expected ([0-9]+) columns, got ([0-9]+): (.*)", re.DOTALL)
"""What pyarrow says of a line with more or fewer cells than the first one."""
PARTS = re.compile(r"(?<![^,])[+-]?[0-9]+,[0-9]+(?![^,])")
"""Two cells of whole numbers."""


@contextmanager
def commas_explained(path: str, sep: str) -> Iterator[None]:
    """Inside, the error for a line with too many cells names decimal commas, if these explain it."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowInvalid as error:
        found = WRONG_WIDTH.search(str(error))
        if found is None or sep != ",":
            raise
        columns, cells, line = int(found[1]), int(found[2]), found[3].strip()
        if not 0 < cells - columns <= len(PARTS.findall(line)):
            raise
        raise FileError.cut_line(path, columns, cells, line) from None


def explain_numbers(
    error: RanksetError, path: str, scores: NDArray[Any], names: Sequence[str] | None, *, by_commas: bool
) -> RanksetError:
    """Return the error for numbers that are no probabilities with what columns were read; other errors as they are.

    ``by_commas``: a comma separates the cells of the file, and nobody said so.
    """
    if not isinstance(error, InputError) or not error.is_about_other_numbers:
        return error
    row = error.where.row
    if by_commas and row is not None and row < len(scores) and _look_cut(scores):
        line = ",".join(f"{value:.0f}" for value in scores[row].tolist())
        return FileError.cut_numbers(path, line, row)
    return error if names is None else error.with_class_columns(names)


def _look_cut(scores: NDArray[Any]) -> bool:
    """Whether all scores are whole numbers, and a column that mostly holds 0 is followed by digits in every row."""
    if scores.ndim != 2 or not (np.isfinite(scores).all() and (scores == np.floor(scores)).all()):
        return False
    left, right = scores[:, :-1], scores[:, 1:]
    mostly_zero = (left == 0).sum(axis=0) * 2 >= len(scores)
    digits = (right >= 0).all(axis=0) & (right > 1).any(axis=0)
    return bool((mostly_zero & digits).any())
