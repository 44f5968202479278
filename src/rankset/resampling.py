"""Random halves: one calibrates, the other tests, many times; every score ranks its cells once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rankset import blocks, level, order
from rankset.recipe import Batch

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def halves(n: int, repeats: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Random halves of ``n`` rows, the first to calibrate."""
    rng = np.random.default_rng(seed)
    for _ in range(repeats):
        rows = rng.permutation(n)
        yield rows[: n // 2], rows[n // 2 :]


@dataclass(frozen=True)
class Ranked:
    """Every cell's place in a score's order, found once: a score is a fixed function of the row.

    ``rows`` are the cells' rows in that order, ``ends[place]`` tells how many cells are not after a place, and
    ``labels`` are the places of the true labels' cells.
    """

    rows: Ints
    ends: Ints
    labels: Ints

    @classmethod
    def of(cls, batch: Batch, columns: Ints) -> Ranked:
        """The places of all cells of ``batch``, whose labels stand in ``columns``."""
        parts = [(part, *batch.all_keys(part)) for part in blocks.split(*batch.shape)]
        keys = tuple(np.concatenate(pieces) for pieces in zip(*(keys for *_, keys in parts), strict=True))
        rows = np.concatenate([part.start + cells.row for part, cells, *_ in parts])
        true = np.concatenate([cells.column for _, cells, *_ in parts]) == columns[rows]
        if batch.counts is not None:
            candidates = np.concatenate([batch.candidates(cells, part) for part, cells, *_ in parts])
            keys, rows, true = tuple(key[candidates] for key in keys), rows[candidates], true[candidates]
        sorting = order.argsort(keys)
        new = np.zeros(len(sorting), dtype=np.bool_)
        for key in keys:
            ordered = key[sorting]
            new[1:] |= ordered[1:] != ordered[:-1]
        places = np.empty(len(sorting), dtype=np.int64)
        places[sorting] = new.cumsum()
        labels = np.empty(len(columns), dtype=np.int64)
        labels[rows[true]] = places[true]
        return cls(rows[sorting], np.append(np.flatnonzero(new), len(new)), labels)

    def sizes(self, place: int) -> Ints:
        """How many cells of each row are not after ``place``."""
        return np.bincount(self.rows[: self.ends[place]], minlength=len(self.labels))

    def outcome(self, cal: Ints, test: Ints, alpha: Fraction) -> tuple[Bools, Ints]:
        """Which rows of ``test`` are covered, and the sizes of their sets, at ``alpha``, calibrated on ``cal``."""
        k = level.position(len(cal), alpha)
        known = np.sort(self.labels[cal])
        place = len(self.ends) - 1 if k > len(cal) else int(known[k - 1])
        return self.labels[test] <= place, self.sizes(place)[test]
