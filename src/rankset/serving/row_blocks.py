"""Numbers over time in which a label belongs to the block of its row, however late it comes."""

from __future__ import annotations

from bisect import bisect_right

from rankset.streams.history import LASTS, MOST, SUMS, History

Lasts = tuple[float, float, float, float]


class RowBlocks(History):
    """A history that knows when its blocks started. So it does not depend on how rows and labels were sent together."""

    def __init__(self) -> None:
        super().__init__()
        self.starts: list[tuple[int, float]] = []  # turn and time of the first row

    def add_row(self, time: float, size: int, lasts: Lasts, turn: int = 0) -> None:
        """Add a row that was predicted at this time, after all rows before; another rule begins another block."""
        if not self.blocks or self.blocks[-1][0] >= self.length or self.starts[-1][0] != turn:
            self.blocks.append([0.0] * (len(SUMS) + len(LASTS)))
            self.starts.append((turn, time))
            if len(self.blocks) > MOST:
                self.starts = [*self.starts[0:-1:2], self.starts[-1]]
                self._join()
        block = self.blocks[-1]
        block[0] += 1
        block[2] += size
        block[len(SUMS) :] = lasts

    def add_label(self, time: float, missed: bool, lasts: Lasts, turn: int = 0) -> None:  # noqa: FBT001
        """Add the label of a row that was predicted at this time."""
        if not self.blocks:
            return
        block = self.blocks[max(0, bisect_right(self.starts, (turn, time)) - 1)]
        block[1] += 1
        block[3] += missed
        self.blocks[-1][len(SUMS) :] = lasts
