"""The answers of a model for rows: the most likely label, how sure the model is of it, and whether it is right."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core import noise, parallel, ranking
from rankset.core.calibration import Calibration
from rankset.core.lexicographic import Keys
from rankset.errors import LabelError, RuleError
from rankset.inputs.per_row import names_per_row
from rankset.inputs.prepare import Prepared
from rankset.rules.batch import Batch
from rankset.rules.spec import RuleSpec

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

OWN_DRAWS = 0x5EED_0F_71E5
"""Changes the seed, so that draws for ties do not depend on those of a randomised score."""


class Answers(NamedTuple):
    """The column of the most likely label of each row, its group, and its keys; larger keys mean a less sure model."""

    columns: Ints
    groups: Ints
    keys: Keys


def answers_of(spec: RuleSpec, data: Prepared) -> Answers:
    """Return the answers of prepared rows. Groups without calibration rows have the number -1."""
    columns = most_likely(data)
    parts = Batch.of(spec, data).all_label_keys(columns) if len(data) else []
    if not parts:
        return Answers(columns, np.zeros(0, dtype=np.int64), ())
    groups = np.concatenate([groups for groups, _ in parts])
    keys = tuple(np.concatenate(some) for some in zip(*(keys for _, keys in parts), strict=True))
    return Answers(columns, groups, keys)


def most_likely(data: Prepared) -> Ints:
    """Return the column of the largest entry of each row; the first one if several are equal."""

    def columns(part: slice) -> Ints:
        return data.rows(part).argmax(axis=1)

    parts = parallel.map_blocks(columns, len(data), data.n_columns)
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def right_answers(data: Prepared, columns: Ints, within: int) -> Bools:
    """Return which rows have their label among the ``within`` most likely ones; absent labels never are."""
    if data.labels is None:
        raise LabelError.not_one_dimensional("labels", "NoneType")
    if within == 1:
        return columns == data.labels
    labels = np.maximum(data.labels, 0)
    ranks = parallel.map_blocks(partial(_ranks, data, labels), len(data), data.n_columns)
    return (np.concatenate(ranks) <= within) & (data.labels >= 0)


def _ranks(data: Prepared, labels: Ints, part: slice) -> Ints:
    rows, columns = data.rows(part), labels[part]
    return ranking.label_ranks(rows, ranking.entries_at(rows, columns), columns)[0]


def booleans(correct: ArrayLike, data: Prepared) -> Bools:
    """Return what a user says is right, one boolean per row; 0 and 1 are taken as False and True."""
    array = names_per_row(correct, len(data), data.index, name="correct")
    if array.dtype.kind == "O" and all(isinstance(one, bool | np.bool_) for one in array):
        array = array.astype(np.bool_)
    whole = array.dtype.kind in "iu" and bool(((array == 0) | (array == 1)).all())
    if array.dtype.kind != "b" and not whole:
        raise RuleError.not_booleans(array[:1].tolist())
    return array.astype(np.bool_)


def draws_of(spec: RuleSpec, data: Prepared) -> NDArray[np.float64] | None:
    """Return one draw per row, from its id and its entries; None if rows have no ids.

    It is not the draw of a randomised score, on which the keys depend.
    """
    if data.ids is None:
        return None
    seed = noise.NoiseSeed.of(spec.seed ^ OWN_DRAWS, data.ids)

    def draws(part: slice) -> NDArray[np.float64]:
        return noise.draws(data.rows(part), seed.rows(part))

    parts = parallel.map_blocks(draws, len(data), data.n_columns)
    return np.concatenate(parts) if parts else np.zeros(0)


def calibrations(answers: Answers, right: Bools, count: int) -> tuple[Calibration, Calibration]:
    """Return the sorted keys of right answers and of wrong answers, in ``count`` groups."""
    return _some(answers, right, count), _some(answers, ~right, count)


def _some(answers: Answers, chosen: Bools, count: int) -> Calibration:
    return Calibration.of(answers.groups[chosen], tuple(key[chosen] for key in answers.keys), count)
