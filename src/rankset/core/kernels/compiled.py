"""What the compiled loops look like from outside: arrays in, arrays out, and whether the values were clear."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import noise, ranking
from rankset.core.arrays import SUM_TOLERANCE

Ints = NDArray[np.int64]
Draws = NDArray[np.float64]

ROOM = 16
"""So many columns per row there is room for at first."""

CROWDED = 128
"""Longer lists are found by the plain path: NumPy sorts them with vector instructions."""


@dataclass(frozen=True)
class Read:
    """Entry and rank of one label per row, and, where asked for, its mass in units of 2**-50 and the row's draw."""

    owns: NDArray[Any]
    ranks: Ints
    units: Ints | None
    draws: Draws | None
    clear: bool


@dataclass(frozen=True)
class RankedColumns:
    """The most likely columns of row after row, how many of each, and what else is known of them.

    Their entries; where asked for, the masses up to them in units of 2**-50, and the rows' draws.
    """

    columns: Ints
    sizes: Ints
    owns: NDArray[Any] | None = None
    units: Ints | None = None
    draws: Draws | None = None
    clear: bool = False


class CompiledLoops:
    """The compiled loops; Numba is loaded with the first call."""

    def read(self, probs: NDArray[Any], labels: Ints, noise_seed: noise.NoiseSeed | None, *, masses: bool) -> Read:
        """The features of one label per row; masses are of rows that sum to about 1."""
        from rankset.core.kernels.loops import counting

        n = len(probs)
        owns, ranks = np.empty(n, dtype=probs.dtype), np.empty(n, dtype=np.int64)
        units, draws = np.empty(n if masses else 0, dtype=np.int64), np.empty(n if noise_seed else 0)
        words, seeded = (noise_seed or noise.NO_NOISE).words, (noise_seed or noise.NO_NOISE).seeded
        clear = counting.read_labels(probs, labels, _tolerance(probs), ranks, owns, units, draws, words, seeded)
        return Read(owns, ranks, units if masses else None, draws if noise_seed else None, bool(clear))

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
        """Columns as ``ranking.likeliest`` lists them."""
        from rankset.core.kernels.loops import listing

        n_rows, n_columns = probs.shape
        if rank >= n_columns and mass == math.inf and cutoffs is None:
            return RankedColumns(*ranking.likeliest(probs, rank, mass, cutoffs))
        least = np.full(1, -np.inf, dtype=probs.dtype) if cutoffs is None else cutoffs
        most, rounding = int(max(1, min(rank, n_columns))), 4 * _rounding(probs)
        sizes, draws = np.empty(n_rows, dtype=np.int64), np.empty(n_rows if noise_seed else 0)
        words, seeded = (noise_seed or noise.NO_NOISE).words, (noise_seed or noise.NO_NOISE).seeded
        pieces, done, all_clear = [], 0, True
        while done < n_rows:
            per_row = ROOM if done == 0 else max(ROOM, 2 * int(sizes[:done].mean()))
            room = n_columns + per_row * (n_rows - done)
            piece = (
                np.empty(room, dtype=np.int64),
                np.empty(room, dtype=probs.dtype),
                np.empty(room if masses else 0, dtype=np.int64),
            )
            start = done
            done, clear = listing.list_rows(
                probs, start, _tolerance(probs), most, mass, rounding, least, *piece, sizes, draws, words, seeded
            )
            if done < n_rows and sizes[:done].mean() > CROWDED:
                return RankedColumns(*ranking.likeliest(probs, rank, mass, cutoffs))
            all_clear = all_clear and bool(clear)
            pieces.append(tuple(array[: sizes[start:done].sum()] for array in piece))
        columns, owns, units = pieces[0] if len(pieces) == 1 else map(np.concatenate, zip(*pieces, strict=True))
        return RankedColumns(columns, sizes, owns, units if masses else None, draws if noise_seed else None, all_clear)


def _rounding(probs: NDArray[Any]) -> float:
    """More than the sum of a row in its own precision is rounded by."""
    return probs.shape[1] * float(np.finfo(probs.dtype).eps)


def _tolerance(probs: NDArray[Any]) -> float:
    """How far from 1 a rounded sum may be that is beyond doubt near enough."""
    return SUM_TOLERANCE - _rounding(probs)
