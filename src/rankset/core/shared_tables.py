"""What calibration rows that groups share say about cells, by place, used like arrays."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankset.core.sharing import Ints


class Shared(Protocol):
    """Rows that groups share, as far as tables need them."""

    weights: Ints
    equal: bool
    n_places: int
    total: int

    def beyond(self, groups: Ints, places: Ints) -> Ints:
        """Return the weight of the rows that are at least as unusual as cells of ``groups`` at ``places``."""


@dataclass(frozen=True, eq=False)
class SharedTable:
    """One number for every cell, by the integers of ``SharedRows.places``; entries are taken as from an array."""

    tables: "SharedTables"
    name: str

    def take(self, places: NDArray[Any], out: NDArray[Any] | None = None, mode: str = "raise") -> NDArray[Any]:  # noqa: ARG002
        """Return the number of each cell."""
        dtype = np.float64 if self.name == "p_values" else np.int64
        answer = np.empty(places.shape, dtype=dtype) if out is None else out
        self.tables.fill(self.name, places, answer)
        return answer


@dataclass(frozen=True, eq=False)
class SharedTables:
    """The tables of rows that groups share; ``kept`` has the weights of all places, None if they are not known."""

    rows: Shared
    kept: NDArray[Any] | None

    @property
    def larger(self) -> SharedTable:
        """The weight of the rows that are at least as unusual."""
        return SharedTable(self, "larger")

    @property
    def sizes(self) -> SharedTable:
        """The weight of all rows."""
        return SharedTable(self, "sizes")

    @property
    def p_values(self) -> SharedTable:
        """The share of the rows that are at least as unusual, the cell itself included."""
        return SharedTable(self, "p_values")

    def fill(self, name: str, places: NDArray[Any], out: NDArray[Any]) -> None:
        """Put one of these numbers for each cell into ``out``."""
        if name == "sizes":
            out[...] = self.rows.total
        elif name == "larger":
            out[...] = self._beyond(places)
        elif self.rows.equal:
            np.add(self._beyond(places), 1.0, out=out)
            out /= self.rows.total + 1
        else:
            own = self.rows.weights[places // self.rows.n_places - 1]
            np.divide(self._beyond(places) + own, self.rows.total + own, out=out)

    def _beyond(self, places: NDArray[Any]) -> NDArray[Any]:
        if self.kept is not None:
            return self.kept.take(places)
        groups, places = np.divmod(places, self.rows.n_places)
        return self.rows.beyond(groups - 1, places)
