"""Rankings found without a full stable sort are those of a full stable sort."""

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankings import LEVELS, obvious
from rankset.core import ranking


@given(
    st.sampled_from(sorted(LEVELS)),
    st.sampled_from([np.float32, np.float64]),
    st.integers(1, 60),
    st.sampled_from([1, 2, 3, 40, 48, 49, 64, 130, 300]),
    st.integers(0, 2**32),
    st.data(),
)
def test_listed_columns_are_the_first_of_the_obvious_ranking(levels, dtype, n_rows, n_columns, seed, data):
    values = LEVELS[levels](np.random.default_rng(seed), (n_rows, n_columns)).astype(dtype)
    expected = obvious(values)
    assert (ranking.rank_columns(values) == expected).all()
    with mock.patch.object(ranking, "FEW", data.draw(st.sampled_from([0, ranking.FEW]))):
        everything = ranking.rank_all(values)
    assert (everything.columns.reshape(values.shape) == expected).all()
    if everything.probs is not None:
        assert everything.probs.tobytes() == np.take_along_axis(values, expected, axis=1).tobytes()
    m = data.draw(st.integers(1, n_columns))
    found = ranking.likeliest(values, m, math.inf, None)
    assert (found.sizes >= m).all()
    first = [column for row, size in zip(expected, found.sizes, strict=True) for column in row[:size]]
    assert found.columns.tolist() == first


def test_rows_too_many_to_share_a_word_with_their_columns_are_listed_too():
    values = np.random.default_rng(0).integers(0, 3, (70_000, 70)).astype(np.float32)
    with mock.patch.object(ranking, "WORD", 16):
        by_sorts = ranking.likeliest(values, 3, math.inf, None)
    by_words = ranking.likeliest(values, 3, math.inf, None)
    assert (by_sorts.columns == by_words.columns).all()
    assert (by_sorts.sizes == by_words.sizes).all()


@pytest.mark.parametrize("n_columns", [1, 7, 8, 9, 64, 1000, 2040, 2048, 5000])
def test_counting_by_bits_is_counting(n_columns):
    mask = np.random.default_rng(0).random((20, n_columns)) < 0.4
    assert ranking.count(mask).tolist() == mask.sum(axis=1).tolist()
    assert ranking.count(mask[:0]).tolist() == []
