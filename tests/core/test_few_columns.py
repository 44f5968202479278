"""Rows with few columns give the bits of the way by rows."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankset.core import few_columns, noise
from rankset.core.cells import LabelCells
from rankset.core.rows import Rows


def rows_with_ties(seed, n, k, dtype):
    """Rows of probabilities, with ties in about half of them and some entries -0.0."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(k, 0.5), n)
    coarse = rng.multinomial(6, np.full(k, 1 / k), n) / 6
    rows[::2] = coarse[::2]
    rows[rows == 0] = rng.choice([0.0, -0.0])
    return rows.astype(dtype), rng.integers(0, k, n)


def read(rows, labels):
    """All that few columns change, as bytes."""
    seed = noise.NoiseSeed.of(7)
    cells = LabelCells(Rows(rows, lambda: noise.draws(rows, seed), summed=True), labels)
    return [feature.tobytes() for feature in (cells.prob, cells.rank, cells.mass, cells.before, cells.noise)]


@given(
    st.integers(0, 10**6),
    st.sampled_from([0, 1, 2, 17, 200]),
    st.sampled_from([1, 2, 3, 10, 16, 17, 31, 32]),
    st.sampled_from([np.float32, np.float64]),
)
def test_labels_are_read_as_by_rows(seed, n, k, dtype):
    rows, labels = rows_with_ties(seed, n, k, dtype)
    by_columns = read(rows, labels)
    with mock.patch.object(few_columns, "FEW", 0):
        assert by_columns == read(rows, labels)


@pytest.mark.parametrize("k", [1, 2, 32])
def test_the_first_of_the_largest_entries_is_found(k):
    values = np.random.default_rng(3).integers(-2, 2, (500, k)).astype(np.float32)
    values[0] = -np.inf
    places, tops = few_columns.largest(values)
    assert places.tolist() == values.argmax(axis=1).tolist()
    assert tops.tolist() == values.max(axis=1).tolist()
