"""Rows that are odd, and fine."""

import tracemalloc
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankset as rs
from entry_points import (
    EVERY_SCORE,
    GRID,
    GROUPS,
    LABELS,
    LOGITS,
    NAMES,
    PROBS,
    TRUTH,
    VALUES,
    K,
    N,
    changed,
    read_only,
)
from rankset.core import arrays
from rankset.core.kernels import WORTHWHILE
from rankset.core.parallel import DEFAULT_BLOCK_BYTES
from rankset.errors import InputError, KindError, LabelError
from rankset.inputs import matrix
from refusals import like, refused


def strided(rows):
    return np.repeat(np.repeat(rows, 2, axis=0), 3, axis=1)[::2, ::3]


def backwards(rows):
    return rows[::-1, ::-1].copy()[::-1, ::-1]


ODD = {
    "float16": lambda rows: rows.astype(np.float16),
    "float32": lambda rows: rows.astype(np.float32),
    "longdouble": lambda rows: rows.astype(np.longdouble),
    "big-endian": lambda rows: rows.astype(">f8"),
    "big-endian float32": lambda rows: rows.astype(">f4"),
    "Fortran": np.asfortranarray,
    "strided": strided,
    "backwards": backwards,
    "read-only": read_only,
    "object": lambda rows: rows.astype(object),
    "Fractions": np.vectorize(Fraction, otypes=[object]),
    "Decimals": np.vectorize(Decimal, otypes=[object]),
    "lists": lambda rows: rows.tolist(),
    "tuples": lambda rows: tuple(map(tuple, rows.tolist())),
    "list of arrays": list,
    "matrix": np.matrix,
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("score", EVERY_SCORE, ids=repr)
def test_the_same_numbers_give_the_same_answers_in_whatever_they_come(odd, score):
    plain = rs.calibrate(GRID, LABELS, score=score)
    other = rs.calibrate(odd(GRID), LABELS, score=score)
    assert plain == other == plain.update([], [])
    assert plain.predict(odd(GRID), 0.1) == other.predict(GRID, 0.1) == plain.predict(GRID, 0.1)
    assert np.array_equal(plain.p_values(odd(GRID)), plain.p_values(GRID))
    assert plain.expected_size(odd(GRID), 0.1) == plain.expected_size(GRID, 0.1)
    assert plain.update(odd(GRID), LABELS) == plain.update(GRID, LABELS)


@pytest.mark.parametrize("kind", ["probs", "logits", "decision", "binary"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, ">f4"])
def test_calibration_in_a_narrow_type_and_test_in_float64_of_the_same_numbers_agree(kind, dtype):
    narrow = VALUES[kind].astype(dtype)
    wide = narrow.astype(np.float64)
    rule = rs.calibrate(narrow, TRUTH[kind], kind=kind)
    assert rule == rs.calibrate(wide, TRUTH[kind], kind=kind)
    assert rule.predict(wide, 0.2) == rule.predict(narrow, 0.2)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64])
def test_one_hot_rows_may_be_whole_numbers_or_booleans(dtype):
    rows = np.eye(K)[LABELS]
    assert rs.calibrate(rows.astype(dtype), LABELS) == rs.calibrate(rows, LABELS)


@pytest.fixture
def mapped(tmp_path):
    """A wide matrix on disk, 16 MB, whose labels are its largest entries."""
    rows = np.full((2000, 1000), 0.5 / 999)
    labels = np.arange(2000) % 1000
    rows[np.arange(2000), labels] = 0.5
    np.save(tmp_path / "rows.npy", rows)
    return np.load(tmp_path / "rows.npy", mmap_mode="r"), labels


def test_a_memory_map_gives_the_same_sets_as_the_array(mapped):
    rows, labels = mapped
    rule = rs.calibrate(rows, labels)
    assert rule == rs.calibrate(np.array(rows), labels)
    assert rule.predict(rows, 0.1) == rule.predict(np.array(rows), 0.1)


def test_a_memory_map_is_read_block_by_block(mapped, monkeypatch):
    rows, labels = mapped
    read = []
    plain_rows = matrix.plain_rows
    monkeypatch.setattr(
        "rankset.inputs.prepare.plain_rows", lambda part, *rest: read.append(part) or plain_rows(part, *rest)
    )
    rs.calibrate(rows, labels).predict(rows, 0.1)
    assert all(np.shares_memory(part, rows) for part in read)
    assert max(part.nbytes for part in read) <= DEFAULT_BLOCK_BYTES < rows.nbytes
    assert sum(len(part) for part in read) == 2 * len(rows)


@pytest.mark.parametrize("score", [rs.Rank(), rs.Aps(), rs.Thr()], ids=repr)
@pytest.mark.parametrize("plain", ["0", "1"])
def test_a_matrix_of_any_size_is_predicted_in_little_memory(score, plain, monkeypatch):
    monkeypatch.setenv("RANKSET_PLAIN", plain)
    monkeypatch.setenv("RANKSET_BLOCK_BYTES", str(1 << 20))
    values = np.exp(np.random.default_rng(0).normal(size=5000)) + 5000 * (np.arange(5000) % 500 == 0)
    endless = np.tile((values / values.sum()).astype(np.float32), 3)
    rows = np.lib.stride_tricks.sliding_window_view(endless, 5000)[:8000]  # every row the same numbers, turned
    rule = rs.calibrate(rows[:100], (-np.arange(100)) % 5000, score=score)
    rule.predict(rows[: 2 * WORTHWHILE // 5000], 0.1)  # compiles what is measured below, and fills its scratch memory
    tracemalloc.start()
    sets = rule.predict(rows, 0.1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sets.sizes.max() < 20
    assert peak < rows.nbytes // 8 == 20_000_000


@pytest.mark.parametrize("score", EVERY_SCORE, ids=repr)
@pytest.mark.parametrize("kind", ["probs", "logits"])
def test_no_input_is_ever_written_to(score, kind):
    given = {"rows": VALUES[kind].copy(), "labels": LABELS.copy(), "groups": GROUPS.copy(), "ids": np.arange(N)}
    before = {name: array.copy() for name, array in given.items()}
    rows, labels, groups, ids = given.values()
    rule = rs.calibrate(rows, labels, score=score, kind=kind, condition=rs.PerGroup(), groups=groups, ids=ids)
    sets = rule.predict(rows, 0.1, groups=groups, ids=ids, empty="top")
    rule.p_values(rows, groups=groups, ids=ids)
    rule.expected_size(rows, 0.1, groups=groups, ids=ids)
    rule.update(rows, labels, groups=groups, ids=ids)
    rs.evaluate(sets, labels, groups=groups)
    assert all(np.array_equal(given[name], before[name]) for name in given)


def test_everything_works_on_read_only_arrays():
    rows, labels, groups, ids = map(read_only, (PROBS, LABELS, GROUPS, np.arange(N)))
    rule = rs.calibrate(rows, labels, score=rs.Aps(), condition=rs.PerGroup(), groups=groups, ids=ids)
    sets = rule.predict(rows, 0.1, groups=groups, ids=ids, empty="top")
    assert rs.evaluate(sets, labels, groups=groups).n == N


@dataclass(frozen=True)
class InPlace:
    """A recalibration that would write into what it is given."""

    def transform(self, probs):
        probs *= 0.5
        return probs

    def keys(self, cells):
        return (-cells.prob,)


def test_a_score_that_writes_into_its_rows_writes_into_a_copy():
    rows = PROBS.copy()
    rule = rs.calibrate(rows, LABELS, score=InPlace())
    assert rule.predict(rows, 0.1) == rs.calibrate(rows, LABELS, score=rs.Thr()).predict(rows, 0.1)
    assert np.array_equal(rows, PROBS)


@pytest.mark.parametrize("score", EVERY_SCORE, ids=repr)
def test_a_single_class_is_kept_always(score):
    rule = rs.calibrate(np.ones((N, 1)), np.zeros(N, dtype=int), score=score)
    assert rule.predict(np.ones((4, 1)), 0.1, empty="top").to_lists() == [[0]] * 4
    assert rule.p_values(np.ones((4, 1))).shape == (4, 1)


@pytest.mark.parametrize("score", EVERY_SCORE, ids=repr)
def test_one_probability_per_row_means_the_same_as_two_columns(score):
    second, labels = GRID[:, 0], LABELS % 2
    both = np.column_stack((1 - second, second))
    binary = rs.calibrate(second, labels, kind="binary", score=score)
    matrix = rs.calibrate(both, labels, score=score)
    assert binary.predict(second, 0.1) == binary.predict(second[:, np.newaxis], 0.1) == matrix.predict(both, 0.1)
    assert np.array_equal(binary.p_values(second), matrix.p_values(both))


def test_binary_rules_speak_in_two_class_names():
    rule = rs.calibrate([0.1, 0.2, 0.8, 0.9] * 5, ["no", "no", "yes", "yes"] * 5, kind="binary", classes=["no", "yes"])
    assert rule.predict([0.15, 0.85], 0.2).to_lists() == [["no"], ["yes"]]
    with refused(LabelError.class_count(2, 3)):
        rs.calibrate(PROBS[:, 0], LABELS % 2, kind="binary", classes=NAMES)


EXTREME = {
    "equal": np.full((N, K), 1 / K),
    "one-hot": np.eye(K)[(LABELS + np.arange(N) % 2) % K],
    "zeros": changed(GRID, slice(0, N, 2), np.array([1.0, 0.0, 0.0])),
    "saturated": rs.softmax(np.eye(K)[(LABELS + np.arange(N) % 3) % K] * 1e4),
}


@pytest.mark.parametrize("rows", EXTREME.values(), ids=EXTREME.keys())
@pytest.mark.parametrize("score", EVERY_SCORE, ids=repr)
@pytest.mark.parametrize("alpha", ["0.1", "0.3"])
def test_extreme_rows_leave_one_out_cover_as_often_as_promised(rows, score, alpha):
    hits = 0
    for row in range(N):
        others = np.arange(N) != row
        rule = rs.calibrate(rows[others], LABELS[others], score=score)
        hits += rule.predict(rows[row : row + 1], alpha).covers(LABELS[row : row + 1])[0]
    assert hits >= N - N * Fraction(alpha)


def test_labels_of_probability_zero_stay_candidates():
    rows = np.tile([1.0, 0.0, 0.0], (N, 1))
    rule = rs.calibrate(rows, np.full(N, 2))
    assert rule.predict(rows[:1], 0.1).to_lists() == [[0, 1, 2]]


def test_huge_logits_saturate_without_a_warning():
    logits = np.tile([1e300, -1e300, 0.0], (N, 1))
    rule = rs.calibrate(logits, np.zeros(N, dtype=int), kind="logits")
    assert rule.predict(logits[:1], 0.1).to_lists() == [[0]]


SERIES = {
    "pandas, arrays": lambda rows: pd.Series(list(rows)),
    "pandas, lists": lambda rows: pd.Series(rows.tolist()),
    "pandas, tuples": lambda rows: pd.Series([tuple(row) for row in rows.tolist()]),
    "pandas, float32": lambda rows: pd.Series(list(rows.astype(np.float32))),
    "polars": lambda rows: pl.Series(rows.tolist()),
    "pyarrow": lambda rows: pa.array(rows.tolist()),
    "objects": lambda rows: arrays.object_array(list(rows)),
}


@pytest.mark.parametrize("series", SERIES.values(), ids=SERIES.keys())
def test_a_series_of_rows_of_one_length_is_a_matrix(series):
    plain = rs.calibrate(GRID, LABELS)
    assert rs.calibrate(series(GRID), LABELS) == plain
    assert plain.predict(series(GRID), 0.1) == plain.predict(GRID, 0.1)
    assert np.array_equal(plain.p_values(series(GRID)), plain.p_values(GRID))


def test_a_series_of_rows_of_different_lengths_is_told_so():
    rows = pd.Series([row[: 2 + number % 2] for number, row in enumerate(GRID)])
    with refused(InputError.ragged("probs")):
        rs.calibrate(rows, LABELS)
    with refused(KindError.cell("probs", 0, 0, None)):
        rs.calibrate(pd.Series([None, *GRID[1:]]), LABELS)


LARGE = changed(np.full((N, K), 2**53), (4, 2), 2**53 + 1)
"""Whole numbers, one of which is no float64: it would become equal to its neighbours."""
WHOLE = {
    "int64": lambda: LARGE,
    "uint64": lambda: LARGE.astype(np.uint64),
    "lists": LARGE.tolist,
    "objects": lambda: LARGE.astype(object),
    "frame": lambda: pd.DataFrame(LARGE),
    "frame of int64 and float64": lambda: pd.DataFrame(LARGE).astype({1: float}),
    "frame of int64 and uint64": lambda: pd.DataFrame(LARGE).astype({1: np.uint64}),
    "polars": lambda: pl.DataFrame(LARGE, schema=[str(column) for column in range(K)]),
    "series of rows": lambda: pd.Series(list(LARGE)),
    "ragged": lambda: rs.Ragged(LARGE, np.full(N, K)),
}


@pytest.mark.parametrize("rows", WHOLE.values(), ids=WHOLE.keys())
@pytest.mark.parametrize("kind", ["decision", "logits"])
def test_whole_numbers_that_would_become_equal_are_refused(rows, kind):
    classes = [str(column) for column in range(K)] if isinstance(rows(), pl.DataFrame) else None
    labels = LABELS if classes is None else np.array(classes)[LABELS]
    with refused(InputError.not_exact("probs", 4, 2, 9007199254740993)):
        rs.calibrate(rows(), labels, kind=kind)
    rule = rs.calibrate(VALUES[kind], labels, kind=kind, classes=classes)
    for ask in (lambda: rule.predict(rows(), 0.1), lambda: rule.p_values(rows())):
        with refused(InputError.not_exact("probs", 4, 2, 9007199254740993)):
            ask()


def test_whole_numbers_that_float64_holds_are_fine_whatever_their_size():
    exact = np.where(np.eye(K)[LABELS] > 0, 2**60 + 2**10, 2**60)
    assert rs.calibrate(exact, LABELS, kind="decision") == rs.calibrate(exact.astype(float), LABELS, kind="decision")
    padded = rs.Ragged(np.column_stack((np.zeros((N, 1), dtype=int), LARGE)), np.ones(N, dtype=int))
    assert rs.calibrate(padded, np.zeros(N, dtype=int), kind="decision").n == N
    with refused(InputError.not_exact("probs", 4, 2, -9007199254740993)):
        rs.calibrate(-LARGE, LABELS, kind="decision")
    edges = np.tile([-(2**63), 0, 1], (N, 1))
    assert rs.calibrate(edges, LABELS, kind="decision").n == N
    for largest in (np.int64(2**63 - 1), np.uint64(2**64 - 1)):
        with refused(InputError.not_exact("probs", 0, 0, int(largest))):
            rs.calibrate(np.full((N, K), largest), LABELS, kind="decision")


def masked(rows):
    return [np.ma.array(row, mask=[True, *[False] * (len(row) - 1)]) for row in rows]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("ask", "refusal"),
    [
        (
            lambda: rs.calibrate(masked(PROBS), LABELS),
            KindError.not_a_matrix("probs", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            lambda: rs.calibrate(tuple(masked(PROBS)), LABELS),
            KindError.not_a_matrix("probs", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            lambda: rs.calibrate(pd.Series(masked(PROBS)), LABELS),
            KindError.not_a_matrix("probs", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            lambda: rs.calibrate(PROBS, LABELS).predict(masked(PROBS), 0.1),
            KindError.not_a_matrix("probs", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            lambda: rs.softmax(masked(LOGITS)),
            KindError.not_a_matrix("logits", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            lambda: rs.Ragged.of(masked(PROBS)),
            KindError.not_a_matrix("row 0", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            lambda: rs.Ragged(masked(PROBS), np.full(N, K)),
            KindError.not_a_matrix("values", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            lambda: rs.Ragged(PROBS, [np.ma.array(3, mask=True)] * N),
            KindError.not_a_matrix("counts", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            lambda: rs.calibrate(changed(PROBS.astype(object), (3, 1), np.ma.masked), LABELS),
            like(KindError, what="probs", received="masked", row=3, column=1),
        ),
        (
            lambda: rs.calibrate(PROBS, list(np.ma.array(LABELS, mask=LABELS == 1))),
            KindError.not_names("labels", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            lambda: rs.calibrate(PROBS, [np.ma.array(label, mask=True) for label in LABELS]),
            KindError.not_names("labels", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            lambda: rs.calibrate(PROBS, changed(LABELS.astype(object), 5, np.ma.masked)),
            LabelError.missing("labels", 5),
        ),
        (
            lambda: rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=[*GROUPS[1:], np.ma.masked]),
            KindError.not_names("groups", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            lambda: rs.calibrate(PROBS, LABELS, score=rs.Aps(), ids=[*range(1, N), np.ma.masked]),
            KindError.not_names("ids", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            lambda: rs.frequencies([np.ma.array(["a", "b"], mask=[False, True])], ["a", "b"]),
            LabelError.unknown("answers", 0, [None], ("a", "b")),
        ),
        (
            lambda: rs.calibrate(pd.DataFrame(np.ma.array(PROBS, mask=PROBS > 0.9)), LABELS),
            InputError.missing("probs", 29, 1),
        ),
    ],
)
def test_what_is_masked_is_never_read(ask, refusal):
    with refused(refusal):
        ask()
