"""How far long work has come: by tqdm where it is installed, else on a line of the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

Item = TypeVar("Item")

PAUSE = 0.1
"""Seconds between two changes of the line."""


def shown(items: Iterable[Item], what: str, *, show: bool, unit: str = "batches") -> Iterable[Item]:
    """``items`` as they are, counted on stderr while they are used, unless ``show`` is false."""
    if not show:
        return items
    total = len(items) if isinstance(items, Sized) else None
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
