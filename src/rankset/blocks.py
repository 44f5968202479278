"""Rows in blocks: bounded memory, any number of threads, results in row order."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from rankset.errors import KindError

Result = TypeVar("Result")

BLOCK_BYTES = "RANKSET_BLOCK_BYTES"
THREADS = "RANKSET_THREADS"

DEFAULT_BLOCK_BYTES = 4 << 20
"""Small enough for caches, large enough that Python's share of the work does not show."""


def split(n_rows: int, n_columns: int, scale: int = 1) -> Iterator[slice]:
    """Consecutive row ranges of about ``RANKSET_BLOCK_BYTES`` of float64 each, ``scale`` times the default."""
    step = max(1, _setting(BLOCK_BYTES, scale * DEFAULT_BLOCK_BYTES) // (8 * n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def mapped(function: Callable[[slice], Result], n_rows: int, n_columns: int, scale: int = 1) -> Iterator[Result]:
    """``function`` of every block, in row order; the earliest failing block decides the error."""
    parts = split(n_rows, n_columns, scale)
    first = list(islice(parts, 2))
    threads = _setting(THREADS, _cores())
    if len(first) < 2 or threads < 2:
        yield from map(function, first)
        yield from map(function, parts)
        return
    with ThreadPoolExecutor(threads) as pool:
        pending: deque[Future[Result]] = deque(pool.submit(function, part) for part in first)
        try:
            for part in parts:
                if len(pending) >= 2 * threads:
                    yield pending.popleft().result()
                pending.append(pool.submit(function, part))
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def _setting(name: str, default: int) -> int:
    text = os.environ.get(name) or str(default)
    if not text.isdecimal() or int(text) < 1:
        raise KindError.argument(f"the environment variable {name}", "a positive whole number", text)
    return int(text)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
