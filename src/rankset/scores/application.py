"""A score applied to rows: its ``transform`` and its ``keys``, with their results checked."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankset.core.cells import Cells
from rankset.core.lexicographic import Keys
from rankset.errors import ScoreError
from rankset.scores.base import Score

NOTHING = np.array(0.0)
"""Added to keys, it turns -0.0 into 0.0."""
FEW = 4096
"""Up to so many entries, a sum of squares is faster than a minimum."""


def transform_rows(score: Score, probs: NDArray[Any], counts: NDArray[np.int64] | None = None) -> NDArray[Any]:
    """Return rows after the ``transform`` of a score.

    If only the first ``counts`` columns of a row are candidates, the score gets those only. The other columns become 0,
    or -inf in rows with negative entries, so that padding never ranks before a candidate.
    """
    if counts is None:
        return _checked_transform(score, probs)
    answer = np.empty(probs.shape)
    for count in np.unique(counts).tolist():
        rows = counts == count
        candidates = _checked_transform(score, np.ascontiguousarray(probs[rows][:, :count]))
        answer[rows, :count] = candidates
        answer[rows, count:] = np.where(candidates.min(axis=1, keepdims=True) < 0, -np.inf, 0.0)
    return answer


def _checked_transform(score: Score, probs: NDArray[Any]) -> NDArray[Any]:
    answer = np.asarray(cast("Any", score).transform(probs.astype(np.float64)))
    if answer.shape != probs.shape or answer.dtype.kind not in "fiub":
        raise ScoreError.transform(score, probs.shape, f"{answer.dtype} of shape {answer.shape}")
    answer = np.ascontiguousarray(answer, dtype=np.float64)
    if np.isnan(answer).any():
        raise ScoreError.transform(score, probs.shape, "NaN")
    return answer


def keys_of(score: Score, cells: Cells) -> Keys:
    """Return the keys of cells to be stored or searched: those of ``compared_keys``, with 0.0 in place of -0.0."""
    return tuple([key if key.dtype.kind == "i" else key + NOTHING for key in compared_keys(score, cells)])


def compared_keys(score: Score, cells: Cells) -> Keys:
    """Return the keys of cells, as int64 or float64 arrays with one entry per cell and without NaN."""
    shape = (cells.size,)
    with np.errstate(all="ignore"):  # infinite keys are allowed, NaN raises an error
        keys = as_tuple(score.keys(cells))
        return tuple([_as_int_or_float(_one_per_cell(key, shape), score, cells) for key in keys])


def as_tuple(keys: object) -> tuple[Any, ...]:
    """Return the result of ``keys`` if it is a tuple that is not empty; raise a ScoreError otherwise."""
    if not isinstance(keys, tuple) or not keys:
        raise ScoreError.keys("a tuple of arrays", type(keys).__name__)
    return keys


def _one_per_cell(key: object, shape: tuple[int]) -> NDArray[Any]:
    if type(key) is np.ndarray and key.shape == shape:
        return key
    if isinstance(key, np.ma.MaskedArray):
        raise ScoreError.keys("arrays without masked entries", "a masked array")
    try:
        array = np.asarray(key)
    except ValueError:
        raise ScoreError.keys("arrays of real numbers", "rows of different lengths") from None
    if array.shape == shape:
        return array
    if array.ndim == 0:
        return np.full(shape, array)
    raise ScoreError.keys(f"arrays with one entry per (row, label) pair, shape {shape}", f"shape {array.shape}")


def _as_int_or_float(key: NDArray[Any], score: Score, cells: Cells) -> NDArray[Any]:
    if key.dtype.kind in "iub":
        if key.dtype == np.uint64 and key.max(initial=0) > np.iinfo(np.int64).max:
            raise ScoreError.keys("integers below 2**63", f"{key.max()}")
        return key.astype(np.int64, copy=False)
    if key.dtype.kind != "f":
        raise ScoreError.keys("arrays of real numbers", f"an array of {key.dtype}")
    if _has_nan(key):
        row = np.arange(len(cells.rows.probs))[cells.row][int(np.isnan(key).argmax())]
        raise ScoreError.nan_key(score, cells.rows.start + int(row))
    return key.astype(np.float64, copy=False)


def _has_nan(key: NDArray[Any]) -> bool:
    """Return whether an entry is NaN: then so is the sum of squares, and nothing else makes it NaN."""
    if key.size > FEW:
        return math.isnan(np.minimum.reduce(key))
    return math.isnan(key.dot(key))
