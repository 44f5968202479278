"""Keys sorted as packed words and by threads come out as Python sorts tuples."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankset.core import kernels, lexicographic, packing, sorting
from rankset.core.lexicographic import sorted_union

integers = st.sampled_from([0, 1, 2, 7, -3, 2**40, -(2**62), 2**62])
shorts = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.25, -0.5, np.inf, -np.inf, 2.0**-149, -(2.0**-149), 2.0**100])
longs = st.sampled_from([0.1, -0.1, 1e300, -1e300, 2.0**-160])
columns = st.sampled_from([integers, shorts, st.one_of(shorts, longs)])


@st.composite
def keyed_parts(draw):
    """Parts of tuples of up to three keys, integers or floats."""
    kinds = draw(st.lists(columns, min_size=1, max_size=3))
    parts = draw(st.lists(st.lists(st.tuples(*kinds), max_size=8), min_size=1, max_size=4))
    dtypes = [np.int64 if kind is integers else np.float64 for kind in kinds]
    return [
        tuple(np.array([row[place] for row in rows], dtype=dtype) for place, dtype in enumerate(dtypes))
        for rows in parts
    ]


@pytest.mark.parametrize(("packed", "few_ties"), [(1, 8), (10**6, 8), (10**6, 0)])
@given(keyed_parts())
def test_keys_are_sorted_as_tuples_are(packed, few_ties, parts):
    rows = sorted(row for part in parts for row in zip(*(key.tolist() for key in part), strict=True))
    with mock.patch.object(packing, "FEW", packed), mock.patch.object(lexicographic, "FEW_TIES", few_ties):
        found = sorted_union(parts)
    assert list(zip(*(key.tolist() for key in found), strict=True)) == rows
    assert [key.dtype for key in found] == [key.dtype for key in parts[0]]


def test_groups_ranks_and_short_floats_are_packed_and_others_are_not():
    rng = np.random.default_rng(1)
    groups, ranks = rng.integers(0, 9, 3000).astype(np.uint8), rng.integers(1, 200, 3000)
    probs = rng.random(3000, dtype=np.float32).astype(np.float64)
    for keys in ((probs,), (ranks, -probs), (groups, ranks, probs), (ranks,)):
        assert (packing.sorted_keys([keys]) is not None) is (len(keys) > 1 or keys[0] is probs)
    for keys in ((probs / 3,), (ranks, probs, probs), (ranks, np.append(probs[1:], np.nan)), (ranks << 40, probs)):
        assert packing.sorted_keys([keys]) is None
    assert packing.sorted_keys([(ranks[:100], probs[:100])]) is None


def test_minus_zero_is_packed_as_zero():
    zeros, numbers = np.tile([0.0, -0.0], 2000), np.arange(4000)[::-1]
    found = packing.sorted_keys([(zeros, numbers)])
    assert (found[1] == np.arange(4000)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint64])
@pytest.mark.parametrize("distinct", [1, 2, 1000, 10**9])
@pytest.mark.parametrize("length", [sorting.LONG - 1, sorting.LONG, sorting.LONG + 12_345])
def test_long_arrays_are_sorted(dtype, distinct, length):
    values = np.random.default_rng(2).integers(0, distinct, length).astype(dtype)
    known = np.sort(values)
    assert sorting.sort(values).tobytes() == known.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8", "u4", "u8"])
@pytest.mark.parametrize("length", [2000, sorting.LONG_FOR_LOOPS, sorting.LONG_FOR_LOOPS + 12_345])
@pytest.mark.parametrize("most", [1, 1000, 2**32 - 1])
def test_loops_sort_as_numpy_does(dtype, length, most):
    pytest.importorskip("numba")
    loops = kernels.choose(kernels.WORTHWHILE, 1)
    loops.sort(np.zeros(2000, dtype=dtype))
    values = np.random.default_rng(3).integers(0, most, length, endpoint=True).astype(dtype)
    if dtype[0] == "f":
        values = values - most / 2
        values[:5] = np.inf, -np.inf, np.finfo(dtype).max, -np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal
    elif most > 1000:
        values[:2] = np.iinfo(dtype).max, np.iinfo(dtype).min
    known = np.sort(values)
    with mock.patch.object(
        kernels.CompiledLoops, "sort", autospec=True, side_effect=kernels.CompiledLoops.sort
    ) as used:
        assert sorting.sort(values.copy()).tobytes() == known.tobytes()
    assert used.called
