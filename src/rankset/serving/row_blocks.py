"""Numbers over time in which a label belongs to the block of its row, however late it comes."""

from __future__ import annotations

from typing import NamedTuple

from rankset.streams.history import FIRST, LASTS, MOST, SUMS, History, joined_block

Lasts = tuple[float, float, float, float]


class Span(NamedTuple):
    """Rows of one turn that came one after another: the times of the first and the last one."""

    turn: int
    first: float
    last: float


Spans = list[Span]
"""The rows of a block, in their order."""


def joined_spans(one: Spans, two: Spans) -> Spans:
    """Return the rows of two neighbours; those of one turn are one span, unless the clock was set back between them."""
    end, start = one[-1], two[0]
    if end.turn != start.turn or start.first < end.last:
        return [*one, *two]
    return [*one[:-1], Span(end.turn, end.first, start.last), *two[1:]]


class RowBlocks(History):
    """A history that knows when its rows came. So it does not depend on how rows and labels were sent together."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: list[Spans] = []

    @property
    def starts(self) -> list[float]:
        """When the first row of each block came."""
        return [one[0].first for one in self.spans]

    def add_row(self, time: float, size: int, lasts: Lasts, turn: int = 0) -> None:
        """Add a row that was predicted at this time, after all rows before.

        Another rule begins another block, with few rows again, and so does a clock that was set back.
        """
        end = self.spans[-1][-1] if self.spans else None
        if end is not None and end.turn != turn:
            self.length = FIRST
        if end is None or self.blocks[-1][0] >= self.length or end.turn != turn or time < end.last:
            self.blocks.append([0.0] * (len(SUMS) + len(LASTS)))
            self.spans.append([Span(turn, time, time)])
            if len(self.blocks) > MOST:
                self._join()
        block = self.blocks[-1]
        block[0] += 1
        block[2] += size
        block[len(SUMS) :] = lasts
        self.spans[-1][-1] = self.spans[-1][-1]._replace(last=time)

    def _join(self) -> None:
        """Join neighbours, but no rows of the last turn with rows before it; the last block is alone."""
        newest, last, place = self.spans[-1][-1].turn, len(self.blocks) - 1, 0
        blocks, spans = [], []
        while place < last:
            block, rows, place = self.blocks[place], self.spans[place], place + 1
            if place < last and (rows[-1].turn == newest) == (self.spans[place][0].turn == newest):
                block, rows = joined_block(block, self.blocks[place]), joined_spans(rows, self.spans[place])
                place += 1
            blocks.append(block)
            spans.append(rows)
        self.blocks, self.spans = [*blocks, self.blocks[-1]], [*spans, self.spans[-1]]
        self.length *= 2

    def add_label(self, time: float, missed: bool, lasts: Lasts, turn: int = 0) -> None:  # noqa: FBT001
        """Add the label of a row that was predicted at this time."""
        if not self.blocks:
            return
        block = self.blocks[self._place(turn, time)]
        block[1] += 1
        block[3] += missed
        self.blocks[-1][len(SUMS) :] = lasts

    def _place(self, turn: int, time: float) -> int:
        """Return the place of the last block with rows of a turn around a time; of the first one if there is none."""
        for place in range(len(self.spans) - 1, 0, -1):
            for its_turn, first, last in self.spans[place]:
                if first <= time <= last and its_turn == turn:
                    return place
        return 0
