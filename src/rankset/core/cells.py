"""Cells: one (row, label) pair each, with the features a score may look at.

Calibration looks at one cell per row, the true label's, by counting; prediction at the most likely ones, by sorting as
few as it can. Both give the same bits, because ranks are counts and masses are sums that do not depend on order.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from rankset.core import noise, ranking
from rankset.core.kernels.compiled import RankedColumns, Read
from rankset.core.scratch import scratch
from rankset.errors import InputError, ScoreError

Value = TypeVar("Value")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEATURES = frozenset({"column", "prob", "rank", "mass", "before", "top", "second", "noise"})
"""What scores may look at."""

MASS_LIMIT = 8.0
GRID = 2.0**-50


class lazy(Generic[Value]):  # noqa: N801 - used like property
    """A decorator for methods that become attributes, computed when first asked for and remembered by their object.

    ``functools.cached_property`` does the same, but before Python 3.12 one lock per attribute keeps threads from
    computing it for different objects at the same time.
    """

    def __init__(self, function: Callable[[Any], Value]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, thing: None, owner: type) -> "lazy[Value]": ...
    @overload
    def __get__(self, thing: object, owner: type) -> Value: ...
    def __get__(self, thing: object | None, owner: type) -> "lazy[Value] | Value":
        if thing is None:
            return self
        value = self._function(thing)
        thing.__dict__[self._name] = value
        return value


def on_grid(probs: Floats) -> Floats:
    """``probs`` rounded to multiples of 2**-50, so that float64 adds them exactly in any order (below 8).

    >>> on_grid(np.array([0.1, 0.2, 0.7])).sum() == on_grid(np.array([0.7, 0.1, 0.2])).sum()
    np.True_
    """
    return (probs + 4.0) - 4.0


@dataclass(frozen=True)
class Rows:
    """A block of rows (n, K), float32 or float64, and what all cells of a row share.

    ``additive`` says that entries may be added up, ``summed`` that rows are known to sum to about 1; ``start`` is
    the number of the first row; ``noise_seed`` is what compiled loops make draws of, where they can.
    """

    probs: NDArray[Any]
    draw: Callable[[], Floats]
    additive: bool = True
    summed: bool = False
    start: int = 0
    noise_seed: noise.NoiseSeed | None = None

    @lazy
    def top(self) -> Floats:
        """The largest entry of each row (n,)."""
        return self.probs.max(axis=1).astype(np.float64)

    @lazy
    def second(self) -> Floats:
        """The second largest entry of each row (n,); -inf where there is only one."""
        others = scratch(self.probs.shape, self.probs.dtype)
        others[:] = self.probs
        others[np.arange(len(others)), others.argmax(axis=1)] = -np.inf
        return others.max(axis=1).astype(np.float64)

    @lazy
    def noise(self) -> Floats:
        """One uniform draw per row (n,)."""
        return self.draw()

    def with_noise(self, draws: Floats | None) -> "Rows":
        """The same rows with ``draws`` known already, unless there are none."""
        return self if draws is None else replace(self, draw=lambda: draws)

    def check_additive(self) -> None:
        """Refuses to add up what are no probabilities."""
        if not self.additive:
            raise ScoreError.mass_without_probabilities()
        if self.summed:
            return
        lowest, totals = self.probs.min(axis=1), self.probs.sum(axis=1, dtype=np.float64)
        wrong = (lowest < 0) | (totals >= MASS_LIMIT)
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError.not_addable(self.start + row, float(lowest[row]), float(totals[row]))


class Cells(ABC):
    """The features of some cells, as arrays (m,) with one entry per cell."""

    rows: Rows

    @property
    @abstractmethod
    def row(self) -> Ints | slice:
        """The cells' rows within their block: numbers, or a slice where every row has one cell."""

    @property
    @abstractmethod
    def column(self) -> Ints:
        """The label's column number."""

    @property
    @abstractmethod
    def prob(self) -> Floats:
        """The label's probability (or score, or transformed probability)."""

    @property
    @abstractmethod
    def rank(self) -> Ints:
        """The label's place in its row: 1 is the largest, equal entries count from the left."""

    @property
    @abstractmethod
    def mass(self) -> Floats:
        """The label's probability plus that of every label ranked before it."""

    @property
    def before(self) -> Floats:
        """The mass of the labels ranked before this one, exactly."""
        return self.mass - on_grid(self.prob)

    @property
    def top(self) -> Floats:
        """The largest entry of the row."""
        return self.rows.top[self.row]

    @property
    def second(self) -> Floats:
        """The second largest entry of the row, -inf where there is only one."""
        return self.rows.second[self.row]

    @property
    def noise(self) -> Floats:
        """The row's uniform draw from [0, 1)."""
        return self.rows.noise[self.row]

    def __len__(self) -> int:
        return len(self.column)

    def __getattr__(self, name: str) -> None:
        known = "column, prob, rank, mass, before, top, second, noise"
        raise AttributeError(f"cells have no {name!r}; they have {known}", name=name, obj=self)


class LabelCells(Cells):
    """The cell of one label per row, found by counting what stands before it."""

    row = slice(None)

    def __init__(self, rows: Rows, labels: Ints, read: Read | None = None) -> None:
        """``read`` is what compiled loops know of these cells already."""
        self.rows = rows
        self._labels = labels
        self._read = read

    @property
    def column(self) -> Ints:
        return self._labels

    @lazy
    def prob(self) -> Floats:
        return self._own.astype(np.float64)

    @lazy
    def _own(self) -> NDArray[Any]:
        return self.rows.probs[np.arange(len(self._labels)), self._labels] if self._read is None else self._read.owns

    @lazy
    def rank(self) -> Ints:
        if self._read is not None:
            return self._read.ranks
        ranks = ranking.count(self._up_to_here)
        ranks[self._tied] -= ranking.count(self._later)
        return ranks

    @property
    def _up_to_here(self) -> NDArray[np.bool_]:
        """Which entries rank before the label, are it, or equal it; to be used at once."""
        probs = self.rows.probs
        return np.greater_equal(probs, self._own[:, np.newaxis], out=scratch(probs.shape, np.bool_))

    @lazy
    def _tied(self) -> Ints:
        """The rows in which other entries equal the label's."""
        probs = self.rows.probs
        equal = np.equal(probs, self._own[:, np.newaxis], out=scratch(probs.shape, np.bool_))
        return np.flatnonzero(ranking.count(equal) > 1)

    @lazy
    def _later(self) -> NDArray[np.bool_]:
        """Which entries of the tied rows equal the label's and stand right of it."""
        tied = self._tied
        equal = self.rows.probs[tied] == self._own[tied][:, np.newaxis]
        return equal & (np.arange(equal.shape[1]) > self._labels[tied][:, np.newaxis])

    @lazy
    def mass(self) -> Floats:
        self.rows.check_additive()
        if self._read is not None and self._read.units is not None:
            return self._read.units.astype(np.float64) * GRID
        ranks, tied, later = self.rank, self._tied, self._later
        up_to_here = self._up_to_here
        up_to_here[tied] &= ~later
        shares = self.rows.probs.ravel()[np.flatnonzero(up_to_here)].astype(np.float64)
        return _running(shares, ranks)[ranks.cumsum() - 1]


class RankedCells(Cells):
    """The most likely cells of every row, all of them by default: row after row, in the order of its ranking."""

    def __init__(self, rows: Rows, listed: RankedColumns | None = None) -> None:
        """``listed`` are those that count, with what compiled loops know of them already."""
        self.rows = rows
        self._listed = listed or RankedColumns(*ranking.likeliest(rows.probs, math.inf, math.inf, None))

    @property
    def sizes(self) -> Ints:
        """How many cells each row has."""
        return self._listed.sizes

    @lazy
    def row(self) -> Ints:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def column(self) -> Ints:
        return self._listed.columns

    @lazy
    def flat(self) -> Ints:
        """Where the cells lie in their block's memory."""
        return self.row * self.rows.probs.shape[1] + self.column

    @lazy
    def prob(self) -> Floats:
        owns = self._listed.owns
        return (self.rows.probs.ravel()[self.flat] if owns is None else owns).astype(np.float64)

    @lazy
    def rank(self) -> Ints:
        starts = self.sizes.cumsum() - self.sizes
        return np.arange(1, len(self) + 1) - starts[self.row]

    @lazy
    def mass(self) -> Floats:
        self.rows.check_additive()
        units = self._listed.units
        return _running(self.prob, self.sizes) if units is None else units.astype(np.float64) * GRID


def _running(probs: Floats, sizes: Ints) -> Floats:
    """The running sums of consecutive pieces of ``probs``, exactly: integers wrap around, differences do not mind."""
    units = (on_grid(probs) / GRID).astype(np.int64)
    totals = units.cumsum()
    ends = sizes.cumsum()
    before = np.concatenate((np.zeros(1, dtype=np.int64), totals))[ends - sizes]
    return (totals - np.repeat(before, sizes)).astype(np.float64) * GRID
