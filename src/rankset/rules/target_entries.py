"""Calibration entries: which true labels a target takes, with which weights, and the numbers of rows."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankset.core.calibration import Calibration
from rankset.core.entries import Entries, RowCounts
from rankset.core.masses import RowMasses, shares_of
from rankset.core.true_cells import TrueCells
from rankset.core.weights import LARGEST, Weights
from rankset.errors import LabelError, ScoreError
from rankset.inputs.prepare import Prepared
from rankset.inputs.row_weights import check_total
from rankset.rules.batch import Batch
from rankset.scores.application import keys_of
from rankset.targets import BUILT_IN, Target, TrueLabels
from rankset.targets.base import Chosen

Ints = NDArray[np.int64]

ROUNDING = 1e-9


class _Part(NamedTuple):
    """What the rows of a block contribute."""

    entries: Entries
    by_group: Ints
    masses: RowMasses | None = None


def calibration_of(batch: Batch, count: int) -> Calibration:
    """Return the calibration of rows, for a target that is not ``OneLabel``; ``check_entries`` is for all rows."""
    data = batch.data
    labelled = _number_of_rows(batch)
    if data.absent is not None:
        raise LabelError.absent_among_several("labels", int(data.absent.argmax()))
    parts = batch.map_blocks(partial(_part, batch, count))
    rows = RowCounts(np.sum([part.by_group for part in parts], axis=0), labelled, len(data) - labelled)
    if data.masses is not None:
        check_total(float(data.masses.sum(dtype=np.float64)) * count)
        own = RowMasses.together([part.masses for part in parts if part.masses is not None])
        return Calibration.of_weighted([part.entries for part in parts], count, own, rows)
    return Calibration.of_entries([part.entries for part in parts], count, rows)


def check_entries(calibration: Calibration, *, below: bool) -> None:
    """Raise an error if no calibration row has a true label, or a false one where the target is about these."""
    if calibration.rows is not None and not calibration.rows.labelled:
        made = LabelError.no_false_labels if below else LabelError.no_labels_at_all
        raise made(calibration.rows.set_aside)


def _number_of_rows(batch: Batch) -> int:
    """Return how many rows can have entries."""
    data = batch.data
    if data.truths is None:
        return len(data)
    if not batch.spec.below:
        return int(np.count_nonzero(data.truths.sizes))
    return int(np.count_nonzero(data.truths.sizes < (batch.shape[1] if data.counts is None else data.counts)))


def _part(batch: Batch, count: int, part: slice) -> _Part:
    """Return the entries of a block."""
    spec, labels = batch.spec, true_labels(batch, part)
    numbers = labels.group
    if numbers.dtype.kind not in "iu" or (len(numbers) and (numbers.min() < 0 or numbers.max() >= count)):
        raise LabelError.group_numbers(spec.condition, count, f"{numbers.min()} to {numbers.max()}")
    places, weights = chosen_entries(spec.target, labels)
    last = labels.order[labels.ends - 1]
    by_group = np.bincount(numbers[last], minlength=count).astype(np.int64)
    entries = Entries(numbers[places], tuple(key[places] for key in labels.keys), weights)
    if batch.data.masses is None:
        return _Part(entries, by_group)
    own = batch.data.masses[part][labels.row]
    shares = own[places] if weights is None else shares_of(own[places], *weights)
    masses = RowMasses.of(numbers[last], own[last], count)
    return _Part(entries._replace(weights=None, masses=shares), by_group, masses)


def chosen_entries(target: Target, labels: TrueLabels) -> Chosen:
    """Return which true labels are entries, and their weights; raise an error if a user's own target is wrong."""
    if type(target) in BUILT_IN:
        return target.entries(labels)
    found: object = target.entries(labels)
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise ScoreError.target(target, "a pair, places and weights", type(found).__name__)
    return _checked(target, labels, *found)


def true_labels(batch: Batch, part: slice) -> TrueLabels:
    """Return the true labels of a block, with their groups and keys."""
    data: Prepared = batch.data
    if data.truths is None:
        columns = data.labels[part]  # type: ignore[index]
        groups, keys = batch.label_keys(data.labels, part)  # type: ignore[arg-type]
        return TrueLabels(np.arange(len(columns)), groups, columns, keys, batch.spec.classes.values)
    some = data.truths[part]
    if batch.spec.below:
        counts = None if data.counts is None else data.counts[part]
        some = some.complement(batch.shape[1], counts)
    cells = TrueCells(batch.block(part), some.rows, some.codes)
    numbers = np.broadcast_to(batch.groups(cells, part), cells.size)
    return TrueLabels(cells.row, numbers, cells.column, keys_of(batch.spec.score, cells), batch.spec.classes.values)


def _checked(target: object, labels: TrueLabels, places: object, weights: object) -> tuple[Ints, Weights | None]:
    """Return what a target of a user's own returned; raise an error if it cannot be right."""
    numbers = np.asarray(places)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or len(np.unique(numbers)) < len(numbers):
        raise ScoreError.target(target, "places: an array of different integers", type(places).__name__)
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(labels):
        raise ScoreError.target(target, f"places from 0 to {len(labels) - 1}", f"{numbers.min()} to {numbers.max()}")
    numbers = numbers.astype(np.int64)
    if weights is None:
        shares = np.ones(len(numbers))
        made = None
    else:
        made = _checked_weights(target, weights, len(numbers))
        shares = made[0] / made[1]
    pairs = labels.row[numbers] * (labels.group.max(initial=0) + 1) + labels.group[numbers]
    _, codes = np.unique(pairs, return_inverse=True)
    totals = np.bincount(codes, shares)
    if len(totals) and totals.max() > 1 + ROUNDING:
        raise ScoreError.target(target, "weights that add up to at most 1 in every row", f"the sum {totals.max():.6g}")
    return numbers, made


def _checked_weights(target: object, weights: object, size: int) -> Weights:
    """Return weights as two arrays of positive integers; raise an error if they are anything else."""
    expected = "weights: None, or two arrays of positive integers with one entry per place"
    try:
        parts, wholes = (np.asarray(array) for array in weights)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ScoreError.target(target, expected, type(weights).__name__) from None
    for array in (parts, wholes):
        if (
            array.shape != (size,)
            or array.dtype.kind not in "iu"
            or (size and not 0 < array.min() <= array.max() <= LARGEST)
        ):
            raise ScoreError.target(target, expected, f"{array.dtype} of shape {array.shape}")
    return parts.astype(np.int64), wholes.astype(np.int64)
