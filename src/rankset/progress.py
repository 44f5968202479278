"""How far long work has come: by tqdm where it is installed, else on a line of the terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Item = TypeVar("Item")

PAUSE = 0.1
"""Seconds between two changes of the line."""
PATIENCE = 1.0
"""Seconds that pass without a word."""

_watched: ContextVar[Any] = ContextVar("_watched", default=None)


def bar(
    items: Iterable[Item], what: str, *, show: bool, unit: str = "batches", total: int | None = None
) -> Iterable[Item]:
    """``items`` as they are, counted on stderr while they are used, unless ``show`` is false."""
    if not show or sys.stderr is None:
        return items
    total = len(items) if isinstance(items, Sized) else total
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _counted(items, what, total, unit)
    return tqdm(items, desc=what, total=total, unit=f" {unit}", disable=None)


def _counted(items: Iterable[Item], what: str, total: int | None, unit: str) -> Iterator[Item]:
    terminal, of, then = sys.stderr.isatty(), "" if total is None else f"/{total}", -PAUSE
    number = 0
    for number, item in enumerate(items, start=1):
        yield item
        if terminal and time.monotonic() >= then + PAUSE:
            print(f"\r{what}: {number}{of} {unit}", end="", file=sys.stderr, flush=True)
            then = time.monotonic()
    if terminal and number:
        print(f"\r{what}: {number}{of} {unit}", file=sys.stderr, flush=True)


@contextmanager
def watched(what: str) -> Iterator[None]:
    """Inside, the steps of the work are counted on a terminal by tqdm, if there are both, once it takes longer."""
    try:
        from tqdm import tqdm
    except ImportError:
        tqdm = None
    if tqdm is None or sys.stderr is None:
        yield
        return
    with tqdm(desc=what, total=0, unit=" steps", disable=None, delay=PATIENCE, leave=False) as bar:
        token = _watched.set((bar, threading.Lock()))
        try:
            yield
        finally:
            _watched.reset(token)


def counter(steps: int) -> Callable[[], None]:
    """To be called after each of so many steps, from any thread."""
    if _watched.get() is None:
        return _nothing
    bar, lock = _watched.get()
    bar.total += steps

    def count() -> None:
        with lock:
            bar.update()

    return count


def _nothing() -> None:
    pass
