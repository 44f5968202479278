"""Progress bars by tqdm; without tqdm there are none."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Item = TypeVar("Item")

DELAY = 1.0
"""Delay before the bar appears, in seconds."""

_bar: ContextVar[Any] = ContextVar("_bar", default=None)


def bar(
    items: Iterable[Item], what: str, *, show: bool, unit: str = "batches", total: int | None = None
) -> Iterable[Item]:
    """Return ``items``, with a progress bar on stderr while they are used if ``show`` is true."""
    if not show or sys.stderr is None:
        return items
    total = len(items) if isinstance(items, Sized) else total
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return items
    return tqdm(items, desc=what, total=total, unit=f" {unit}", disable=None)


@contextmanager
def track(what: str) -> Iterator[None]:
    """Show a progress bar of the steps that ``counter`` counts inside, on a terminal, if the work takes long."""
    try:
        from tqdm import tqdm
    except ImportError:
        tqdm = None
    if tqdm is None or sys.stderr is None:
        yield
        return
    with tqdm(desc=what, total=0, unit=" steps", disable=None, delay=DELAY, leave=False) as bar:
        token = _bar.set((bar, threading.Lock()))
        try:
            yield
        finally:
            _bar.reset(token)


def counter(steps: int) -> Callable[[], None] | None:
    """Return a function to call after each of ``steps`` steps, from any thread; None if no bar is shown."""
    if _bar.get() is None:
        return None
    bar, lock = _bar.get()
    bar.total += steps

    def count() -> None:
        with lock:
            bar.update()

    return count
