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

WORDS = 2**64
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


SHIFTS = tuple(np.array(shift, dtype=np.uint64) for shift in (30, 27, 31))
FACTORS = tuple(np.array(factor, dtype=np.uint64) for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
"""Shifts and factors of the finaliser of SplitMix64. They are arrays, which NumPy reads faster than numbers."""
NOTHING = np.array(0.0)


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
    entries += NOTHING  # -0.0 counts as 0.0
    words[-2] = largest
    words[-1] = noise_seed.words
    words += np.arange(1, len(words) + 1, dtype=np.uint64)[:, np.newaxis] * GOLDEN
    total = _mixed(words).sum(axis=0, dtype=np.uint64)
    return (_mixed(total ^ noise_seed.seeded) >> np.uint64(11)).astype(np.float64) * 2.0**-53


class RowDraws:
    """The same draws for one row at a time, with few NumPy calls: what does not depend on the row is made once."""

    def __init__(self, n_columns: int, noise_seed: NoiseSeed) -> None:
        """Prepare draws of rows (K,) with ``n_columns`` entries, without ids."""
        sampled = min(SAMPLED, n_columns)
        self._columns = np.append(np.arange(sampled) * n_columns // sampled, 0)
        salts = np.arange(1, sampled + 4, dtype=np.uint64) * GOLDEN
        self._salts, self._ones = salts[:-2], np.ones(sampled + 1, dtype=np.uint64)
        self._column_salt = int(salts[-2])
        self._id_word = int(_mixed(salts[-1:] + noise_seed.words)[0])
        self._seeded = int(noise_seed.seeded)

    def draw(self, row: NDArray[Any]) -> float:
        """Return the draw of one row."""
        columns, largest = self._columns.copy(), int(row.argmax())
        columns[-1] = largest
        words = _bits(row[columns])
        words += self._salts
        total = int(_mix(words, np.empty_like(words)).dot(self._ones)) + self._id_word
        total += _mixed_word((largest + self._column_salt) % WORDS)
        return (_mixed_word(total % WORDS ^ self._seeded) >> 11) * 2.0**-53


def _bits(values: NDArray[Any]) -> Words:
    """Return the bits of ``values`` as float64; -0.0 counts as 0.0."""
    return (values.astype(np.float64) + NOTHING).view(np.uint64)


def _mixed(words: Words) -> Words:
    """Hash 64-bit words in place, by the finaliser of SplitMix64."""
    return _mix(words, scratch(words.shape, np.uint64, "shifted"))


def _mix(words: Words, shifted: Words) -> Words:
    """Do the same with ``shifted`` as spare memory."""
    words ^= np.right_shift(words, SHIFTS[0], shifted)
    words *= FACTORS[0]
    words ^= np.right_shift(words, SHIFTS[1], shifted)
    words *= FACTORS[1]
    words ^= np.right_shift(words, SHIFTS[2], shifted)
    return words


def _mixed_word(word: int) -> int:
    """Hash one 64-bit word in the same way."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % WORDS
    word = (word ^ word >> 27) * 0x94D049BB133111EB % WORDS
    return word ^ word >> 31


NO_NOISE = NoiseSeed.of(0)
"""The noise seed of scores that do not use noise."""
