"""What the compiled loops look like from outside: arrays in, arrays out, and whether the values were clear."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset import ranking

Ints = NDArray[np.int64]


class Twins:
    """The compiled loops; Numba is loaded with the first call."""

    def ranks(self, probs: NDArray[Any], labels: Ints) -> tuple[Ints, NDArray[Any], bool]:
        """The rank and the entry of one label per row."""
        from rankset._kernels import loops

        ranks, owns = np.empty(len(probs), dtype=np.int64), np.empty(len(probs), dtype=probs.dtype)
        clear = loops.count_rows(probs, labels, ranks, owns)
        return ranks, owns, bool(clear)

    def uniform(self, words: NDArray[np.uint64], seeded: np.uint64) -> NDArray[np.float64]:
        """One number in [0, 1) per row of ``words``."""
        from rankset._kernels import loops

        draws = np.empty(len(words))
        loops.draw_rows(words, seeded, draws)
        return draws

    def masses(self, probs: NDArray[Any], labels: Ints) -> NDArray[np.float64]:
        """The mass of one label per row, of rows that sum to about 1."""
        from rankset._kernels import loops

        masses = np.empty(len(probs), dtype=np.int64)
        loops.add_rows(probs, labels, masses)
        return masses.astype(np.float64) * 2.0**-50

    def first(self, probs: NDArray[Any], m: int) -> tuple[Ints | None, bool]:
        """The m most likely columns of each row; None where so many are asked that a search would not pay."""
        from rankset._kernels import loops

        if 2 * m > probs.shape[1] // loops.CHUNK:
            return None, False
        columns, crowded = np.empty((len(probs), m), dtype=np.int64), np.empty(len(probs), dtype=np.bool_)
        clear = bool(loops.take_first(probs, columns, crowded))
        if crowded.any():
            columns[crowded] = ranking.first(probs[crowded], m)
        return columns, clear
