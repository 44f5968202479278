"""PredictionSets as a value."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from rankset.errors import InputError, KindError, LabelError, LevelError, RowError
from refusals import like, refused

MASK = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 1]], dtype=bool)


@pytest.fixture
def sets():
    return rs.PredictionSets.from_mask(MASK, classes=["cat", "dog", "fox"])


def test_a_mask_survives_the_round_trip(sets):
    assert (sets.mask == MASK).all()
    assert sets.sizes.tolist() == [2, 0, 1, 3]
    assert len(sets) == 4


def test_iterating_and_indexing_give_class_names(sets):
    assert sets.to_lists() == [["cat", "fox"], [], ["dog"], ["cat", "dog", "fox"]]
    assert [row.tolist() for row in sets] == sets.to_lists()
    assert sets[0].tolist() == ["cat", "fox"]
    assert sets[-1].tolist() == ["cat", "dog", "fox"]
    with pytest.raises(IndexError):
        sets[4]


def test_a_slice_is_sets_again(sets):
    assert sets[1:3].to_lists() == [[], ["dog"]]
    assert sets[::-1].to_lists() == sets.to_lists()[::-1]
    assert sets[2:2].to_lists() == []
    assert sets[2:2].mask.shape == (0, 3)


def test_a_slice_has_the_alpha_the_law_and_the_proven_coverage_of_all():
    law = rs.calibrate([[0.7, 0.3]] * 40, [0] * 39 + [1]).predict([[0.5, 0.5]], 0.1).law
    sets = replace(rs.PredictionSets.from_mask(MASK, alpha=0.1), law=law, proven=0.75)
    assert law is not None
    assert [(part.alpha, part.law, part.proven) for part in (sets[1:3], sets[:0])] == [(0.1, law, 0.75)] * 2
    some = sets[[0, 2]]
    assert (some.alpha, some.law, some.proven) == (0.1, None, 0.75)


def test_covers_speaks_in_class_names(sets):
    assert sets.covers(["fox", "cat", "dog", "dog"]).tolist() == [True, False, True, True]
    with refused(LabelError.unknown("labels", 1, ["owl"], ("cat", "dog", "fox"))):
        sets.covers(["fox", "owl", "dog", "dog"])


def test_sets_are_equal_when_they_hold_the_same_labels(sets):
    assert sets == rs.PredictionSets.from_mask(MASK, classes=["cat", "dog", "fox"])
    assert sets != rs.PredictionSets.from_mask(MASK)
    assert sets != rs.PredictionSets.from_mask(~MASK, classes=["cat", "dog", "fox"])
    assert sets != 3


def test_the_repr_shows_the_first_rows(sets):
    assert repr(sets).splitlines() == [
        "PredictionSets(4 rows, 3 classes, mean size 1.5)",
        "  0: {cat, fox}",
        "  1: {}",
        "  2: {dog}",
        "  3: {cat, dog, fox}",
    ]
    wide = rs.PredictionSets.from_mask(np.ones((7, 12), dtype=bool))
    assert repr(wide).splitlines()[1] == "  0: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … 12 labels}"
    assert repr(wide).splitlines()[-1] == "  …"
    assert repr(wide[:0]) == "PredictionSets(0 rows, 12 classes)"


def test_a_mask_must_be_boolean_and_two_dimensional():
    with refused(KindError, what="mask", expected="be a boolean matrix (n, K)", received="'int64 of shape (1, 2)'"):
        rs.PredictionSets.from_mask([[0, 1]])


def test_a_level_given_to_a_mask_is_checked():
    with refused(LevelError.out_of_range(90, "Did you mean 0.1?")):
        rs.PredictionSets.from_mask(MASK, alpha=90)


def test_rows_can_be_picked_by_numbers_and_by_booleans(sets):
    assert sets[[3, 0]].to_lists() == [["cat", "dog", "fox"], ["cat", "fox"]]
    assert sets[sets.sizes == 1].to_lists() == [["dog"]]
    assert sets[np.int64(2)].tolist() == ["dog"]


def test_what_sets_hold_cannot_be_changed_by_accident(sets):
    for array in (sets.codes, sets.offsets, sets.classes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(TypeError):
        "cat" in sets  # noqa: B015


def test_the_level_of_sets_is_the_number_typed():
    assert rs.PredictionSets.from_mask(MASK, alpha="0.1").alpha == 0.1
    assert rs.PredictionSets.from_mask(MASK).alpha is None


def test_slices_keep_the_law_of_coverage_and_picked_rows_have_none():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(4), 400)
    labels = (probs.cumsum(axis=1) > rng.uniform(size=(400, 1))).argmax(axis=1)
    sets = rs.calibrate(probs[:200], labels[:200]).predict(probs[200:], 0.1)
    large = sets.sizes == sets.sizes.max()
    truth = labels[200:]
    for rows in (slice(100), slice(None, None, -1), slice(10, 150, 3)):
        assert sets[rows].law == sets.law
        assert "sampling variation alone gives" in repr(rs.evaluate(sets[rows], truth[rows]))
    for rows in (large, np.flatnonzero(large), np.flatnonzero(large).tolist()):
        assert sets[rows].law is None
        told = rs.evaluate(sets[rows], truth[rows])
        assert told.expected is None
        assert "sampling variation" not in repr(told)
    assert rs.PredictionSets.concat([sets[large], sets[~large]]).law is None


@pytest.mark.parametrize("nothing", [[], (), np.array([]), np.array([], dtype=int), range(0)], ids=repr)
def test_no_row_numbers_pick_no_rows(sets, nothing):
    assert sets[nothing].mask.shape == (0, 3)
    assert sets[nothing].classes.tolist() == sets.classes.tolist()
    assert len(rs.Ragged(MASK.astype(float), [3, 3, 3, 3])[nothing]) == 0


@pytest.mark.parametrize(
    ("rows", "refusal"),
    [
        (True, KindError.rows(True)),  # noqa: FBT003
        (
            np.True_,
            like(
                KindError,
                what="rows",
                received="np.True_",
                expected="be selected by a slice, by row numbers, or by one boolean for every row",
            ),
        ),
        (
            np.asarray(np.True_),
            like(
                KindError,
                what="rows",
                received="array(True)",
                expected="be selected by a slice, by row numbers, or by one boolean for every row",
            ),
        ),
        (1.0, KindError.rows(1.0)),
        (None, KindError.rows(None)),
        ("a", KindError.rows("a")),
        (["a"], KindError.rows(["a"])),
        ([0.5], KindError.rows([0.5])),
        ([[0, 1]], KindError.rows([[0, 1]])),
        ([[0], [1, 2]], KindError.rows("lists of different lengths")),
        (
            np.ma.array([0, 1], mask=[False, True]),
            like(KindError, what="rows", received="masked_array(data=[0, --], mask=[False, True], fill_value=999999)"),
        ),
        ([0, np.ma.masked], like(KindError, what="rows", received="[0, masked]")),
        ([0, 4], RowError.number(4, 4)),
        (-5, RowError.number(4, -5)),
        (np.array([200, 1], dtype=np.uint8), RowError.number(4, 200)),
        ([True, False], RowError.mask(4, 2)),
        (np.array([], dtype=bool), RowError.mask(4, 0)),
    ],
)
def test_what_picks_no_rows_is_refused(sets, rows, refusal):
    with refused(refusal):
        sets[rows]
    with refused(refusal):
        rs.Ragged(MASK.astype(float), [3, 3, 3, 3])[rows]


def test_row_numbers_of_every_type_count_from_either_end(sets):
    for dtype in (np.int8, np.int64, np.uint8, object):
        numbers = np.array([3, 1], dtype=dtype) if dtype is not object else [3, -3]
        assert sets[numbers].to_lists() == [["cat", "dog", "fox"], []]
    many = rs.PredictionSets.from_mask(np.eye(300, dtype=bool))
    assert many[np.array([-1], dtype=np.int8)].to_lists() == [[299]]
    assert many[np.int8(-1)].tolist() == [299]
    assert sets[[True, False, True, False]].to_lists() == [["cat", "fox"], ["dog"]]


@pytest.mark.parametrize(
    ("mask", "refusal"),
    [
        ([[True], [True, False]], KindError.argument("mask", "a boolean matrix (n, K)", "rows of different lengths")),
        (np.ma.array(MASK, mask=~MASK), KindError.argument("mask", "a boolean matrix (n, K)", "a masked array")),
        (
            [np.ma.array(row, mask=~row) for row in MASK],
            KindError.argument("mask", "a boolean matrix (n, K)", "a masked array"),
        ),
        (None, KindError.argument("mask", "a boolean matrix (n, K)", "object of shape ()")),
        ([True, False], KindError.argument("mask", "a boolean matrix (n, K)", "bool of shape (2,)")),
        ([[None, True]], KindError.argument("mask", "a boolean matrix (n, K)", "object of shape (1, 2)")),
    ],
)
def test_what_is_no_mask_is_refused(mask, refusal):
    with refused(refusal):
        rs.PredictionSets.from_mask(mask)


def test_a_frame_of_masks_goes_by_the_names_of_its_columns_and_keeps_its_index():
    probs, labels = rs.datasets.load("marketing")
    frame = pd.DataFrame(probs, columns=list("ABCD"), index=np.arange(len(probs)) + 7)
    truth = pd.Series(np.array(list("ABCD"))[labels], index=frame.index)
    sets = rs.calibrate(frame, truth).predict(frame, 0.1)
    for columns in ("ABCD", "DCBA"):
        again = rs.PredictionSets.from_mask(sets.to_mask_frame()[list(columns)], classes=list("ABCD"))
        assert (again.mask == sets.mask).all()
        assert (again.covers(truth) == sets.covers(truth)).all()
    assert rs.PredictionSets.from_mask(sets.to_mask_frame()).classes.tolist() == list("ABCD")
    with refused(InputError.other_order("labels", "the rows")):
        again.covers(truth[::-1])


def test_parts_of_a_default_index_say_nothing_either():
    probs, labels = rs.datasets.load("marketing")
    fresh = pd.DataFrame(probs)
    truth = pd.Series(labels, index=np.random.default_rng(0).permutation(5000)[: len(probs)])
    rule = rs.calibrate(fresh, truth)
    sets, some = rule.predict(fresh, 0.1), labels > 0
    assert (sets[50:].covers(truth[50:]) == sets.covers(truth)[50:]).all()
    assert (sets[some].covers(truth[some]) == sets.covers(truth)[some]).all()
    parts = list(rule.predict_parts(fresh, 0.1, rows=100))
    assert (parts[1].covers(truth[100:200]) == sets.covers(truth)[100:200]).all()
    assert len(rs.PredictionSets.concat([sets, sets]).covers(pd.concat([truth, truth]))) == 2 * len(probs)
    plain = pd.Series(labels)
    with refused(InputError.other_order("labels", "the rows")):
        sets[50:].covers(plain[50:][::-1])


def test_other_parts_of_a_default_index_are_other_rows():
    probs, labels = rs.datasets.load("marketing")
    frame, truth = pd.DataFrame(probs), pd.Series(labels)
    rs.calibrate(frame[100:200], truth[100:200])
    rs.calibrate(frame[100:200], truth[100:200].reset_index(drop=True))
    for other in (slice(101, 201), slice(150, 250)):
        with refused(
            InputError,
            what="labels",
            row=0,
            remedy="Pass labels for the same rows. "
            "If the rows are the same and only the index differs, pass labels.to_numpy().",
        ):
            rs.calibrate(frame[100:200], truth[other])
