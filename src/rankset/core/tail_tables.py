"""Tables of what a calibration says about a cell at each place among its keys: counts and p-values."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rankset.core.masses import RowMasses
from rankset.core.weights import Weights, shares_from

Ints = NDArray[np.int64]


class Sorted(Protocol):
    """A calibration, as far as tables need it."""

    @property
    def offsets(self) -> Ints:
        """Where each group begins, and the end."""

    @property
    def absent(self) -> Ints | None:
        """Number of rows of each group whose true label is not among the candidates."""

    @property
    def weights(self) -> Weights | None:
        """Weights of the entries; None if all are 1."""

    @property
    def row_masses(self) -> RowMasses | None:
        """Weights of rows, added up; None if rows have no weights."""

    @property
    def masses_beyond(self) -> Ints:
        """The weight of all entries from each one on, if rows have weights."""

    @property
    def counts(self) -> Ints:
        """Number of rows of each group."""

    @property
    def counts_with_keys(self) -> Ints:
        """Number of entries of each group."""


@dataclass(frozen=True, eq=False)
class TailTables:
    """How many entries of a cell's group have keys at least as large, and how many rows the group has, by place.

    ``shares`` are the p-values of entries with weights; None if all weights are 1. If rows have weights, both numbers
    are weights, and p-values depend on the weight of the new row.
    """

    larger: Ints
    sizes: Ints
    shares: NDArray[np.float64] | None = None

    @cached_property
    def p_values(self) -> NDArray[np.float64]:
        """The share of rows whose keys are at least as large, the cell itself included."""
        return (1 + self.larger) / (1 + self.sizes) if self.shares is None else self.shares


def tail_tables(calibration: Sorted, starts: Ints) -> TailTables:
    """Return the tables of a calibration, whose distinct keys begin at ``starts``. The group -1 comes first."""
    offsets, counts = calibration.offsets, calibration.counts
    firsts = np.searchsorted(starts, offsets)
    groups = np.repeat(np.arange(len(firsts) - 1), np.diff(firsts) + 1)
    places = starts[np.arange(len(groups)) - groups]
    held = calibration.counts_with_keys
    held = held if calibration.absent is None else held + calibration.absent
    larger, sizes = held[groups] - (places - offsets[groups]), counts[groups]
    shares, rows = None, calibration.row_masses
    if rows is not None:
        larger, sizes = (
            calibration.masses_beyond[places] - calibration.masses_beyond[offsets[1:][groups]],
            rows.by_group[groups],
        )
        larger = larger if rows.absent is None else larger + rows.absent[groups]
    if calibration.weights is not None:
        parts, wholes = calibration.weights
        shares = np.ones(len(groups))
        for group in range(len(offsets) - 1):
            inside, own = slice(offsets[group], offsets[group + 1]), groups == group
            if counts[group]:
                starts_inside = places[own] - offsets[group]
                shares[own] = shares_from((parts[inside], wholes[inside]), starts_inside, int(counts[group]))
        shares = np.repeat(np.append(1.0, shares), 2)
    by_place = [np.repeat(np.append(0, table), 2) for table in (larger, sizes)]
    return TailTables(by_place[0], by_place[1], shares)
