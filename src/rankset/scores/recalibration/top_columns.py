"""The columns of the first ranks of each row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankset.core.ranking import count, rank_columns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def top_columns(values: Floats, most: int) -> Ints:
    """Return the columns of the first ``most`` ranks of each row, or all columns if there are fewer.

    >>> top_columns(np.array([[0.1, 0.5, 0.2, 0.2]]), 2)
    array([[1, 2]])
    """
    n_rows, n_columns = values.shape
    if n_columns <= 2 * most:
        return rank_columns(values)[:, :most]
    inside = values >= _cutoffs(values, most)[:, np.newaxis]
    sizes = count(inside)
    if len(many := np.flatnonzero(sizes > 2 * most)):
        inside[many] = _first_ranks(values[many], most)
        sizes[many] = most
    # the candidates of each row, moved to the left, with -inf after the last one
    width = int(sizes.max(initial=most))
    places = np.flatnonzero(inside)
    rows = np.repeat(np.arange(n_rows), sizes)
    starts = sizes.cumsum() - sizes
    moved = np.arange(len(places)) + (np.arange(n_rows) * width - starts)[rows]
    entries, columns = values.reshape(-1)[places], np.zeros((n_rows, width), dtype=np.int64)
    columns.reshape(-1)[moved] = places - rows * n_columns
    short = entries.astype(np.float32)
    kept = short if (short == entries).all() else entries  # float32 is ranked faster
    narrow = np.full((n_rows, width), -np.inf, dtype=kept.dtype)
    narrow.reshape(-1)[moved] = kept
    ranked = rank_columns(narrow)[:, :most]
    return np.take_along_axis(columns, ranked, axis=1)


def _cutoffs(values: Floats, most: int) -> Floats:
    """Return a cutoff for each row (n,) that at least ``most`` entries reach, and few more.

    If ``most`` maxima over columns of a reshaped row reach a value, at least as many entries of the row do. They are
    sorted, because ``partition`` is slow where many entries are equal.
    """
    n_rows, n_columns = values.shape
    slices = n_columns // (2 * most)
    width = n_columns // slices
    tops = values[:, : slices * width].reshape(n_rows, slices, width).max(axis=1)
    tops.sort(axis=1)
    return tops[:, width - most]


def _first_ranks(values: Floats, most: int) -> Bools:
    """Return which entries have the first ``most`` ranks, also where many entries are equal (n, K)."""
    cutoffs = np.sort(values, axis=1)[:, values.shape[1] - most, np.newaxis]
    larger, equal = values > cutoffs, values == cutoffs
    equal &= equal.cumsum(axis=1) <= most - larger.sum(axis=1, keepdims=True)
    return larger | equal
