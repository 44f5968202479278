"""Numbers over time in which a label belongs to the block of its row, however late it comes."""

from __future__ import annotations

from typing import NamedTuple

from rankset.streams.history import LASTS, MOST, SUMS, History

Lasts = tuple[float, float, float, float]


class Times(NamedTuple):
    """The rows of a block: their turn, when the block began, and from when to when its rows came."""

    turn: int
    start: float
    first: float
    last: float

    def joined(self, later: Times) -> Times:
        """Return those of two blocks together; of the later one if the clock was set back between them."""
        first = self.first if self.last <= later.first else later.first
        return Times(later.turn, self.start, first, later.last)


class RowBlocks(History):
    """A history that knows when its rows came. So it does not depend on how rows and labels were sent together."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[Times] = []

    @property
    def starts(self) -> list[float]:
        """When the first row of each block came."""
        return [one.start for one in self.times]

    def add_row(self, time: float, size: int, lasts: Lasts, turn: int = 0) -> None:
        """Add a row that was predicted at this time, after all rows before.

        Another rule begins another block, and so does a clock that was set back.
        """
        end = self.times[-1] if self.times else None
        if end is None or self.blocks[-1][0] >= self.length or end.turn != turn or time < end.last:
            self.blocks.append([0.0] * (len(SUMS) + len(LASTS)))
            self.times.append(Times(turn, time, time, time))
            if len(self.blocks) > MOST:
                self._join()
        block = self.blocks[-1]
        block[0] += 1
        block[2] += size
        block[len(SUMS) :] = lasts
        self.times[-1] = self.times[-1]._replace(last=time)

    def _join(self) -> None:
        super()._join()
        times = self.times
        joined = [one.joined(two) for one, two in zip(times[0:-1:2], times[1:-1:2], strict=False)]
        rest = [times[-2]] if len(times) % 2 == 0 else []
        self.times = [*joined, *rest, times[-1]]

    def add_label(self, time: float, missed: bool, lasts: Lasts, turn: int = 0) -> None:  # noqa: FBT001
        """Add the label of a row that was predicted at this time."""
        if not self.blocks:
            return
        block = self.blocks[self._place(turn, time)]
        block[1] += 1
        block[3] += missed
        self.blocks[-1][len(SUMS) :] = lasts

    def _place(self, turn: int, time: float) -> int:
        """Return the place of the last block whose rows came around a time; of the first one if there is none."""
        for place in range(len(self.times) - 1, 0, -1):
            found = self.times[place]
            if found.turn == turn and found.first <= time <= found.last:
                return place
        return 0
