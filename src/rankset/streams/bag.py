"""A bag of rows, which come one after another: the p-value of each among those before it, in limited memory.

If rows are exchangeable, the place of a new row among the earlier ones is uniform, whatever their order was. The first
``MOST`` rows are kept as limits between places. Of later rows it is only counted between which limits they lie. The
number of places between two limits is one more than the rows counted there, so the new row lies there with probability
(1 + count) / (1 + all rows), exactly, given all that was seen before. Equal rows are put into order by a draw.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

import numpy as np

from rankset.core.noise import GOLDEN, WORDS, _mixed_word
from rankset.streams.sorted_tuples import Tuple

MOST = 8192
"""So many rows are kept as limits."""


class Draws:
    """Numbers in (0, 1), by a seed and how many were drawn before."""

    def __init__(self, seed: int, count: int = 0) -> None:
        self._seed, self.count = _mixed_word(seed % WORDS), count

    def draw(self) -> float:
        """Return the next number."""
        self.count += 1
        return ((_mixed_word((self._seed + self.count * int(GOLDEN)) % WORDS) >> 11) + 0.5) * 2.0**-53


class Bag:
    """Rows so far: limits in ascending order, and how many rows lie between them."""

    def __init__(self, draws: Draws, most: int = MOST) -> None:
        self.draws, self.most = draws, most
        self.limits: list[Tuple] = []
        self.counts: list[int] = []
        self.rows = 0
        self._sums: list[int] = []

    def start(self, sorted_rows: Sequence[Tuple]) -> None:
        """Take over rows that are there before the first one, in ascending order."""
        rows = _with_draws(sorted_rows, self.draws)
        n, self.rows = len(rows), len(rows)
        if n <= self.most:
            self.limits = rows
        else:
            chosen = [(number + 1) * (n + 1) // (self.most + 1) - 1 for number in range(self.most)]
            self.limits = [rows[place] for place in chosen]
            ends = [-1, *chosen, n]
            self.counts = [after - before - 1 for before, after in pairwise(ends)]
        self._freeze()

    def _freeze(self) -> None:
        """Stop keeping rows if there are enough of them, and make sums that are quickly updated (a Fenwick tree)."""
        if len(self.limits) < self.most:
            return
        self.counts = self.counts or [0] * (len(self.limits) + 1)
        totals = [0, *accumulate(count + 1 for count in self.counts)]
        self._sums = [totals[place] - totals[place - (place & -place)] for place in range(len(totals))]

    def p_value(self, row: Tuple) -> float:
        """Return the p-value of a new row, uniform if rows are exchangeable, and add the row."""
        draw, part = self.draws.draw(), self.draws.draw()
        entry = (*row, draw)
        place = bisect_right(self.limits, entry)
        total = self.rows + 1
        self.rows = total
        if not self._sums:
            above = len(self.limits) - place
            insort(self.limits, entry)
            self._freeze()
            return (above + part) / total
        own = self.counts[place] + 1
        above = total - self._up_to(place + 1)
        self.counts[place] = own
        self._count(place + 1)
        return (above + part * own) / total

    def _up_to(self, place: int) -> int:
        """Return the number of places up to the interval before ``place``."""
        total = 0
        while place:
            total += self._sums[place]
            place &= place - 1
        return total

    def _count(self, place: int) -> None:
        """Count one more row in the interval before ``place``."""
        while place < len(self._sums):
            self._sums[place] += 1
            place += place & -place

    def restore(self, limits: Iterable[Tuple], counts: Sequence[int], rows: int) -> None:
        """Take over a bag of a file; raise ValueError if it cannot be right."""
        self.limits, self.counts, self.rows = list(limits), list(counts), rows
        inside = sum(self.counts)
        if self.counts and len(self.counts) != len(self.limits) + 1:
            raise ValueError("the rows of its alarms cannot be right")
        if rows != len(self.limits) + inside or min(self.counts, default=0) < 0 or len(self.limits) > self.most:
            raise ValueError("the rows of its alarms cannot be right")
        if bool(self.counts) != (len(self.limits) >= self.most) or self.limits != sorted(self.limits):
            raise ValueError("the rows of its alarms cannot be right")
        self._freeze()


def _with_draws(rows: Sequence[Tuple], draws: Draws) -> list[Tuple]:
    """Return sorted rows with draws, which put equal ones into a random order."""
    drawn = [(*row, draws.draw()) for row in rows]
    return drawn if _ascending(drawn) else sorted(drawn)


def _ascending(rows: Sequence[Tuple]) -> bool:
    return all(before <= after for before, after in pairwise(rows))


def uniform_order(n: int, seed: int) -> list[int]:
    """Return the numbers below ``n`` in a random order that depends on the seed alone."""
    return np.random.default_rng(seed % WORDS).permutation(n).tolist()
