"""Small blocks of rows: intermediate results stay in the cache of the processor."""

from __future__ import annotations

from collections.abc import Callable

from rankset.core import parallel

AT_ONCE = 1 << 16
"""Number of cells that are computed together."""


def small_blocks(n_rows: int, n_columns: int, first: int = 0) -> list[slice]:
    """Return consecutive ranges of rows from ``first`` on, each of about ``AT_ONCE`` cells."""
    step = max(1, AT_ONCE // n_columns)
    return [slice(start, min(start + step, n_rows)) for start in range(first, n_rows, step)]


def fill_rows(fill: Callable[[slice], None], n_rows: int, n_columns: int) -> None:
    """Call ``fill`` for small blocks of all rows, in several threads if there are many."""
    if n_rows * n_columns <= AT_ONCE:
        fill(slice(0, n_rows))
        return

    def work(part: slice) -> None:
        for rows in small_blocks(part.stop, n_columns, part.start):
            fill(rows)

    parallel.map_blocks(work, n_rows, n_columns)
