"""Places of keys, found by tables of buckets, are those of Python's tuples: for every width of the buckets."""

from bisect import bisect_left
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankset.core import sorted_keys
from rankset.core.kernels.tables import TableLoops
from rankset.core.sorted_keys import Buckets, Level, SortedKeys

LARGEST = 2**63 - 1
floats = st.one_of(
    st.floats(allow_nan=False),
    st.sampled_from([-np.inf, -1.0, -5e-324, -0.0, 0.0, 5e-324, 0.1, np.nextafter(0.1, 1), np.inf]),
)
ints = st.one_of(st.integers(-3, 3), st.integers(-LARGEST - 1, LARGEST), st.sampled_from([-LARGEST - 1, LARGEST]))
kinds = st.lists(st.sampled_from([floats, ints]), min_size=1, max_size=3)


def searches():
    """The search in NumPy, and the compiled one where Numba is installed."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return [Level.places]
    return [Level.places, TableLoops().places]


def arrays(rows, columns):
    """Tuples as keys; -0.0 is 0.0."""
    dtypes = [np.float64 if column is floats else np.int64 for column in columns]
    return tuple(np.array([row[place] for row in rows], dtype=dtype) + dtype(0) for place, dtype in enumerate(dtypes))


BY_BITS = Buckets.by_bits
WAYS = {"best": BY_BITS, "by value": lambda values, room: Buckets.by_value(values, room) or BY_BITS(values, room)}


@pytest.mark.parametrize("way", WAYS)
@given(kinds, st.data(), st.integers(1, 40), st.sampled_from([1, 30, 1 << 20]))
def test_places_are_those_of_pythons_tuples(way, columns, data, per_value, most):
    rows = st.lists(st.tuples(*columns), min_size=1, max_size=12)
    known = sorted(data.draw(st.one_of(rows, st.just([]))))
    asked = data.draw(rows) + known
    with (
        mock.patch.multiple(sorted_keys, BUCKETS_PER_VALUE=per_value, MOST_BUCKETS=most),
        mock.patch.object(Buckets, "by_bits", WAYS[way]),
    ):
        table = SortedKeys(arrays(known, columns))
    distinct = sorted(set(known))
    expected = [2 * bisect_left(distinct, row) + (row in distinct) for row in asked]
    for search in searches():
        assert table.places(arrays(asked, columns), search).tolist() == expected
    assert table.before(arrays(asked, columns)).tolist() == [bisect_left(known, row) for row in asked]


@pytest.mark.parametrize(("least", "most"), [(-1.7e308, 0.0), (0.0, 1.7e308), (1.0, 1.0 + 2**-40), (0.0, 5e-320)])
def test_keys_at_the_ends_of_all_floats_are_found(least, most):
    known = np.linspace(least, most, 20)
    asked = np.concatenate((known, [-np.inf, np.inf, np.finfo(float).min, np.finfo(float).max, 0.5]))
    with mock.patch.object(Buckets, "by_bits", WAYS["by value"]):
        table = SortedKeys((known,))
    for search in searches():
        assert (table.starts[table.places((asked,), search) >> 1] == np.searchsorted(known, asked)).all()


@pytest.mark.parametrize("spread", [1e-9, 1e-3, 1.0, 1e9])
@pytest.mark.parametrize("n", [1, 100, 30_000])
def test_many_keys_are_found_where_a_binary_search_finds_them(spread, n):
    rng = np.random.default_rng(n)
    known = np.sort(np.round(rng.normal(size=n) * spread, 10) - 1)
    asked = np.concatenate((known, np.nextafter(known, 9), rng.normal(size=5000) * spread - 1))
    table = SortedKeys((known,))
    for search in searches():
        assert (table.starts[table.places((asked + 0.0,), search) >> 1] == np.searchsorted(known, asked)).all()


def test_tables_stay_small():
    rng = np.random.default_rng(0)
    table = SortedKeys((np.arange(100_000) // 3, rng.random(100_000)))
    assert [level.table.nbytes <= 4 << 21 for level in table.levels] == [True, True]
