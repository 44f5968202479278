"""Weights of entries: positions and shares are those of exact fractions."""

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankset.core import weights
from rankset.core.weights import Sums, first_within, shares_from

entries = st.lists(
    st.integers(1, 9).flatmap(lambda whole: st.tuples(st.integers(1, whole), st.just(whole))), max_size=12
)


def arrays(pairs):
    return tuple(np.array([pair[place] for pair in pairs], dtype=np.int64) for place in (0, 1))


def rest(pairs, start):
    return sum((Fraction(*pair) for pair in pairs[start:]), Fraction(0))


@pytest.mark.parametrize("few", [0, weights.FEW_WHOLES])
@given(entries, st.fractions(0, 12, max_denominator=60))
def test_positions_are_the_first_that_keep_the_sum(few, pairs, allowed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weights, "FEW_WHOLES", few)
        known = next(start for start in range(len(pairs) + 1) if rest(pairs, start) <= allowed)
        assert first_within(arrays(pairs), allowed) == known


@given(entries, st.integers(0, 12))
def test_a_sum_that_is_reached_exactly_is_within(pairs, start):
    allowed = rest(pairs, min(start, len(pairs)))
    assert first_within(arrays(pairs), allowed) == min(start, len(pairs))


@pytest.mark.parametrize(("exact", "bits"), [(1, weights.BITS), (1, 8), (weights.EXACT, weights.BITS)])
@given(entries.filter(len), st.data())
def test_shares_are_correctly_rounded(exact, bits, pairs, data):
    starts = sorted(data.draw(st.sets(st.integers(0, len(pairs)))))
    n = len(pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weights, "EXACT", exact)
        patch.setattr(weights, "BITS", bits)
        found = shares_from(arrays(pairs), np.array(starts, dtype=np.int64), n)
    assert found.tolist() == [float((1 + rest(pairs, start)) / (1 + n)) for start in starts]


def test_shares_of_rows_of_many_sizes_take_little_time():
    sizes = np.random.default_rng(0).integers(1, 60, 5000)
    wholes = np.repeat(sizes, sizes)
    began = time.perf_counter()
    found = shares_from((np.ones(len(wholes), dtype=np.int64), wholes), np.arange(len(wholes)), 5000)
    assert time.perf_counter() - began < 1.5
    some = Fraction(1) + sum((Fraction(1, int(whole)) for whole in wholes[-1000:]), Fraction(0))
    assert found[-1000] == float(some / 5001)


def test_sums_of_many_different_wholes():
    wholes = np.arange(1, 6001)
    sums = Sums((np.ones(6000, dtype=np.int64), wholes))
    assert sums.of(5990) == sum((Fraction(1, int(whole)) for whole in wholes[5990:]), Fraction(0))
