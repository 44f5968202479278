"""Selects the labels of each set: compares keys with thresholds, and sorts no more of a row than its set needs.

A score can declare how far down a row the labels of a set can be (its reach). This gives a cutoff for every row: only
entries that reach it are ranked, and their keys decide. A lower cutoff gives the same sets and takes more time.
"""

import math
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from rankset.core.calibration import Thresholds
from rankset.core.cells import RankedCells
from rankset.core.narrow import NarrowCells
from rankset.core.rows import Rows
from rankset.inputs import ragged
from rankset.rules.batch import Batch, Ints
from rankset.rules.spec import RuleSpec
from rankset.rules.weighted_rows import WeightedLevel
from rankset.scores.application import compared_keys, keys_of
from rankset.scores.reach import REACHES, Reach, reach_of

Empty = Literal["allow", "top"]
EMPTY: Final[tuple[Empty, ...]] = ("allow", "top")

Codes = NDArray[np.int32]

ZERO = np.zeros(1, dtype=np.int64)

ROUNDING = 1e-9
"""Upper bound for the relative rounding error of a difference of two float64."""


def shared_reach(spec: RuleSpec, thresholds: Thresholds) -> Reach:
    """Return the reach of a score at ``thresholds``: one for all rows, if they share a group, else one per group."""
    reach = reach_of(spec.score, thresholds.keys)
    return reach if spec.shared_group is None else _widest(reach, thresholds, spec.shared_group)


def cells_within(batch: Batch, reach: Reach, part: slice) -> RankedCells | NarrowCells:
    """Return the cells of a block within one ``reach`` for all its rows, and few others."""
    return batch.likeliest_cells(part, float(reach.rank), float(reach.before), partial(cutoffs, reach))


def select(batch: Batch, thresholds: Thresholds, reach: Reach, empty: Empty = "allow") -> tuple[Ints, Codes]:
    """Return offsets and codes of the sets of all rows; ``reach`` is that of ``shared_reach``."""
    if batch.wide:
        return _select_by_width(batch, thresholds, reach, empty)
    if batch.spec.shared_group is None and len(batch.row_groups) == 1:
        reach = _widest(reach, thresholds, batch.groups_in(slice(None)))
    parts = batch.map_blocks(partial(_block, batch, thresholds, reach, empty))
    offsets = np.concatenate([ZERO, *(sizes for sizes, _ in parts)]).cumsum()
    if len(parts) == 1:
        return offsets, parts[0][1]
    codes = np.empty(offsets[-1], dtype=np.int32)
    end = len(codes)
    while parts:  # each part's memory is free again before the next one is copied
        _, piece = parts.pop()
        codes[end - len(piece) : end] = piece
        end -= len(piece)
    return offsets, codes


def select_weighted(batch: Batch, level: WeightedLevel, empty: Empty = "allow") -> tuple[Ints, Codes]:
    """Return offsets and codes of the sets of rows with weights."""
    own = batch.data.masses
    assert own is not None
    of_rows = level.for_rows(own)
    thresholds = of_rows.heaviest
    return select(replace(batch, level=of_rows), thresholds, shared_reach(batch.spec, thresholds), empty)


def _select_by_width(batch: Batch, thresholds: Thresholds, reach: Reach, empty: Empty) -> tuple[Ints, Codes]:
    """Return offsets and codes of all rows, if some have more candidates than the rule has classes."""
    parts = [(rows, *select(one, thresholds, reach, empty)) for rows, one in batch.by_width()]
    sizes = np.zeros(batch.shape[0], dtype=np.int64)
    for rows, own, _ in parts:
        sizes[rows] = np.diff(own)
    offsets = np.concatenate([ZERO, sizes]).cumsum()
    codes = np.empty(offsets[-1], dtype=np.int32)
    for rows, own, piece in parts:
        codes[np.repeat(offsets[rows] - own[:-1], np.diff(own)) + np.arange(len(piece))] = piece
    return offsets, codes


def _block(batch: Batch, thresholds: Thresholds, reach: Reach, empty: Empty, part: slice) -> tuple[Ints, Codes]:
    """Return sizes and codes of the sets of one block."""
    if len(batch.row_groups) > 1:
        reach = _widest(reach, thresholds, batch.groups_in(part))
    cells = cells_within(batch, reach, part)
    groups = batch.groups(cells, part)
    if batch.level is None:
        kept = thresholds.keep(groups, compared_keys(batch.spec.score, cells))
    else:
        kept = batch.keep(groups, keys_of(batch.spec.score, cells), cells, part)
    if batch.data.counts is not None:
        kept &= cells.column < batch.data.counts[part][cells.row]
    sizes, codes = cells.chosen(kept)
    if empty == "top" and not sizes.all():
        places, missing = (sizes.cumsum() - sizes)[sizes == 0], cells.rows.probs[sizes == 0]
        if batch.data.counts is not None:
            missing = ragged.fill_padding(missing, batch.data.counts[part][sizes == 0], -math.inf)
        codes = np.insert(codes, places, missing.argmax(axis=1))
        sizes = np.maximum(sizes, 1)
    return sizes, codes


def _widest(reach: Reach, thresholds: Thresholds, groups: Ints) -> Reach:
    """Return the widest reach of some groups."""
    if thresholds.everything[groups].any():
        return Reach()
    rank, before, prob, behind = (np.asarray(getattr(reach, name))[groups] for name in REACHES)
    return Reach(float(rank.max()), float(before.max()), float(prob.min()), float(behind.max()))


def cutoffs(reach: Reach, rows: Rows) -> NDArray[Any] | None:
    """Return the smallest entry of each row (n,) that can be in its set, by its size alone; None if any can be."""
    if reach.prob == -math.inf and reach.behind == math.inf:
        return None
    with np.errstate(all="ignore"):
        least = np.full(len(rows.probs), reach.prob)
        if reach.behind < math.inf:
            behind = rows.second - reach.behind
            least = np.fmax(least, behind - ROUNDING * (np.abs(rows.second) + abs(reach.behind)))
        return np.nextafter(least.astype(rows.probs.dtype), -math.inf)
