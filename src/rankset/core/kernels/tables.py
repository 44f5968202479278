"""The compiled loops behind p-values as Python methods: full rankings, and places in tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import noise, ranking
from rankset.core.ranks import RankedColumns

if TYPE_CHECKING:
    from rankset.core.sorted_keys import Level

ALL_BUT_SIGN = 2**63 - 1


class TableLoops:
    """The loops behind p-values; Numba is imported at the first call."""

    def rank_all(self, probs: NDArray[Any], noise_seed: noise.NoiseSeed | None, *, masses: bool) -> RankedColumns:
        """Return all columns of each row, most likely first; float64 is left to NumPy."""
        n_rows, n_columns = probs.shape
        if probs.dtype != np.float32 or n_columns <= ranking.NARROW:
            return ranking.rank_all(probs)
        from rankset.core.kernels.loops import ranking_all

        columns, entries = np.empty(probs.size, dtype=np.int64), np.empty(probs.size, dtype=np.float32)
        units, draws = np.empty(probs.size if masses else 0, dtype=np.int64), np.empty(n_rows if noise_seed else 0)
        seed = noise_seed or noise.NO_NOISE
        ranking_all.rank_rows(probs, probs.view(np.uint32), columns, entries, units, draws, seed.words, seed.seeded)
        sizes = np.full(n_rows, n_columns)
        return RankedColumns(columns, sizes, entries, units if masses else None, draws if noise_seed else None)

    def places(self, level: Level, prefixes: NDArray[Any], key: NDArray[Any]) -> NDArray[Any]:
        """Return what ``Level.places`` returns."""
        if key.size == 1:
            return level.places(prefixes, key)
        from rankset.core.kernels.loops import placing

        answer, buckets = np.empty(len(key), dtype=level.table.dtype), level.buckets
        known = level.values, level.table, buckets.shift, buckets.low, buckets.high
        if buckets.scale:
            placing.find_by_value(prefixes, key, *known, buckets.start, buckets.stop, buckets.scale, answer)
        else:
            inverted = ALL_BUT_SIGN if key.dtype.kind == "f" else 0
            placing.find_by_bits(prefixes, key, key.view(np.int64), inverted, *known, level.exact, answer)
        return answer

    def spread(self, table: NDArray[Any], places: NDArray[Any], flat: NDArray[np.int64], answer: NDArray[Any]) -> None:
        """Put the entries of ``table`` at ``places`` into ``answer``, at the positions ``flat``."""
        from rankset.core.kernels.loops import placing

        placing.spread(table, places, flat, answer)
