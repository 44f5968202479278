"""Keys and ranks of the true labels of rows that a score is fitted on."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core import noise, parallel
from rankset.core.cells import Cells, LabelCells
from rankset.core.rows import Rows
from rankset.errors import LabelError, ScoreError
from rankset.inputs.matrix import SUM_TO_ONE, Kind
from rankset.inputs.prepare import Prepared
from rankset.scores.application import as_tuple, keys_of, transform_rows
from rankset.scores.base import Score
from rankset.scores.declarations import checked_traits, traits
from rankset.scores.recalibration.fit_rows import prepare_fit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def rows_to_fit(probs: ArrayLike, labels: ArrayLike, kind: Kind, score: Score) -> Prepared:
    """Return rows prepared to fit numbers of classes for ``score``; raise an error if it is for other classes."""
    data = prepare_fit(probs, labels, kind)
    checked_traits(score, None, data.n_columns)
    return data


def label_columns(data: Prepared) -> Ints:
    """Return the column of the label of each row."""
    if data.labels is None:
        raise LabelError.not_one_dimensional("labels", "NoneType")
    return data.labels


def label_ranks(score: Score, data: Prepared) -> Ints:
    """Return the rank of the label of each row, after the ``transform`` of the score."""
    parts = parallel.map_blocks(lambda part: _cells(score, data, part).rank, len(data), data.n_columns)
    return np.concatenate(parts)


def label_keys(score: Score, data: Prepared) -> Floats:
    """Return the key of the label of each row, of a score that has one key."""
    blocks = parallel.map_blocks(lambda part: keys_of(score, _cells(score, data, part))[0], len(data), data.n_columns)
    return np.concatenate(blocks).astype(np.float64)


def _cells(score: Score, data: Prepared, part: slice) -> Cells:
    """Return the cells of the labels of a block of rows."""
    probs, transforms = data.rows(part), traits(score).transforms
    seen = transform_rows(score, probs) if transforms else probs
    draw = partial(noise.draws, probs, noise.NoiseSeed.of(0))
    additive = data.kind in SUM_TO_ONE
    rows = Rows(seen, draw, additive=additive, summed=additive and not transforms, start=part.start)
    return LabelCells(rows, label_columns(data)[part])


def check_single_key(score: Score, n_columns: int, name: str) -> None:
    """Raise an error that mentions the score ``name`` if ``score`` has several keys."""
    probs = np.full((1, n_columns), 1 / n_columns)
    seen = transform_rows(score, probs) if traits(score).transforms else probs
    cells = LabelCells(Rows(seen, lambda: np.zeros(1), summed=True), np.zeros(1, dtype=np.int64))
    count = len(as_tuple(score.keys(cells)))
    if count != 1:
        raise ScoreError.several_keys(name, score, count)
