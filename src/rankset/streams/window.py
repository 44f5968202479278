"""The window of a stream: the labelled rows that calibrate, sorted, and in the order in which they leave."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import lexicographic
from rankset.core.calibration import Calibration, Thresholds, before_all
from rankset.core.lexicographic import Keys
from rankset.streams.sorted_tuples import SortedTuples, Tuple

Ints = NDArray[np.int64]


class Window:
    """Keys of the true labels of the last ``size`` labelled rows, by group; all rows if ``size`` is None."""

    def __init__(self, size: int | None, n_groups: int, dtypes: tuple[np.dtype[Any], ...]) -> None:
        self.size, self.dtypes = size, dtypes
        self.entries: deque[tuple[int, Tuple]] = deque()
        self._groups = [SortedTuples() for _ in range(n_groups)]
        self.changes = 0

    def fill(self, entries: Iterable[tuple[int, Tuple]]) -> None:
        """Take over rows, the oldest first."""
        self.entries = deque(entries)
        for number in range(len(self._groups)):
            self._groups[number] = SortedTuples(keys for group, keys in self.entries if group == number)
        self.changes += 1

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, group: int, keys: Tuple) -> None:
        """Add a row; the oldest one leaves if there are too many."""
        self.changes += 1
        self.entries.append((group, keys))
        self._groups[group].add(keys)
        if self.size is not None and len(self.entries) > self.size:
            oldest, old_keys = self.entries.popleft()
            self._groups[oldest].remove(old_keys)

    def p_value(self, group: int | None, keys: Tuple) -> float:
        """Return the p-value of a label with these keys in its group; None: among the rows of all groups."""
        chosen = self._groups if group is None else [self._groups[group]]
        count = sum(map(len, chosen))
        return (1 + count - sum(rows.before(keys) for rows in chosen)) / (1 + count)

    def threshold(self, group: int, level: tuple[int, int]) -> Tuple | None:
        """Return the last key that is kept at a level between 0 and 1, a numerator and a denominator; None: all are."""
        rows = self._groups[group]
        position = len(rows) + 1 - (len(rows) + 1) * level[0] // level[1]
        return rows[position - 1] if position <= len(rows) else None

    def keep(self, keys: Keys, level: tuple[int, int]) -> NDArray[np.bool_]:
        """Return which cells of the only group are in the set at a level; it can be 0 or less, or 1 or more."""
        if 0 < level[0] < level[1]:
            last = self.threshold(0, level)
            if last is not None:
                bounds = tuple(np.array((one,), dtype=kind) for one, kind in zip(last, self.dtypes, strict=True))
                return lexicographic.not_after(keys, bounds)
        return np.full(len(keys[0]), level[0] < level[1])

    def thresholds(self, level: tuple[int, int]) -> Thresholds:
        """Return the thresholds of all groups at a level; it can be 0 or less, or 1 or more."""
        count = len(self._groups) + 1
        if level[0] <= 0 or level[0] >= level[1]:
            found: list[Tuple | None] = [None] * count
        else:
            found = [*(self.threshold(group, level) for group in range(count - 1)), None]
        zero = tuple(kind.type(0).item() for kind in self.dtypes)
        columns = zip(*(zero if one is None else one for one in found), strict=True)
        keys = tuple(np.array(column, dtype=kind) for column, kind in zip(columns, self.dtypes, strict=True))
        none = np.full(count, level[0] >= level[1])
        everything = np.array([one is None for one in found]) & ~none
        return Thresholds(before_all(keys, none), everything, none if none.any() else None)

    def calibration(self) -> Calibration:
        """Return the rows as a calibration."""
        offsets = np.cumsum([0, *map(len, self._groups)], dtype=np.int64)
        return Calibration(self._columns(keys for rows in self._groups for keys in rows), offsets)

    def arrays(self) -> tuple[Ints, Keys]:
        """Return groups and keys of all rows, the oldest first."""
        groups = np.array([group for group, _ in self.entries], dtype=np.int64)
        return groups, self._columns(keys for _, keys in self.entries)

    def _columns(self, tuples: Iterable[Tuple]) -> Keys:
        rows = list(tuples)
        columns = zip(*rows, strict=True) if rows else ((),) * len(self.dtypes)
        return tuple(np.array(column, dtype=kind) for column, kind in zip(columns, self.dtypes, strict=True))


def tuples_of(keys: Keys) -> list[Tuple]:
    """Return arrays of keys as tuples of Python numbers."""
    return list(zip(*(key.tolist() for key in keys), strict=True))
