"""PredictionSets as a value."""

import numpy as np
import pytest

import rankset as rs

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


def test_covers_speaks_in_class_names(sets):
    assert sets.covers(["fox", "cat", "dog", "dog"]).tolist() == [True, False, True, True]
    with pytest.raises(ValueError, match="got 'owl', first at row 1"):
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
    with pytest.raises(TypeError, match=r"mask must be a boolean matrix \(n, K\), got 'int64 of shape \(1, 2\)'"):
        rs.PredictionSets.from_mask([[0, 1]])


def test_a_level_given_to_a_mask_is_checked():
    with pytest.raises(ValueError, match=r"did you mean 0\.1"):
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
