"""Keys of the cells of all rows: of all cells, or of those that a threshold keeps."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import lexicographic
from rankset.core.calibration import Thresholds
from rankset.core.cells import RankedCells
from rankset.core.lexicographic import Keys
from rankset.core.narrow import NarrowCells
from rankset.evaluation.metrics import Bools, Ints
from rankset.rules.batch import Batch
from rankset.rules.select import cells_within, shared_reach
from rankset.scores.application import keys_of


def all_cells(batch: Batch, columns: Ints, threshold: Thresholds | None = None) -> tuple[Keys, Ints, Bools, Ints]:
    """Return keys, rows and groups of all cells of ``batch`` without padding, and whether they are the true labels'.

    ``columns`` are the columns of the rows' labels. If all cells share a group, there is one group number only. With a
    ``threshold``, which all cells share, only the cells that it keeps are returned.
    """
    parts = batch.map_blocks(partial(_block_cells, batch, columns, threshold))
    *keys, rows, true, groups = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    shared = batch.spec.shared_group
    return tuple(keys), rows, true, groups if shared is None else shared


def threshold_at_label(batch: Batch, columns: Ints, place: int | None) -> Thresholds | None:
    """Return the threshold that keeps the labels of the first ``place`` rows in the order of the score.

    None if every cell is kept: if ``place`` is None, or if so many labels are absent that it is after all others.
    """
    present = columns >= 0
    if place is None or place > np.count_nonzero(present):
        return None
    parts = batch.map_blocks(partial(batch.label_keys, np.maximum(columns, 0)))
    keys = tuple(np.concatenate(pieces)[present] for pieces in zip(*(keys for _, keys in parts), strict=True))
    ordered = lexicographic.sorted_union([keys])
    return Thresholds(tuple(key[place - 1 : place] for key in ordered), np.zeros(1, dtype=np.bool_))


def _block_cells(batch: Batch, columns: Ints, threshold: Thresholds | None, part: slice) -> tuple[NDArray[Any], ...]:
    """Return the keys of the cells of a block, their rows, whether they are the true labels', and their groups."""
    kept = None
    cells: RankedCells | NarrowCells
    if threshold is None:
        cells, groups, keys = batch.all_keys(part)
    else:
        cells = cells_within(batch, shared_reach(batch.spec, threshold), part)
        keys, groups = keys_of(batch.spec.score, cells), batch.groups(cells, part)
        kept = threshold.keep(groups, keys)
    if (candidates := batch.candidates(cells, part)) is not None:
        kept = candidates if kept is None else kept & candidates
    rows = part.start + cells.row
    found = (*keys, rows, cells.column == columns[rows], np.broadcast_to(groups, rows.shape))
    return found if kept is None else tuple(values[kept] for values in found)
