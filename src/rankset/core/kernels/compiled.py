"""The compiled loops as Python methods: arrays in, arrays out."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import noise, ranking
from rankset.core.arrays import certain_deviation, sum_rounding
from rankset.core.kernels.loaded import LIST_ROWS, LOADED, READ_ENTRIES, READ_LABELS
from rankset.core.kernels.sorting import FEWEST, WORDS, SortLoops
from rankset.core.kernels.tables import TableLoops
from rankset.core.ranks import LabelRanks, RankedColumns

Ints = NDArray[np.int64]

FIRST_CAPACITY = 16
"""Columns per row for which memory is reserved at first."""

LONG_LISTS = 128
"""Longer lists per row are left to the plain path: NumPy sorts them faster, with vector instructions."""


class CompiledLoops(TableLoops, SortLoops):
    """The compiled loops; Numba is imported at the first call.

    All arrays of rows are passed as read-only, so that a loop is compiled once for each dtype.
    """

    def run_once(self) -> None:
        """Run every loop once for each dtype."""
        for dtype in (np.float32, np.float64):
            probs, labels = np.full((1, 2), 0.5, dtype=dtype), np.zeros(1, dtype=np.int64)
            self.label_entries(probs, labels)
            self.label_ranks(probs, labels, None, masses=False)
            self.likeliest(probs, 1, math.inf, None, None, masses=False)
        for name in WORDS:
            self.sort(np.ones(FEWEST, dtype=name))

    def label_entries(self, probs: NDArray[Any], labels: Ints) -> LabelRanks:
        """Return the entry of one label per row, for rows that sum to about 1."""
        from rankset.core.kernels.loops import counting

        entries = np.empty(len(probs), dtype=probs.dtype)
        clear = counting.read_entries(*_read_only(probs, labels), _tolerance(probs), entries)
        LOADED.add((READ_ENTRIES, probs.dtype.char))
        return LabelRanks(entries, None, None, None, bool(clear))

    def label_ranks(
        self, probs: NDArray[Any], labels: Ints, noise_seed: noise.NoiseSeed | None, *, masses: bool
    ) -> LabelRanks:
        """Return entry and rank of one label per row; with ``masses``, for rows that sum to about 1, also masses."""
        from rankset.core.kernels.loops import counting

        n = len(probs)
        entries, ranks = np.empty(n, dtype=probs.dtype), np.empty(n, dtype=np.int64)
        units, draws = np.empty(n if masses else 0, dtype=np.int64), np.empty(n if noise_seed else 0)
        seed = noise_seed or noise.NO_NOISE
        rows, columns, words = _read_only(probs, labels, seed.words)
        clear = counting.read_labels(
            rows,
            columns,
            _tolerance(probs),
            ranks,
            entries,
            units,
            draws,
            words,
            seed.seeded,
        )
        LOADED.add((READ_LABELS, probs.dtype.char))
        return LabelRanks(entries, ranks, units if masses else None, draws if noise_seed else None, bool(clear))

    def likeliest(
        self,
        probs: NDArray[Any],
        rank: float,
        mass: float,
        cutoffs: NDArray[Any] | None,
        noise_seed: noise.NoiseSeed | None,
        *,
        masses: bool,
    ) -> RankedColumns:
        """Return the columns that ``ranking.likeliest`` returns, perhaps with other extra columns."""
        n_rows, n_columns = probs.shape
        if rank >= n_columns and mass == math.inf and cutoffs is None:
            return ranking.likeliest(probs, rank, mass, cutoffs)
        sizes, draws = np.empty(n_rows, dtype=np.int64), np.empty(n_rows if noise_seed else 0)
        limits = (int(max(1, min(rank, n_columns))), mass, cutoffs)
        pieces, done, clear = [], 0, True
        while done < n_rows:
            start = done
            per_row = FIRST_CAPACITY if done == 0 else max(FIRST_CAPACITY, 2 * int(sizes[:done].mean()))
            piece = _empty_piece(probs, n_columns + per_row * (n_rows - done), masses=masses)
            done, piece_clear = _fill(probs, start, limits, piece, sizes, draws, noise_seed or noise.NO_NOISE)
            if done < n_rows and sizes[:done].mean() > LONG_LISTS:
                return ranking.likeliest(probs, rank, mass, cutoffs)
            clear = clear and piece_clear
            pieces.append(tuple(array[: sizes[start:done].sum()] for array in piece))
        columns, entries, units = pieces[0] if len(pieces) == 1 else map(np.concatenate, zip(*pieces, strict=True))
        return RankedColumns(
            columns, sizes, entries, units if masses else None, draws if noise_seed else None, clear=clear
        )


def _empty_piece(probs: NDArray[Any], capacity: int, *, masses: bool) -> tuple[Ints, NDArray[Any], Ints]:
    """Reserve memory for columns, their entries and, where asked for, the masses up to them."""
    return (
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=probs.dtype),
        np.empty(capacity if masses else 0, dtype=np.int64),
    )


def _fill(
    probs: NDArray[Any],
    start: int,
    limits: tuple[int, float, NDArray[Any] | None],
    piece: tuple[Ints, NDArray[Any], Ints],
    sizes: Ints,
    draws: NDArray[np.float64],
    seed: noise.NoiseSeed,
) -> tuple[int, bool]:
    """List rows from ``start`` on while memory lasts; return the row reached, and whether all values were valid."""
    from rankset.core.kernels.loops import listing

    rank, mass, cutoffs = limits
    least = np.full(1, -np.inf, dtype=probs.dtype) if cutoffs is None else cutoffs
    margin = 4 * sum_rounding(probs.shape[1], probs.dtype)
    rows, least, words = _read_only(probs, least, seed.words)
    done, clear = listing.list_rows(
        rows,
        start,
        _tolerance(probs),
        rank,
        mass,
        margin,
        least,
        *piece,
        sizes,
        draws,
        words,
        seed.seeded,
    )
    LOADED.add((LIST_ROWS, probs.dtype.char))
    return done, bool(clear)


def _read_only(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Return views that cannot be written to."""
    views = [array.view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return views


def _tolerance(probs: NDArray[Any]) -> float:
    """Return how far from 1 the sum of a row may be for the row to be certainly valid."""
    return certain_deviation(probs.shape[1], probs.dtype)
