"""Noise: one uniform draw per row, computed from a seed and the row itself.

The same row has the same draw in any batch, order, thread and machine.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import few_columns
from rankset.core.scratch import scratch

Words = NDArray[np.uint64]

SAMPLED = 16
"""Number of entries of a row that are hashed besides its largest: enough to distinguish real rows, and fast."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class NoiseSeed:
    """What draws depend on besides the rows: a hashed seed, and one hashed id per row or one for all rows."""

    seeded: np.uint64
    words: Words

    @classmethod
    def of(cls, seed: int, ids: Words | None = None) -> "NoiseSeed":
        """Return the noise seed of ``seed``; ``ids`` (n,) give equal rows different draws."""
        seeded = _mixed(np.array([seed % 2**64], dtype=np.uint64) + GOLDEN)[0]
        return cls(seeded, np.zeros(1, dtype=np.uint64) if ids is None else _mixed(ids ^ GOLDEN))

    def rows(self, part: slice) -> "NoiseSeed":
        """Return the noise seed of some of the rows."""
        return self if len(self.words) == 1 else NoiseSeed(self.seeded, self.words[part])


def draws(values: NDArray[Any], noise_seed: NoiseSeed) -> NDArray[np.float64]:
    """Return one number in [0, 1) per row of ``values`` (n, K)."""
    n_rows, n_columns = values.shape
    if few_columns.are_few(values):
        largest, tops = few_columns.largest(values)
    else:
        largest = values.argmax(axis=1)
        tops = values[np.arange(n_rows), largest]
    sampled = np.arange(min(SAMPLED, n_columns)) * n_columns // min(SAMPLED, n_columns)
    words = scratch((len(sampled) + 3, n_rows), np.uint64)
    entries = words[:-2].view(np.float64)
    for place, column in enumerate(sampled.tolist()):
        entries[place] = values[:, column]
    entries[-1] = tops
    entries += 0.0  # -0.0 counts as 0.0
    words[-2] = largest
    words[-1] = noise_seed.words
    words += np.arange(1, len(words) + 1, dtype=np.uint64)[:, np.newaxis] * GOLDEN
    total = _mixed(words).sum(axis=0, dtype=np.uint64)
    return (_mixed(total ^ noise_seed.seeded) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mixed(words: Words) -> Words:
    """Hash 64-bit words in place, by the finaliser of SplitMix64."""
    shifted = scratch(words.shape, np.uint64, "shifted")
    words ^= np.right_shift(words, np.uint64(30), out=shifted)
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= np.right_shift(words, np.uint64(27), out=shifted)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= np.right_shift(words, np.uint64(31), out=shifted)
    return words


NO_NOISE = NoiseSeed.of(0)
"""The noise seed of scores that do not use noise."""
