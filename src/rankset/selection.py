"""Which labels stay: thresholds applied to rows, sorting no more of a row than its set needs.

Where sets are prefixes of the ranking, the m most likely labels of each row are tried first, and several times
as many for the rows in which all of them stay. Any m gives the same sets; a good guess only saves time.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from rankset import ranking, scores
from rankset.calibration import Thresholds
from rankset.cells import RankedCells, Rows
from rankset.recipe import Batch, Ints

Empty = Literal["allow", "top"]
EMPTY: Final[tuple[Empty, ...]] = ("allow", "top")

Codes = NDArray[np.int32]

FIRST_GUESS = 16
GROWTH = 3
MOST_ROWS = 0.9
"""The share of rows that should need no second try."""


def select(batch: Batch, thresholds: Thresholds, empty: Empty = "allow") -> tuple[Ints, Codes]:
    """Offsets and codes of the sets of all rows of ``batch`` that ``thresholds`` cut out."""
    search = _Search(batch, thresholds, empty, _first_guess(batch, thresholds))
    parts = list(batch.mapped(search.block))
    sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(sizes for sizes, _ in parts)])
    codes = np.concatenate([np.zeros(0, dtype=np.int32), *(codes for _, codes in parts)])
    return sizes.cumsum(), codes


def _first_guess(batch: Batch, thresholds: Thresholds) -> int:
    """How many labels to try at first: one more than r*, where the score knows it."""
    recipe = batch.recipe
    if not recipe.takes_prefixes or thresholds.everything[:-1].any():
        return recipe.n_columns
    return int(thresholds.keys[0].max()) + 1 if scores.orders_by_rank(recipe.score) else FIRST_GUESS


@dataclass
class _Search:
    """A search through blocks of rows that learns from each block how many labels to try first in the next."""

    batch: Batch
    thresholds: Thresholds
    empty: Empty
    guess: int

    def block(self, part: slice) -> tuple[Ints, Codes]:
        """Sizes and codes of the sets of one block."""
        rows, n_columns = self.batch.rows(part), self.batch.recipe.n_columns
        sizes = np.zeros(len(rows.probs), dtype=np.int64)
        found: list[tuple[Ints, Codes]] = []
        m = n_columns if rows.probs.size <= ranking.FEW else min(self.guess, n_columns)
        waiting = np.arange(len(rows.probs))
        while len(waiting):
            columns, kept = self._tried(rows.take(waiting) if found else rows, waiting, part, m)
            open_ended = kept[:, -1].copy() if m < n_columns else np.zeros(len(waiting), dtype=np.bool_)
            kept &= ~open_ended[:, np.newaxis]
            sizes[waiting] = ranking.count(kept)
            found.append((waiting[~open_ended], columns[kept].astype(np.int32)))
            waiting, m = waiting[open_ended], min(GROWTH * m, n_columns)
        if self.guess < n_columns:
            self.guess = max(FIRST_GUESS, int(np.sort(sizes)[int(MOST_ROWS * len(sizes))]) + 1)
        return sizes, _gathered(sizes, found)

    def _tried(self, rows: Rows, places: Ints, part: slice, m: int) -> tuple[Ints, NDArray[np.bool_]]:
        """The ``m`` most likely columns of the rows at ``places`` of a block, and which of them stay."""
        columns, clear = (None, False) if rows.twins is None else rows.twins.first(rows.probs, m)
        if not clear and len(places) == part.stop - part.start:
            self.batch.check(rows)
        cells = RankedCells(rows, m, columns)
        recipe = self.batch.recipe
        keys = recipe.keys(cells, (len(places), m), part.start)
        kept = self.thresholds.keep(self.batch.groups(cells.column, part, places), keys)
        if self.empty == "top":
            kept[:, 0] |= ~kept.any(axis=1)
        return cells.column, kept


def _gathered(sizes: Ints, found: list[tuple[Ints, Codes]]) -> Codes:
    """The codes of all rows, in row order, from those of several tries."""
    if len(found) == 1:
        return found[0][1]
    starts = sizes.cumsum() - sizes
    codes = np.empty(int(sizes.sum()), dtype=np.int32)
    for rows, piece in found:
        counts = sizes[rows]
        codes[np.repeat(starts[rows] - (counts.cumsum() - counts), counts) + np.arange(len(piece))] = piece
    return codes
