"""Rows of a file are predicted and written in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rankset.io.readers.npy import release_pages
from rankset.io.rows import Rows
from rankset.io.writers.base import SetsAndKept
from rankset.sets import PredictionSets

PART_BYTES = 32 << 20
"""About so many bytes of scores are in a part."""


def rows_of_part(rows: Rows) -> int:
    """Return the number of rows that are predicted at once."""
    return max(1, PART_BYTES // max(1, rows.row_bytes))


def with_kept(parts: Iterable[PredictionSets], rows: Rows) -> Iterator[SetsAndKept]:
    """Yield the sets of every part with the kept columns of the same rows."""
    start = 0
    for part in parts:
        yield part, {name: column[start : start + len(part)] for name, column in rows.kept.items()}
        start += len(part)
        release_pages(rows.scores)
