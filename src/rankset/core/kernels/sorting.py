"""The compiled radix sort as a Python method."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.kernels.loaded import LOADED, SORT_WORDS

FEWEST = 1500
"""NumPy sorts fewer values faster."""

WORDS = {"f4": np.uint32, "f8": np.uint64, "u4": np.uint32, "u8": np.uint64}
"""The words of each kind of values that is sorted by radix."""


class SortLoops:
    """The radix sort; Numba is imported at the first call."""

    def sort(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return ``values`` (n,) without NaN and -0.0, sorted; their memory may be reused.

        Few values, and values of other dtypes than WORDS has, are left to NumPy.
        """
        if len(values) < FEWEST or values.dtype.str[1:] not in WORDS:
            values.sort()
            return values
        from rankset.core.kernels.loops import sorting

        words = values.view(WORDS[values.dtype.str[1:]])
        n_bits, sign = 8 * words.itemsize, words.dtype.type(0)
        if values.dtype.kind == "f":
            sign = words.dtype.type(1 << (n_bits - 1))
        else:
            n_bits = int(words.max()).bit_length()
        spare = np.empty_like(words)
        moved = sorting.sort_words(words, spare, n_bits, sign)
        LOADED.add((SORT_WORDS, words.dtype.char))
        return (spare if moved else words).view(values.dtype)
