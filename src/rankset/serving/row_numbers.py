"""``RowNumbers``: which row came at which time, so that an alarm knows since which row something has changed."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

MOST = 100_000
"""So many rows are known, at least. An older row has the number of the oldest one that is known."""


class RowNumbers:
    """Numbers of rows by their times. Times grow from row to row, unless the clock was set back: then a run begins.

    Attributes
    ----------
    count : number of rows that were added.
    """

    def __init__(self) -> None:
        self.count = 0
        self._runs: list[tuple[int, array[float]]] = []

    def add(self, time: float) -> None:
        """Add the next row."""
        if not self._runs or time <= self._runs[-1][1][-1]:
            self._runs.append((self.count, array("d")))
        self._runs[-1][1].append(time)
        self.count += 1
        if self.count - self._runs[0][0] >= 2 * MOST:
            self._forget(self.count - MOST)

    def _forget(self, first: int) -> None:
        """Forget the rows before a number."""
        kept = [(start, times) for start, times in self._runs if start + len(times) > first]
        start, times = kept[0]
        skipped = max(0, first - start)
        self._runs = [(start + skipped, times[skipped:]), *kept[1:]]

    def last(self, time: float) -> int:
        """Return the number of the last row that had come at a time, from 0 on; of the oldest known one if none had."""
        for start, times in reversed(self._runs):
            if times[0] <= time:
                return start + bisect_right(times, time) - 1
        return self._runs[0][0] if self._runs else 0

    def of(self, time: float) -> int:
        """Return the number of the last row that came at this time, from 0 on; of the oldest known one if none did."""
        for start, times in reversed(self._runs):
            place = bisect_left(times, time)
            if place < len(times) and times[place] == time:
                return start + place
        return self._runs[0][0] if self._runs else 0
