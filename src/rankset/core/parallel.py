"""Rows in blocks: bounded memory, any number of threads, results in row order."""

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from rankset import progress
from rankset.errors import KindError

Result = TypeVar("Result")

BLOCK_BYTES = "RANKSET_BLOCK_BYTES"
THREADS = "RANKSET_THREADS"

MOST = {BLOCK_BYTES: 1 << 40, THREADS: 1024}
"""The largest values of the environment variables."""
MOST_DIGITS = 18

DEFAULT_BLOCK_BYTES = 8 << 20
"""Small enough for caches, large enough that Python's share of the work does not show."""


def split(n_rows: int, n_columns: int, scale: int = 1) -> Iterator[slice]:
    """Consecutive row ranges of about ``RANKSET_BLOCK_BYTES`` of float64 each, ``scale`` times the default."""
    step = max(1, _setting(BLOCK_BYTES, scale * DEFAULT_BLOCK_BYTES) // (8 * n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def map_blocks(function: Callable[[slice], Result], n_rows: int, n_columns: int, scale: int = 1) -> list[Result]:
    """``function`` of every block, in row order; the earliest failing block decides the error.

    Threads, this one among them, take the next block whenever they are done with one, and meet at the end only:
    handing every result over would make them wait for each other.
    """
    parts = list(split(n_rows, n_columns, scale))
    results: list[Any] = [None] * len(parts)
    errors: dict[int, BaseException] = {}
    waiting, lock, stopped = iter(range(len(parts))), threading.Lock(), threading.Event()
    count = progress.counter(len(parts))

    def next_place() -> int | None:
        with lock:
            return None if errors or stopped.is_set() else next(waiting, None)

    def work() -> None:
        for place in iter(next_place, None):
            try:
                results[place] = function(parts[place])
                count()
            except BaseException as error:  # noqa: BLE001 - raised below, in the thread that asked
                errors[place] = error

    helpers = [threading.Thread(target=work) for _ in range(min(_setting(THREADS, cores()), len(parts)) - 1)]
    try:
        for helper in helpers:
            helper.start()
        work()
    finally:  # also after an interruption between two blocks: no helper goes on alone
        stopped.set()
        for helper in helpers:
            if helper.ident is not None:
                helper.join()
    if errors:
        raise errors[min(errors)]
    return results


def _setting(name: str, default: int) -> int:
    text = os.environ.get(name) or str(default)
    most = MOST[name]
    if not text.isdecimal() or len(text) > MOST_DIGITS or not 1 <= int(text) <= most:
        raise KindError.argument(f"the environment variable {name}", f"a positive whole number of at most {most}", text)
    return int(text)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
