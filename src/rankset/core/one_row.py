"""One row: its most likely cells, found with few NumPy calls. Services ask for one row at a time.

Features have the same bits as in ``cells``: entries are compared and taken as they are, and sums are exact.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankset.core.cells import Cells, Floats, Ints
from rankset.core.grid import on_grid
from rankset.core.lazy import lazy
from rankset.core.rows import Rows

Row = NDArray[Any]
"""One row (K,) of float32 or float64."""

HEAD = 64
"""So many of the largest entries are added up at first; most sets need no more."""


@dataclass(frozen=True)
class RowLimits:
    """Limits that every label of a set satisfies: see ``ranking.likeliest``.

    Attributes
    ----------
    rank : largest rank, at least 1.
    mass : largest mass before a label; infinite if there is no limit.
    """

    rank: int
    mass: float


class RowSource(Protocol):
    """What makes features of a row that few scores use."""

    def rows(self, row: Row) -> Rows:
        """Return the row as a block."""

    def draw(self, row: Row) -> float:
        """Return the noise of the row."""


class RowCells(Cells):
    """The most likely cells of one row, in ranking order."""

    column: Ints = np.zeros(0, dtype=np.int64)

    def __init__(self, source: RowSource, entries: Row, columns: Ints, masses: Floats | None) -> None:
        """Make the cells of ``columns`` of a row of ``entries``.

        ``masses`` are those of ``running_masses``, at least up to the last cell; None if they are not known.
        """
        self._source, self._entries, self._masses = source, entries, masses
        self.column = columns
        self.size = len(columns)

    @lazy
    def rows(self) -> Rows:
        return self._source.rows(self._entries)

    @lazy
    def row(self) -> Ints:
        return np.zeros(self.size, dtype=np.int64)

    @lazy
    def prob(self) -> Floats:
        return self._entries[self.column].astype(np.float64)

    @lazy
    def rank(self) -> Ints:
        return np.arange(1, self.size + 1)

    @lazy
    def noise(self) -> Floats:
        draws = np.empty(self.size)
        draws.fill(self._source.draw(self._entries))
        return draws

    @lazy
    def _known_masses(self) -> Floats:
        if self._masses is None:
            self.rows.check_additive()
            return running_masses(self._entries[self.column])
        return self._masses

    @property
    def mass(self) -> Floats:
        return self._known_masses[1 : self.size + 1]

    @property
    def before(self) -> Floats:
        return self._known_masses[: self.size].copy()  # a score may change it


def most_likely(row: Row, ordered: Row, limits: RowLimits, cutoff: float) -> tuple[Ints, Floats | None]:
    """Return the columns of one row within limits in ranking order, perhaps a few more, and running masses.

    ``ordered`` are the entries of ``row`` in ascending order, without NaN. Entries of at least ``cutoff`` are within
    the limits. The masses, those of ``running_masses``, are None if there is no limit for them.
    """
    n_columns = len(row)
    most, masses = limits.rank, None
    if limits.mass < math.inf:
        masses = running_masses(ordered[: -HEAD - 1 : -1])
        if masses.item(-1) <= limits.mass and n_columns > HEAD:
            masses = running_masses(ordered[::-1])
        most = min(most, int(masses.searchsorted(limits.mass, "right")))
    if cutoff > -math.inf:
        most = min(most, n_columns - int(ordered.searchsorted(cutoff)))
    if most >= n_columns:
        return (-row).argsort(kind="stable"), masses
    if most == 0:
        return np.zeros(0, dtype=np.int64), masses
    place = n_columns - most
    columns = (row >= ordered[place : place + 1]).nonzero()[0]
    return columns[(-row[columns]).argsort(kind="stable")[:most]], masses


def running_masses(entries: Row) -> Floats:
    """Return 0 and the running sums of probabilities (K + 1,).

    They are multiples of 2**-50 below 8, so float64 holds them exactly.
    """
    masses = np.zeros(len(entries) + 1)
    np.add.accumulate(on_grid(entries.astype(np.float64)), out=masses[1:])
    return masses
