"""The two forms in which sets are kept: lists of labels, or marks in a matrix whose order is still to be found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.narrow import MOST_COLUMNS, most_likely_columns
from rankset.core.ranking import at_least, count

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]

EMPTY = np.zeros(2, dtype=np.int64)
"""The offsets of one empty set."""


class ListedSets:
    """Sets as lists: that of row i has the columns ``codes[offsets[i]:offsets[i + 1]]``, most likely first."""

    def __init__(self, offsets: Ints, codes: Codes, n_columns: int) -> None:
        self._offsets, self._codes, self._n_columns = offsets, codes, n_columns

    @classmethod
    def of_one(cls, codes: Codes, n_columns: int) -> ListedSets:
        """Return the list of one row."""
        offsets = EMPTY.copy()
        offsets[1] = len(codes)
        return cls(offsets, codes, n_columns)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @property
    def sizes(self) -> Ints:
        """Number of labels in each set (n,)."""
        return np.diff(self._offsets)

    @property
    def row_numbers(self) -> Ints:
        """The row number of each entry of the lists."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def mask(self) -> Mask:
        """A new matrix (n, K): True if the label of the column is in the set of the row."""
        mask = np.zeros((len(self), self._n_columns), dtype=np.bool_)
        mask[self.row_numbers, self._codes] = True
        return mask

    def contains(self, columns: Ints) -> Mask:
        """Return whether each set contains the label of one column per row; -1 is in no set."""
        found, rows = np.zeros(len(self), dtype=np.bool_), self.row_numbers
        found[rows[self._codes == columns[rows]]] = True
        return found

    def row(self, number: int) -> Codes:
        """Return the columns of one set, most likely first."""
        return self._codes[self._offsets[number] : self._offsets[number + 1]]

    def rows(self, rows: Ints) -> ListedSets:
        """Return the sets of some rows."""
        sizes = self.sizes[rows]
        offsets = np.concatenate(([0], sizes.cumsum())).astype(np.int64)
        picked = np.repeat(self._offsets[rows] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return ListedSets(offsets, self._codes[picked], self._n_columns)

    def listed(self) -> tuple[Ints, Codes]:
        """Return offsets and codes."""
        return self._offsets, self._codes


class MarkedSets:
    """Sets of all labels whose entry is at least a cutoff: which labels are in a set is known at once.

    The labels of a set are put into order when somebody asks: by their entries, equal ones from the left.
    """

    def __init__(self, entries: NDArray[Any], cutoff: np.floating[Any]) -> None:
        """Mark the labels of rows (n, K) of ``entries`` that nobody else changes; ``cutoff`` has their precision."""
        self._entries, self._cutoff = entries, cutoff
        self._mask: Mask = entries >= cutoff

    def __len__(self) -> int:
        return len(self._mask)

    @property
    def sizes(self) -> Ints:
        """Number of labels in each set (n,)."""
        return count(self._mask)

    @property
    def mask(self) -> Mask:
        """A new matrix (n, K): True if the label of the column is in the set of the row."""
        return self._mask.copy()

    def contains(self, columns: Ints) -> Mask:
        """Return whether each set contains the label of one column per row; -1 is in no set."""
        inside: Mask = self._mask[np.arange(len(columns)), columns] & (columns >= 0)
        return inside

    def row(self, number: int) -> Ints:
        """Return the columns of one set, most likely first."""
        columns = self._mask[number].nonzero()[0]
        return columns[(-self._entries[number, columns]).argsort(kind="stable")]

    def rows(self, rows: Ints) -> MarkedSets:
        """Return the sets of some rows."""
        return MarkedSets(self._entries[rows], self._cutoff)

    def listed(self) -> tuple[Ints, Codes]:
        """Return offsets and codes of all sets, as ``ListedSets`` keeps them."""
        sizes = self.sizes
        if self._mask.shape[1] <= MOST_COLUMNS:
            columns = most_likely_columns(self._entries, sizes)
        else:
            columns = at_least(self._entries, np.full(len(sizes), self._cutoff)).columns.astype(np.int32)
        return np.append(0, sizes.cumsum()), columns
