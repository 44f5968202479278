"""Tuples in sorted order: insertion, removal and look-up by position, all in about log n steps."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

Tuple = tuple[Any, ...]

LONG = 2048
"""Parts are halved if they are longer than this."""


class SortedTuples:
    """Sorted tuples in parts of limited length, so that inserting moves few of them."""

    def __init__(self, tuples: Iterable[Tuple] = ()) -> None:
        ordered = sorted(tuples)
        self._parts = [ordered[start : start + LONG // 2] for start in range(0, len(ordered), LONG // 2)] or [[]]
        self._lasts = [part[-1] for part in self._parts if part]
        self._count = len(ordered)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Tuple]:
        return chain.from_iterable(self._parts)

    def __getitem__(self, position: int) -> Tuple:
        for part in self._parts:
            if position < len(part):
                return part[position]
            position -= len(part)
        raise IndexError(position)

    def add(self, entry: Tuple) -> None:
        """Insert a tuple."""
        number = min(bisect_left(self._lasts, entry), len(self._parts) - 1)
        part = self._parts[number]
        insort(part, entry)
        self._count += 1
        if len(part) > LONG:
            self._parts[number : number + 1] = [part[: LONG // 2], part[LONG // 2 :]]
            self._lasts = [one[-1] for one in self._parts]
        else:
            self._lasts[number : number + 1] = [part[-1]]

    def remove(self, entry: Tuple) -> None:
        """Remove one tuple that equals ``entry``, which is there."""
        number = bisect_left(self._lasts, entry)
        part = self._parts[number]
        del part[bisect_left(part, entry)]
        self._count -= 1
        if part:
            self._lasts[number] = part[-1]
        elif len(self._parts) > 1:
            del self._parts[number], self._lasts[number]
        else:
            self._lasts = []

    def before(self, entry: Tuple) -> int:
        """Return how many tuples are smaller than ``entry``."""
        number = bisect_left(self._lasts, entry)
        if number >= len(self._parts):
            return self._count
        return sum(map(len, self._parts[:number])) + bisect_left(self._parts[number], entry)
