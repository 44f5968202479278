"""Rules whose rows have weights: their calibration, which cells are kept, and their p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rankset.core import masses
from rankset.core.calibration import Calibration, Thresholds
from rankset.core.entries import Entries
from rankset.core.lexicographic import Keys
from rankset.core.masses import RowMasses
from rankset.core.promise import Promise
from rankset.core.shared_rows import SharedRows
from rankset.errors import Option, warn
from rankset.inputs.row_weights import check_total

Ints = NDArray[np.int64]

ROWS_PER_ALPHA = 10
"""Calibration rows of equal weight should be at least so many divided by alpha."""


def weighted_calibration(
    parts: Sequence[tuple[Ints, Keys]], own: Ints, absent: NDArray[np.bool_] | None, count: int
) -> Calibration:
    """Return the calibration of rows in parts, in row order, with one label and the weight ``own`` for each row."""
    check_total(float(own.sum(dtype=np.float64)))
    groups = np.concatenate([numbers for numbers, _ in parts])
    keys = tuple(np.concatenate(pieces) for pieces in zip(*(keys for _, keys in parts), strict=True))
    rows = RowMasses.of(groups, own, count, absent)
    if absent is None:
        return Calibration.of_weighted([Entries(groups, keys, None, own)], count, rows)
    present = ~absent
    entries = Entries(groups[present], tuple(key[present] for key in keys), None, own[present])
    lost = np.bincount(groups[absent], minlength=count).astype(np.int64)
    return Calibration.of_weighted([entries], count, rows, absent=lost)


@dataclass(frozen=True, eq=False)
class WeightedLevel:
    """Which cells of rows with weights are in their sets at one alpha.

    A cell is kept if (weight of the rows at least as unusual + weight of its own row) is more than alpha times (weight
    of all rows + weight of its own row). This is decided in integers.
    """

    rows: Calibration | SharedRows
    alpha: Fraction

    def for_rows(self, own: Ints) -> LevelOfRows:
        """Return what decides about new rows with the weights ``own``."""
        light, heavy = (int(one) for one in (own.min(initial=int(own.max(initial=0))), own.max(initial=0)))
        at = [self.rows.thresholds(Promise(self.alpha), one) for one in (light, heavy)]
        return LevelOfRows(self, *at)

    def keep(self, groups: Ints, keys: Keys, own: Ints) -> NDArray[np.bool_]:
        """Return which cells, of rows with the weights ``own``, are in the set."""
        places = self.rows.places(groups, keys)
        tables = self.rows.tables(len(places))
        most = masses.limits(self.alpha, tables.sizes.take(places), self.rows.own_masses(groups, own))
        kept: NDArray[np.bool_] = tables.larger.take(places) > most
        return kept


@dataclass(frozen=True, eq=False)
class LevelOfRows:
    """Which cells of some rows are in their sets: the heavier a row, the more cells it keeps.

    Cells within the threshold of the lightest row are kept by all rows, cells after that of the heaviest by none. Only
    those between are looked up, each with the weight of its row.
    """

    level: WeightedLevel
    lightest: Thresholds
    heaviest: Thresholds

    def keep(self, groups: Ints, keys: Keys, row_of_cell: Ints, own: Ints) -> NDArray[np.bool_]:
        """Return which cells, of the rows ``row_of_cell`` with the weights ``own``, are in the set."""
        kept = self.lightest.keep(groups, keys)
        others = np.flatnonzero(~kept)
        if len(others):
            some, own_groups = tuple(key[others] for key in keys), groups if len(groups) == 1 else groups[others]
            within = self.heaviest.keep(own_groups, some)
            unsure, some = others[within], tuple(key[within] for key in some)
            own_groups = own_groups if len(groups) == 1 else own_groups[within]
            kept[unsure] = self.level.keep(own_groups, some, own[row_of_cell[unsure]])
        return kept


def weighted_p_values(rows: Calibration | SharedRows, groups: Ints, places: Ints, own: Ints) -> NDArray[np.float64]:
    """Return the p-value of each cell at its place, of rows with the weights ``own``."""
    tables, own = rows.tables(len(places)), rows.own_masses(groups, own)
    whole = tables.sizes.take(places) + own
    found = np.divide(tables.larger.take(places) + own, whole, out=np.ones(len(places)), where=whole > 0)
    return np.minimum(found, 1.0, out=found)  # parts of rows are rounded up


def warn_of_few_effective_rows(rows: float, alpha: Fraction) -> None:
    """Warn if calibration rows with weights are as few as ``ROWS_PER_ALPHA`` / alpha rows of equal weight."""
    needed = ROWS_PER_ALPHA / alpha
    if rows < needed:
        warn(
            f"the weights make the calibration rows as few as {rows:,.0f} rows of equal weight. Coverage then depends "
            f"on few rows. For ",
            Option("alpha", float(alpha)),
            f" use at least {math.ceil(needed):,} such rows: more calibration rows, or weights that differ less.",
        )
