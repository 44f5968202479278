"""Readers of score files under random damage: an answer, or one clear error; never anything else."""

import gzip
import io
import json
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather

import rankset as rs
from rankset.errors import FileError
from rankset.io import read_file

PROBS = np.random.default_rng(0).dirichlet(np.ones(3), 5)
TABLE = pa.table({name: PROBS[:, place] for place, name in enumerate("abc")})


def saved(write):
    data = io.BytesIO()
    write(data)
    return data.getvalue()


LINES = "".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()).encode()
WHOLE = {
    ".npy": saved(lambda file: np.save(file, PROBS)),
    ".npz": saved(lambda file: np.savez_compressed(file, x=PROBS)),
    ".csv": ("a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in PROBS.tolist())).encode(),
    ".jsonl": LINES,
    ".jsonl.gz": gzip.compress(LINES),
    ".parquet": saved(lambda file: pq.write_table(TABLE, file)),
    ".feather": saved(lambda file: feather.write_feather(TABLE, file)),
}
every_kind = pytest.mark.parametrize("kind", WHOLE)


@every_kind
def test_every_kind_is_read(kind, tmp_path):
    path = tmp_path / f"scores{kind}"
    path.write_bytes(WHOLE[kind])
    matrix, names = read_file.read_file(str(path)).scores()
    assert np.asarray(matrix).tolist() == PROBS.tolist()
    assert names == (None if kind.startswith(".np") else ["a", "b", "c"])


damage = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=6)


@every_kind
@given(damage, st.integers(0, 10_000))
def test_damage_gives_an_answer_or_one_error(tmp_path_factory, kind, changes, length):
    data = bytearray(WHOLE[kind])
    for place, value in changes:
        data[place % len(data)] = value
    path = tmp_path_factory.mktemp("files") / f"scores{kind}"
    path.write_bytes(bytes(data[: length % (2 * len(data)) or None]))
    with suppress(rs.RanksetError):
        matrix, _ = read_file.read_file(str(path)).scores()
        rs.calibrate(matrix, np.zeros(len(matrix), dtype=int), kind="decision")


@given(st.binary(max_size=300), st.sampled_from(list(WHOLE)))
def test_any_bytes_give_an_answer_or_one_error(tmp_path_factory, data, kind):
    path = tmp_path_factory.mktemp("files") / f"scores{kind}"
    path.write_bytes(data)
    with suppress(FileError):
        read_file.read_file(str(path)).scores()
