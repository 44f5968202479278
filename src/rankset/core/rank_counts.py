"""RankCounts: how much of the end of a sequence of numbers is below a bound, for many questions at once."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class RankCounts:
    """A permutation of 0 … n-1 with weights. It answers how much the numbers weigh that are below a bound.

    This is a wavelet matrix: for each bit, from the highest on, the numbers are sorted stably by this bit. A question
    follows its position through all bits, so it takes about log2(n) steps.
    """

    def __init__(self, numbers: Ints, weights: Ints) -> None:
        """Prepare the permutation ``numbers`` with the weight of each of them."""
        self._n = len(numbers)
        self._bits = max(1, (self._n - 1).bit_length())
        self._zeros = np.zeros((self._bits, self._n + 1), dtype=np.int32)
        self._weights = np.zeros((self._bits, self._n + 1), dtype=np.int64)
        self._from = np.append(weights[::-1].cumsum()[::-1], 0)
        for level, bit in enumerate(reversed(range(self._bits))):
            zero = 1 - ((numbers >> bit) & 1)
            np.cumsum(zero, out=self._zeros[level, 1:])
            np.cumsum(zero * weights, out=self._weights[level, 1:])
            order = np.argsort(1 - zero, kind="stable")
            numbers, weights = numbers[order], weights[order]

    def weight_from(self, positions: Ints, bounds: Ints) -> Ints:
        """Return for each question how much the numbers at ``positions`` or later weigh that are below its bound.

        >>> RankCounts(np.array([2, 0, 3, 1]), np.ones(4, int)).weight_from(np.array([1, 2, 0]), np.array([3, 2, 4]))
        array([2, 1, 4])
        """
        low = positions + 0 * bounds
        high, found = np.full_like(low, self._n), np.zeros_like(low)
        everything = np.where(bounds >= self._n, self._from[low], -1)
        for level, bit in enumerate(reversed(range(self._bits))):
            zeros, weights = self._zeros[level], self._weights[level]
            one = (bounds >> bit) & 1 == 1
            found += np.where(one, weights[high] - weights[low], 0)
            below, end = zeros[low], zeros[high]
            low = np.where(one, zeros[-1] + low - below, below)
            high = np.where(one, zeros[-1] + high - end, end)
        return np.where(everything >= 0, everything, found)
