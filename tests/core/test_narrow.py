"""Rows with few columns, ranked by a sorting network, come out as a full stable sort has them."""

import math
from itertools import combinations, product
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankings import LEVELS, obvious
from rankset.core import narrow
from rankset.core.cells import RankedCells
from rankset.core.rows import Rows

NEAR = {
    **LEVELS,
    "one ulp apart": lambda rng, shape: rng.random((shape[0], 1)) + rng.integers(0, 3, shape) * 2.0**-53,
    "near and far": lambda rng, shape: rng.choice([0.25, 0.5], shape) * (1 + rng.integers(0, 3, shape) * 2.0**-52),
}


@pytest.mark.parametrize("n_columns", range(1, 13))
def test_a_network_that_sorts_zeros_and_ones_sorts_everything(n_columns):
    vectors = np.array(list(product((0, 1), repeat=n_columns)))
    lanes = vectors.T.copy()
    for first, second in narrow.network(n_columns):
        assert 0 <= first < second < n_columns
        lanes[[first, second]] = np.sort(lanes[[first, second]], axis=0)
    assert (lanes == np.sort(vectors.T, axis=0)).all()


@given(
    st.sampled_from(sorted(NEAR)),
    st.sampled_from([np.float32, np.float64]),
    st.integers(0, 60),
    st.integers(1, narrow.MOST_COLUMNS),
    st.integers(0, 2**32),
    st.booleans(),
)
def test_columns_are_those_of_the_obvious_ranking(levels, dtype, n_rows, n_columns, seed, network):
    rng = np.random.default_rng(seed)
    values = NEAR[levels](rng, (n_rows, n_columns)).astype(dtype)
    sizes = rng.integers(0, n_columns + 1, n_rows)
    expected = [column for row, size in zip(obvious(values).tolist(), sizes, strict=True) for column in row[:size]]
    with mock.patch.object(narrow, "FEW_ROWS", 0 if network else 10**9):
        found = narrow.most_likely_columns(values, sizes)
    assert found.dtype == np.int32
    assert found.tolist() == expected


@pytest.mark.parametrize("upwards", [True, False])
def test_entries_one_ulp_apart_are_told_apart_in_any_two_columns(upwards):
    pairs = list(combinations(range(narrow.MOST_COLUMNS), 2))
    values = np.tile(np.linspace(0.1, 0.2, narrow.MOST_COLUMNS), (len(pairs), 1))
    for row, pair in zip(values, pairs, strict=True):
        row[list(pair if upwards else pair[::-1])] = 0.5, np.nextafter(0.5, 1)
    with mock.patch.object(narrow, "FEW_ROWS", 0):
        found = narrow.most_likely_columns(values, np.full(len(pairs), narrow.MOST_COLUMNS))
    assert (found.reshape(values.shape) == obvious(values)).all()


FEATURES = ("prob", "rank", "mass", "before", "top", "second", "noise")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("network", [True, False])
def test_features_asked_for_later_leave_earlier_ones_alone(dtype, network):
    """A score of one's own may hold all features at once."""
    rng = np.random.default_rng(0)
    rows = Rows((rng.multinomial(6, np.full(5, 0.2), 40) / 6).astype(dtype), None).with_noise(rng.random(40))
    known = RankedCells(rows)
    places = np.lexsort((known.rank, known.row))
    for names in (FEATURES, FEATURES[::-1]):
        with mock.patch.object(narrow, "FEW_ROWS", 0 if network else 10**9):
            cells = narrow.NarrowCells(rows, math.inf, math.inf, None)
            found = {name: getattr(cells, name) for name in ("row", *names, "column")}
        order = np.lexsort((found["rank"], found["row"]))
        for name, feature in found.items():
            assert feature[order].tolist() == getattr(known, name)[places].tolist(), name
