"""``LabelLists``: the labels of rows that can have several, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import Sealed

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LabelLists(Sealed):
    """The true labels of rows: those of row i are the columns ``codes[offsets[i]:offsets[i + 1]]``, ascending."""

    offsets: Ints
    codes: Ints

    @classmethod
    def of_mask(cls, mask: NDArray[np.bool_]) -> LabelLists:
        """Return the labels that are True in ``mask`` (n, K)."""
        offsets = np.concatenate(([0], mask.sum(axis=1).cumsum())).astype(np.int64)
        return cls(offsets, mask.nonzero()[1])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: Any) -> LabelLists:  # noqa: ANN401
        """Return some rows, in this order."""
        if isinstance(rows, slice) and rows.step in (None, 1):
            start, stop, _ = rows.indices(len(self))
            offsets = self.offsets[start : max(start, stop) + 1]
            return LabelLists(offsets - offsets[0], self.codes[offsets[0] : offsets[-1]])
        wanted = np.arange(len(self))[rows]
        sizes = self.sizes[wanted]
        offsets = np.concatenate(([0], sizes.cumsum())).astype(np.int64)
        places = np.repeat(self.offsets[wanted] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return LabelLists(offsets, self.codes[places])

    @property
    def sizes(self) -> Ints:
        """Number of labels of each row (n,)."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> Ints:
        """The row of each label."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def complement(self, n_columns: int, counts: Ints | None = None) -> LabelLists:
        """Return all other columns of each row; of ``counts`` columns each if rows have different numbers of them."""
        others = ~self.mask(n_columns)
        if counts is not None:
            others &= np.arange(n_columns) < counts[:, np.newaxis]
        return LabelLists.of_mask(others)

    def mask(self, n_columns: int) -> NDArray[np.bool_]:
        """Return a matrix (n, K) that is True where the label of the column is a label of the row."""
        mask = np.zeros((len(self), n_columns), dtype=np.bool_)
        mask[self.rows, self.codes] = True
        return mask
