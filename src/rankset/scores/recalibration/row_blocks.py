"""Small blocks of rows: intermediate results stay in the cache of the processor."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rankset.core import parallel

AT_ONCE = 1 << 16
"""Number of cells that are computed together."""


def small_blocks(n_rows: int, n_columns: int, first: int = 0) -> Iterator[slice]:
    """Yield consecutive ranges of rows from ``first`` on, each of about ``AT_ONCE`` cells."""
    step = max(1, AT_ONCE // n_columns)
    for start in range(first, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def fill_rows(fill: Callable[[slice], None], n_rows: int, n_columns: int) -> None:
    """Call ``fill`` for small blocks of all rows, in several threads if there are many."""

    def work(part: slice) -> None:
        for rows in small_blocks(part.stop, n_columns, part.start):
            fill(rows)

    parallel.map_blocks(work, n_rows, n_columns)
