"""``Totals``: how many rows and labels there were, how many were missed, and what a triage decided."""

from __future__ import annotations

from copy import deepcopy
from typing import Self

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Totals:
    """Counts of a server.

    Attributes
    ----------
    seen : rows of all levels.
    rows, size_sum : rows at the usual alpha, and labels in their sets.
    labels, misses : labels of rows at the usual alpha, and those that their set missed.
    class_labels, class_misses : the same by column of the label.
    decided, accepted : rows that a triage was asked about, and those that it accepted.
    checked, wrong : accepted rows whose label came, and those whose most likely label is another one.
    """

    def __init__(self, n_columns: int) -> None:
        self.seen = self.rows = self.size_sum = self.labels = self.misses = 0
        self.decided = self.accepted = self.checked = self.wrong = 0
        self.class_labels: Ints = np.zeros(n_columns, dtype=np.int64)
        self.class_misses: Ints = np.zeros(n_columns, dtype=np.int64)

    def add_row(self, size: int | None, accepted: bool | None) -> None:  # noqa: FBT001
        """Count a row: the size of its set at the usual alpha, and what a triage said, or None."""
        self.seen += 1
        if size is not None:
            self.rows, self.size_sum = self.rows + 1, self.size_sum + size
        if accepted is not None:
            self.add_decided(1, accepted)

    def add_label(self, column: int, missed: bool) -> None:  # noqa: FBT001
        """Count the label of a row at the usual alpha."""
        self.labels, self.misses = self.labels + 1, self.misses + missed
        self.class_labels[column] += 1
        self.class_misses[column] += missed

    def add_decided(self, rows: int, accepted: int) -> None:
        """Count rows that a triage was asked about."""
        self.decided, self.accepted = self.decided + rows, self.accepted + accepted

    def add_checked(self, wrong: bool) -> None:  # noqa: FBT001
        """Count the label of a row that was accepted."""
        self.checked, self.wrong = self.checked + 1, self.wrong + wrong

    def copy(self) -> Self:
        """Return the counts of now."""
        return deepcopy(self)
