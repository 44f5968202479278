"""Streams with numbers, labels, arrays and files that are wrong, unusual, or change while they are held."""

from fractions import Fraction

import numpy as np
import pytest

import rankset as rs
from rankset.io import container
from rankset.streams import stream_file

ROWS, LABELS = rs.datasets.load("carer")
PROBS = rs.softmax(ROWS)
RULE = rs.calibrate(PROBS[:200], LABELS[:200], method="thr")


def followed(**options):
    stream = rs.Stream(RULE, 0.1, **options)
    stream.predict(PROBS[200:260])
    stream.update(LABELS[200:240], ids=range(40))
    return stream


@pytest.mark.parametrize(
    "options",
    [
        {"tolerance": 0},
        {"tolerance": np.float32(0.01)},
        {"delta": np.float32(0.05)},
        {"window": np.int64(5)},
        {"waiting": np.int64(50)},
        {"seed": np.uint8(3)},
        {"seed": -(2**60)},
        {"level": rs.Adaptive(np.float32(0.01))},
        {"level": rs.Adaptive(np.int64(1))},
        {"level": rs.Decaying(np.float32(0.5), np.float64(0.6))},
        {"level": rs.Experts([np.float32(0.5), 1])},
        {"window": 2**60},
    ],
    ids=repr,
)
def test_numbers_of_any_type_are_stored_and_read(options, tmp_path):
    stream = followed(**options)
    stream.save(tmp_path / "s.rankset")
    again = rs.Stream.load(tmp_path / "s.rankset")
    for one in (stream, again):
        one.predict(PROBS[300:350])
        one.update(LABELS[300:350])
    assert again.exact_level == stream.exact_level
    assert str(again.alarms) == str(stream.alarms)


@pytest.mark.parametrize(
    "options",
    [
        {"seed": 2**70},
        {"window": 2**70},
        {"waiting": 2**64},
        {"window": 0},
        {"window": True},
        {"waiting": 1.5},
        {"delta": 5e-324},
        {"delta": 0},
        {"delta": 1},
        {"tolerance": -0.1},
        {"tolerance": "a"},
        {"seed": "a"},
        {"seed": None},
    ],
    ids=repr,
)
def test_numbers_that_files_cannot_hold_are_refused_at_once(options):
    (name,) = options
    with pytest.raises(rs.errors.KindError) as caught:
        rs.Stream(RULE, 0.1, **options)
    assert caught.value.what == name


def test_an_alpha_with_very_many_digits_is_refused():
    with pytest.raises(rs.errors.KindError, match="bits"):
        rs.Stream(RULE, Fraction(10**1600, 10**1601 + 1))


def test_experts_take_a_tiny_alpha():
    stream = rs.Stream(RULE, 1e-300, level=rs.Experts())
    stream.predict(PROBS[200:210])
    assert stream.update(LABELS[200:210]).rows == 10


def test_the_numbers_of_the_bound_do_not_become_longer():
    """Steps change again and again; every change adds a fraction with another denominator."""
    state = rs.Adaptive()._start(Fraction(1, 10))
    for number in range(60):
        for late in [50 + 7 * number] * 300 + [0] * 2700:
            state.learn(missed=False, p_value=1.0, delay=late)
    assert state.closed.denominator.bit_length() <= 41
    assert state.closed > 0


def test_labels_beyond_the_candidates_of_their_row_are_refused():
    rng = np.random.default_rng(0)
    rows = [rng.dirichlet(np.ones(int(rng.integers(2, 5)))) for _ in range(60)]
    labels = [int(rng.integers(0, len(row))) for row in rows]
    stream = rs.Stream(rs.calibrate(rs.Ragged.of(rows), labels, method="thr"), 0.1)
    stream.predict(rs.Ragged.of([[0.6, 0.4], [0.25] * 4]))
    with pytest.raises(rs.errors.LabelError, match="candidates") as caught:
        stream.update([3, 3])
    assert caught.value.where.row == 0
    assert (stream.n_labels, stream.n_waiting) == (0, 2)
    assert stream.update([1, 3]).rows == 2


def test_arrays_of_the_caller_may_change_while_rows_wait():
    groups = np.array(["x", "y"] * 100)
    rule = rs.calibrate(PROBS[:200], LABELS[:200], method="thr", condition=rs.PerGroup(), groups=groups)
    one, other = rs.Stream(rule, 0.1), rs.Stream(rule, 0.1)
    outputs, own = PROBS[200:204].copy(), np.array(["x", "x", "y", "x"])
    one.predict(outputs, groups=own)
    other.predict(outputs.copy(), groups=own.copy())
    outputs[:], own[:] = 1 / 6, "y"
    for stream in (one, other):
        stream.update(LABELS[200:204])
    assert list(one._window.entries) == list(other._window.entries)


def test_rules_for_rows_with_other_shares_are_refused():
    rule = rs.calibrate(PROBS[:200], LABELS[:200], condition=rs.Pooled(rs.LabelShift([1, 1, 2, 1, 1, 3])))
    for ask in (lambda: rs.Stream(rule, 0.1), lambda: rs.exchangeable(rule, PROBS[200:], LABELS[200:])):
        with pytest.raises(rs.errors.RuleError, match="without weights"):
            ask()
    study = rs.reports.study_rules([rule], PROBS[200:], LABELS[200:])
    assert "exchangeable" not in study.data["scores"][0]


@pytest.mark.parametrize("labels", [[np.zeros((2, 2)), np.zeros((2, 3))], 3, "ab", {1, 2}, [[0, 1], [1, 0]], [0.5, 1]])
def test_labels_that_are_none_leave_the_stream_as_it_was(labels):
    stream = rs.Stream(RULE, 0.1)
    stream.predict(PROBS[:2])
    with pytest.raises(rs.RanksetError):
        stream.update(labels)
    with pytest.raises(rs.RanksetError):
        stream.update(labels, ids=[0, 1])
    assert (stream.n_labels, stream.n_waiting) == (0, 2)


@pytest.mark.parametrize(
    "ids", [[np.zeros((2, 2)), np.zeros((2, 3))], 3, "ab", {1, 2}, [0, 0], [None, 1], [10**5000, 1]]
)
def test_ids_that_are_none_leave_the_stream_as_it_was(ids):
    stream = rs.Stream(RULE, 0.1)
    stream.predict(PROBS[:2])
    with pytest.raises(rs.RanksetError) as caught:
        stream.update([0, 1], ids=ids)
    assert "ids" in str(caught.value)
    with pytest.raises(rs.RanksetError):
        stream.predict(PROBS[:2], ids=ids)
    assert (stream.n_labels, stream.n_rows) == (0, 2)


def test_ids_of_every_kind_of_number_are_stored(tmp_path):
    stream = rs.Stream(RULE, 0.1)
    stream.predict(PROBS[:4], ids=[np.longdouble(3), np.float32(0.5), np.uint8(7), "1" * 5000])
    stream.save(tmp_path / "s.rankset")
    assert rs.Stream.load(tmp_path / "s.rankset").update([0, 1], ids=[3, 0.5]).rows == 2


def changed(tmp_path, change):
    """Write a file of a stream in which something was changed, with a right digest, and read it."""
    header, arrays = stream_file.pack(followed())
    change(header, arrays)
    container.write(tmp_path / "s.rankset", header, arrays)
    return rs.Stream.load(tmp_path / "s.rankset")


HOSTILE = {
    "alarm without since": lambda header, _: header["alarms"]["labels"].update(raised_at=3),
    "rows of alarms": lambda header, _: header["alarms"]["labels"].update(rows=10**400),
    "no shares": lambda header, _: header["alarms"]["labels"].update(shares=[0.0] * 30),
    "closed": lambda header, _: header["state"].update(closed=[10**400, 1]),
    "start": lambda header, _: header["state"].update(start=0),
    "units": lambda header, _: header["state"].update(units=10**400),
    "kind of limits": lambda _, arrays: arrays.update({"outputs.count": np.zeros(3)}),
    "kind of numbers": lambda _, arrays: arrays.update({"waiting.number": arrays["waiting.number"].astype(np.float64)}),
    "ids": lambda header, _: header["waiting"]["ids"].__setitem__(0, float("inf")),
    "alpha": lambda header, _: header.update(alpha=[1, 10**2000]),
    "tolerance": lambda header, _: header["alarms"].update(tolerance=2.0),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_files_that_cannot_be_right_are_refused(name, tmp_path):
    with pytest.raises(rs.errors.StorageError):
        changed(tmp_path, HOSTILE[name])


def test_a_file_that_was_not_changed_is_read(tmp_path):
    assert changed(tmp_path, lambda *_: None).n_waiting == 20
