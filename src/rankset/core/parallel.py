"""Blocks of rows and threads: bounded memory, results in row order."""

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
"""Largest values of the environment variables."""
MOST_DIGITS = 18

DEFAULT_BLOCK_BYTES = 8 << 20
"""Small enough for the cache, large enough that Python's overhead is negligible."""

ALONE = 1 << 20
"""Up to so many entries one thread does all the work: a new thread has no memory to reuse."""


def split(n_rows: int, n_columns: int, scale: float = 1) -> Iterator[slice]:
    """Yield consecutive ranges of rows, each of about ``RANKSET_BLOCK_BYTES`` of float64 (default times ``scale``)."""
    step = max(1, _setting(BLOCK_BYTES, int(scale * DEFAULT_BLOCK_BYTES)) // (8 * n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def map_blocks(function: Callable[[slice], Result], n_rows: int, n_columns: int, scale: float = 1) -> list[Result]:
    """Return ``function`` of every block, in row order; if several blocks fail, the first one's error is raised.

    Each thread takes the next block when it has finished one. Threads are started here and nowhere else.
    """
    parts = list(split(n_rows, n_columns, scale))
    threads = _setting(THREADS, cores() if n_rows * n_columns > ALONE else 1)
    if len(parts) == 1:
        return [function(parts[0])]
    results: list[Any] = [None] * len(parts)
    errors: dict[int, BaseException] = {}
    waiting, lock, stopped = iter(range(len(parts))), threading.Lock(), threading.Event()
    count = progress.counter(len(parts)) or _no_count

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

    helpers = [threading.Thread(target=work) for _ in range(min(threads, len(parts)) - 1)]
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
    """Return the value of an environment variable, or ``default``."""
    text = os.environ.get(name) or str(default)
    most = MOST[name]
    if not text.isdecimal() or len(text) > MOST_DIGITS or not 1 <= int(text) <= most:
        raise KindError.argument(f"the environment variable {name}", f"an integer from 1 to {most}", text)
    return int(text)


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _no_count() -> None:
    """Count nothing: no progress bar is shown."""
