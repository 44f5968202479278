"""Labels of every kind, at every entry_point that takes labels; and calibrations that saw too few of them."""

from copy import copy
from datetime import date
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import rankset as rs
from entry_points import (
    LABEL_ENTRY_POINTS,
    LABELS,
    NAMES,
    PROBS,
    K,
    N,
    calibrated,
    changed,
    entry_points,
    only_warning,
    read_only,
)
from rankset.errors import InputError, KindError, LabelError
from refusals import like, refused


@entry_points(LABEL_ENTRY_POINTS)
@pytest.mark.parametrize(
    ("labels", "refusal"),
    [
        (changed(LABELS, 9, K), LabelError.out_of_range("labels", 9, 3, 3)),
        (changed(LABELS, 9, -1), LabelError.out_of_range("labels", 9, -1, 3)),
        (changed(LABELS, 9, 200).astype(np.uint8), LabelError.out_of_range("labels", 9, 200, 3)),
        (changed(LABELS.astype(float), 9, 1.5), LabelError.out_of_range("labels", 9, 1.5, 3)),
        (changed(LABELS.astype(float), 9, np.inf), LabelError.out_of_range("labels", 9, np.inf, 3)),
        (changed(LABELS.astype(np.uint64), 9, 2**63), LabelError.out_of_range("labels", 9, 9223372036854775808, 3)),
        (changed(LABELS.astype(object), 9, 2**70), LabelError.out_of_range("labels", 9, 1180591620717411303424, 3)),
        (changed(LABELS.astype(float), 9, np.nan), LabelError.missing("labels", 9)),
        (changed(LABELS.astype(object), 9, None), LabelError.missing("labels", 9)),
        (["cat"] * N, LabelError.names_without_classes("labels", 0, "cat")),
        ([b"cat"] * N, LabelError.names_without_classes("labels", 0, "cat")),
        ([str(label) for label in LABELS], LabelError.names_without_classes("labels", 0, "2")),
        ([date(2024, 1, 1)] * N, LabelError.names_without_classes("labels", 0, "2024-01-01")),
        (LABELS[:-1], InputError.length("labels", 40, 39)),
        ([], InputError.length("labels", 40, 0)),
        (np.eye(K)[LABELS], LabelError.one_hot("labels", (40, 3))),
        (np.eye(K, dtype=bool)[LABELS], LabelError.one_hot("labels", (40, 3))),
        (np.eye(K)[LABELS].tolist(), LabelError.one_hot("labels", (40, 3))),
        (PROBS, LabelError.several("labels", "shape (40, 3)")),
        (LABELS[np.newaxis], LabelError.several("labels", "shape (1, 40)")),
        ([[0], [1, 2]] * (N // 2), LabelError.several("labels", "lists of different lengths")),
        (0, LabelError.not_one_dimensional("labels", "int")),
        (None, LabelError.not_one_dimensional("labels", "NoneType")),
        ((label for label in LABELS), LabelError.not_one_dimensional("labels", "generator")),
        (
            np.ma.array(LABELS),
            KindError.not_names("labels", "a masked array", "Fill the masked entries, or drop their rows."),
        ),
        (
            sparse.csr_matrix(np.eye(K)[LABELS]),
            KindError.not_names("labels", "a sparse matrix", "Pass values.toarray()."),
        ),
        (LABELS + 0j, KindError.not_names("labels", "an array of complex128", "Pass strings or integers.")),
        (
            LABELS.astype("m8[s]"),
            KindError.not_names("labels", "an array of timedelta64[s]", "Pass strings or integers."),
        ),
        (
            np.zeros(N, dtype=[("a", int)]),
            KindError.not_names("labels", "an array of [('a', '<i8')]", "Pass strings or integers."),
        ),
        (
            [object()] * N,
            like(
                KindError,
                what="labels",
                received="object",
                expected="be strings, numbers, booleans, or hashable objects that define __str__ or __repr__",
                remedy="Convert them to strings.",
            ),
        ),
    ],
)
def test_labels_that_are_no_column_numbers_are_refused_with_the_first_of_them(entry_point, labels, refusal):
    if entry_point is LABEL_ENTRY_POINTS["covers"] and isinstance(refusal, LabelError):
        refusal = copy(refusal)
        refusal.about_sets()
    with refused(refusal):
        entry_point(labels)


@entry_points(LABEL_ENTRY_POINTS)
@pytest.mark.parametrize("dtype", [int, np.int8, np.uint8, np.uint16, np.uint32, np.uint64, float, np.float16, ">i4"])
def test_labels_that_count_from_one_are_recognised(entry_point, dtype):
    with refused(LabelError.one_based("labels", 0, 3)):
        entry_point((LABELS + 1).astype(dtype))


def test_labels_that_count_from_one_work_as_the_message_says():
    rule = rs.calibrate(PROBS, LABELS + 1, classes=range(1, 4))
    assert np.array_equal(rule.predict(PROBS, 0.1).mask, calibrated().predict(PROBS, 0.1).mask)
    assert (
        rule.predict(PROBS, 0.1).covers(LABELS + 1).tolist() == calibrated().predict(PROBS, 0.1).covers(LABELS).tolist()
    )


@entry_points(LABEL_ENTRY_POINTS)
def test_unknown_class_names_are_listed_up_to_five(entry_point):
    labels = np.array(NAMES, dtype=object)[LABELS]
    with refused(LabelError.unknown("labels", 2, ["emu"], ("cat", "dog", "fox"))):
        entry_point(changed(labels, 2, "emu"), NAMES)
    strange = np.array([f"x{row % 7}" for row in range(N)])
    with refused(LabelError.unknown("labels", 0, ["x0", "x1", "x2", "x3", "x4", "x5", "x6"], ("cat", "dog", "fox"))):
        entry_point(strange, NAMES)


@entry_points(LABEL_ENTRY_POINTS)
def test_a_number_is_not_the_text_of_it(entry_point):
    with refused(LabelError.unknown("labels", 0, [2, 1, 0], ("0", "1", "2"))):
        entry_point(LABELS, ["0", "1", "2"])


@pytest.mark.parametrize(
    "labels",
    [
        LABELS.astype(float),
        LABELS.astype(np.float16),
        LABELS.astype(np.uint8),
        LABELS.astype(">i4"),
        LABELS.astype(object),
        LABELS[:, np.newaxis],
        np.repeat(LABELS, 2)[::2],
        LABELS.tolist(),
        tuple(LABELS.tolist()),
        list(LABELS),
        [[label] for label in LABELS.tolist()],
        read_only(LABELS),
    ],
    ids=lambda labels: f"{type(labels).__name__} {getattr(labels, 'dtype', '')}",
)
def test_whole_numbers_of_every_kind_are_labels(labels):
    rule, sets = calibrated(), calibrated().predict(PROBS, 0.1)
    assert rs.calibrate(PROBS, labels) == rule
    assert rule.update(PROBS, labels) == rule.update(PROBS, LABELS)
    assert np.array_equal(sets.covers(labels), sets.covers(LABELS))
    assert rs.evaluate(sets, labels).coverage == rs.evaluate(sets, LABELS).coverage


@pytest.mark.parametrize(
    "classes",
    [
        ["cat", "dog", "fox"],
        [10, 20, 30],
        [2, 1, 0],
        [-1.5, 0.0, 1.5],
        [b"cat", b"dog", b"fox"],
        [date(2024, 1, day) for day in (1, 2, 3)],
        [UUID(int=number) for number in (1, 2, 3)],
        ["one", 2, 3.5],
        [True, False, "unknown"],
    ],
    ids=repr,
)
def test_classes_of_every_kind_are_labels(classes):
    labels = [classes[label] for label in LABELS]
    rule = rs.calibrate(PROBS, labels, classes=classes)
    sets, plain = rule.predict(PROBS, 0.1), calibrated().predict(PROBS, 0.1)
    assert np.array_equal(sets.mask, plain.mask)
    assert np.array_equal(sets.covers(labels), plain.covers(LABELS))
    assert rs.evaluate(sets, labels).coverage == rs.evaluate(plain, LABELS).coverage
    assert rule.update(PROBS, labels).n == 2 * N


def test_booleans_are_labels_of_two_classes():
    truth = LABELS[:N] % 2 == 1
    numbered = rs.calibrate(PROBS[:, 0], truth, kind="binary")
    spoken = rs.calibrate(PROBS[:, 0], truth, kind="binary", classes=[False, True])
    assert numbered == rs.calibrate(PROBS[:, 0], truth.astype(int), kind="binary")
    assert spoken.classes.tolist() == [False, True]
    assert np.array_equal(spoken.predict(PROBS[:, 0], 0.1).mask, numbered.predict(PROBS[:, 0], 0.1).mask)


def test_too_few_rows_keep_every_label_and_say_how_many_are_needed():
    rule = rs.calibrate(PROBS[:5], LABELS[:5])
    with pytest.warns(rs.RanksetWarning) as caught:
        sets = rule.predict(PROBS, 0.1)
    assert "at least 9 calibration rows are needed for alpha=0.1, got 5" in only_warning(caught)
    assert sets.mask.all()
    with pytest.warns(rs.RanksetWarning, match="at least 9 calibration rows are needed for alpha=0.1, got 5") as caught:
        assert rule.expected_size(PROBS, 0.1).mean == K
    assert len(caught) == 1


@pytest.mark.parametrize(("alpha", "needed"), [("0.1", 9), ("0.05", 19), ("0.3", 3), ("1/3", 2), ("0.5", 1)])
def test_one_row_fewer_than_needed_warns_and_the_needed_number_does_not(alpha, needed):
    enough = rs.calibrate(PROBS[:needed], LABELS[:needed])
    assert len(enough.predict(PROBS, alpha)) == N
    if needed > 1:
        short = rs.calibrate(PROBS[: needed - 1], LABELS[: needed - 1])
        with pytest.warns(rs.RanksetWarning, match=f"at least {needed} calibration rows .* got {needed - 1}"):
            assert short.predict(PROBS, alpha).mask.all()


def test_a_class_absent_from_calibration_is_fine_when_coverage_is_marginal():
    assert len(rs.calibrate(PROBS, LABELS % 2).predict(PROBS, 0.1)) == N


def test_classes_absent_from_calibration_are_always_kept_per_label_with_one_warning_naming_them():
    rows = np.hstack([PROBS / 2, PROBS / 2])
    names = ["ant", "bee", "cat", "dog", "emu", "fox"]
    rule = rs.calibrate(rows, np.array(names)[LABELS % 2], condition=rs.PerLabel(), classes=names)
    with pytest.warns(rs.RanksetWarning) as caught:
        sets = rule.predict(rows, 0.1)
    assert all(f"0 for label {name!r}" in only_warning(caught) for name in names[2:])
    assert sets.mask[:, 2:].all()
    assert not sets.mask[:, :2].all()
    assert (rule.p_values(rows)[:, 2:] == 1).all()


def test_integers_are_column_numbers_where_no_class_is_called_by_a_number():
    probs, labels = rs.datasets.load("marketing")
    names = ["red", "green", "blue", "grey"]
    expected = rs.calibrate(probs, np.array(names)[labels], classes=names)
    for classes in (names, dict(enumerate(names)), {str(k): name for k, name in enumerate(names)}):
        assert rs.calibrate(probs, labels, classes=classes) == expected
    sets = expected.predict(probs, alpha=0.1)
    assert (sets.covers(labels) == sets.covers(np.array(names)[labels])).all()
    assert rs.calibrate(probs, [*labels[:-1], rs.ABSENT], classes=names).n == len(labels)
    with refused(LabelError.unknown("labels", 0, [4], tuple(names))):
        rs.calibrate(probs, np.full(len(labels), 4), classes=names)
    for numbered in (["1", "2", "3", "4"], ["a1", "a2", "a3", "a4"], ["2.0", "x", "y", "z"]):
        with refused(LabelError):
            rs.calibrate(probs, labels, classes=numbered)
    with refused(LabelError):  # columns of a frame have names of their own
        rs.calibrate(pd.DataFrame(probs, columns=names), labels)
