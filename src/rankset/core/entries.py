"""What calibration rows contribute to a calibration: entries with keys and weights, and numbers of rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import Sealed
from rankset.core.lexicographic import Keys
from rankset.core.weights import Weights

Ints = NDArray[np.int64]


class Entries(NamedTuple):
    """Group, keys and weights of calibration entries; ``weights`` is None if all weights are 1.

    ``masses`` are the weights of entries in units of ``core.masses``, if rows have weights of their own.
    """

    groups: Ints
    keys: Keys
    weights: Weights | None
    masses: Ints | None = None

    @property
    def all_weights(self) -> Weights:
        """The weights, also if all of them are 1."""
        ones = np.ones(len(self.groups), dtype=np.int64)
        return (ones, ones) if self.weights is None else self.weights


@dataclass(frozen=True, eq=False)
class RowCounts(Sealed):
    """Numbers of calibration rows.

    Attributes
    ----------
    by_group : for each group, the number of rows with a true label in the group.
    labelled : the number of rows with a true label.
    set_aside : the number of further rows, which have no label.
    """

    by_group: Ints
    labelled: int
    set_aside: int = 0

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RowCounts)
            and np.array_equal(self.by_group, other.by_group)
            and (self.labelled, self.set_aside) == (other.labelled, other.set_aside)
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def together(cls, counts: Sequence["RowCounts"]) -> "RowCounts":
        """Return the numbers of all rows of several calibrations."""
        by_group: Ints = np.sum([one.by_group for one in counts], axis=0)
        return cls(by_group, sum(one.labelled for one in counts), sum(one.set_aside for one in counts))

    def renumbered(self, numbers: Ints, count: int) -> "RowCounts":
        """Return the same rows in ``count`` groups; group g gets the number ``numbers[g]``."""
        by_group = np.zeros(count, dtype=np.int64)
        np.add.at(by_group, numbers, self.by_group)
        return RowCounts(by_group, self.labelled, self.set_aside)
