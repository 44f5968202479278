"""Small blocks of rows: intermediate results stay in the cache of the processor."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rankset.core import parallel

Floats = NDArray[np.float64]

AT_ONCE = 1 << 16
"""Number of cells that are computed together."""


def small_blocks(n_rows: int, n_columns: int, first: int = 0) -> list[slice]:
    """Return consecutive ranges of rows from ``first`` on, each of about ``AT_ONCE`` cells."""
    step = max(1, AT_ONCE // n_columns)
    return [slice(start, min(start + step, n_rows)) for start in range(first, n_rows, step)]


def map_rows(function: Callable[[Floats], Floats], rows: Floats) -> Floats:
    """Return ``function`` of all rows, which returns an array of the same shape, computed in small blocks."""
    blocks = small_blocks(*rows.shape)
    if len(blocks) <= 1:
        return function(rows)
    answer = np.empty(rows.shape)
    for block in blocks:
        answer[block] = function(rows[block])
    return answer


def fill_rows(fill: Callable[[slice], None], n_rows: int, n_columns: int) -> None:
    """Call ``fill`` for small blocks of all rows, in several threads if there are many."""
    if n_rows * n_columns <= AT_ONCE:
        fill(slice(0, n_rows))
        return

    def work(part: slice) -> None:
        for rows in small_blocks(part.stop, n_columns, part.start):
            fill(rows)

    parallel.map_blocks(work, n_rows, n_columns)
