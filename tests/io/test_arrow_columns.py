"""Arrow columns of lists and of categories."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import rankset as rs
from rankset.engines import shards
from rankset.errors import FileError
from rankset.io.arrow_to_numpy import to_numpy
from rankset.io.layout import Layout
from refusals import refused

RNG = np.random.default_rng(15)
PROBS = RNG.dirichlet(np.ones(3), 60)
LABELS = np.array([RNG.choice(3, p=row) for row in PROBS])
NAMES = ["cat", "dog", "owl"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(table, path):
    if path.endswith(".parquet"):
        pq.write_table(table, path)
    elif path.endswith(".feather"):
        feather.write_feather(table, path)
    else:
        with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    return path


@pytest.mark.parametrize("kind", [pa.list_(pa.float64(), 0), pa.list_(pa.float64())])
def test_empty_lists_are_refused(here, kind):
    path = write(pa.table({"s": pa.array([[]] * 3, kind)}), "s.arrow")
    with refused(FileError.empty_lists(path, "s", 0)):
        Layout().read_rows(path)


def test_lists_that_take_no_bytes_are_refused_without_memory_for_their_rows(here):
    count, kind = 10_000_000, pa.list_(pa.float64(), 0)
    lists = pa.FixedSizeListArray.from_buffers(kind, count, [None], children=[pa.array([], pa.float64())])
    path = write(pa.table({"s": lists}), "s.arrow")
    assert (here / path).stat().st_size < 1000
    tracemalloc.start()
    try:
        with refused(FileError.empty_lists(path, "s", 0)):
            Layout().read_rows(path)
        assert tracemalloc.get_traced_memory()[1] < count
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", [pa.list_(pa.float64(), 3), pa.list_(pa.float64()), pa.large_list(pa.float64())])
def test_lists_of_every_type_are_a_matrix(here, kind):
    parts = [pa.array(part.tolist(), kind) for part in (PROBS[:20], PROBS[20:])]
    for name, column in (("one", pa.array(PROBS.tolist(), kind)), ("several", pa.chunked_array(parts))):
        assert (Layout().read_rows(write(pa.table({"s": column}), f"{name}.arrow")).scores == PROBS).all()


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow"])
@pytest.mark.parametrize("values", [[2, 0, 1, 1], [2.5, 0.5, 1.5, 1.5], [True, False, True, True], [2, None, 1, 1]])
def test_categories_that_are_numbers_are_read_as_numbers(here, values, suffix):
    table = pa.table({"s": [0.5] * 4, "label": pa.array(values).dictionary_encode()})
    labels = Layout("label").read_rows(write(table, f"s.{suffix}")).labels
    assert labels.tolist() == values
    assert labels.dtype == (object if None in values else np.array(values).dtype)


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow"])
def test_integer_categories_are_column_numbers(here, suffix):
    columns = dict(zip(NAMES, PROBS.T, strict=True))
    path = write(pa.table({**columns, "label": pa.array(LABELS).dictionary_encode()}), f"s.{suffix}")
    expected = rs.calibrate(PROBS, np.array(NAMES)[LABELS], classes=NAMES)
    assert shards.calibrate(path, label="label", workers=1) == expected


ARRAYS = {
    **{name: pa.array([3, 0, 7, 1], getattr(pa, name)()) for name in ("int8", "uint8", "int64", "uint64")},
    **{name: pa.array(np.array([0.5, -0.0, np.nan, np.inf], name)) for name in ("float16", "float32", "float64")},
    "bool": pa.array([True, False, True, True]),
    "null": pa.array([1.5, None, 2.5, 3.5]),
    "null of integers": pa.array([1, None, 2, 3]),
    "texts": pa.array(["a", "b", "c", "d"]),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("part", [slice(0, 4), slice(1, 3), slice(2, 2)])
def test_values_of_an_array_are_those_that_pyarrow_gives(array, part):
    ours, theirs = to_numpy(array[part]), array[part].to_numpy(zero_copy_only=False)
    assert (ours.dtype, ours.tolist()) == (theirs.dtype, theirs.tolist()) or ours.tobytes() == theirs.tobytes()
