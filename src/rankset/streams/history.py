"""Numbers of a stream over time, in limited memory: blocks of rows, of which pairs are joined when there are many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FIRST = 50
"""Rows of a block at first."""
MOST = 400
"""Most blocks; then neighbours are joined, and later blocks have twice as many rows."""
SUMS = ("rows", "labels", "sizes", "misses")
LASTS = ("level", "log_labels", "log_outputs", "log_coverage")
"""What is added up over a block, and what is known at its end."""


def joined_block(one: list[float], two: list[float]) -> list[float]:
    """Return two neighbours as one block."""
    sums = len(SUMS)
    return [*(a + b for a, b in zip(one[:sums], two[:sums], strict=True)), *two[sums:]]


class History:
    """Sums over blocks of rows."""

    def __init__(self) -> None:
        self.length = FIRST
        self.blocks: list[list[float]] = []

    def add(self, sums: tuple[float, float, float, float], lasts: tuple[float, float, float, float]) -> None:
        """Add rows, labels, sizes and misses, and what is known after them.

        A block is full for rows if it has enough rows, and for labels if it has enough labels. So labels that come
        after their rows enter the block of these rows.
        """
        if not self.blocks or self.blocks[-1][0 if sums[0] else 1] >= self.length:
            self.blocks.append([0.0] * (len(SUMS) + len(LASTS)))
            if len(self.blocks) > MOST:
                self._join()
        block = self.blocks[-1]
        for place, value in enumerate(sums):
            block[place] += value
        block[len(SUMS) :] = lasts

    def _join(self) -> None:
        """Join neighbours; the last block is alone."""
        joined = [joined_block(*pair) for pair in zip(self.blocks[0:-1:2], self.blocks[1:-1:2], strict=False)]
        rest = [self.blocks[-2]] if len(self.blocks) % 2 == 0 else []
        self.blocks, self.length = [*joined, *rest, self.blocks[-1]], 2 * self.length

    def columns(self) -> dict[str, Floats]:
        """Return the blocks as columns, with the number of the last row of each."""
        table = np.array(self.blocks, dtype=np.float64).reshape(-1, len(SUMS) + len(LASTS))
        found = {name: table[:, place] for place, name in enumerate((*SUMS, *LASTS))}
        return {"row": found["rows"].cumsum(), **found}

    def restore(self, length: object, columns: Mapping[str, NDArray[Any]]) -> None:
        """Take over the columns of a file; raise ValueError if they cannot be right."""
        table = np.stack([columns[name] for name in (*SUMS, *LASTS)], axis=1)
        if type(length) is not int or length < FIRST or len(table) > MOST or not np.isfinite(table).all():
            raise ValueError("its history cannot be right")
        if (table[:, : len(SUMS)] < 0).any():
            raise ValueError("its history cannot be right")
        self.length, self.blocks = length, table.tolist()
