"""Sorted keys in groups, worked out by hand."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from rankset.core.calibration import Calibration
from rankset.core.promise import Promise
from rankset.core.sorted_keys import SortedKeys

GROUPS = np.array([1, 0, 1, 1, 0, 1])
KEYS = (np.array([2, 1, 1, 1, 3, 2]), np.array([0.5, 0.1, 0.7, 0.2, 0.0, 0.4]))


@pytest.fixture
def calibration():
    return Calibration.of(GROUPS, KEYS, 3)


def test_keys_are_sorted_within_groups(calibration):
    assert calibration.offsets.tolist() == [0, 2, 6, 6]
    assert calibration.counts.tolist() == [2, 4, 0]
    assert calibration.groups.tolist() == [0, 0, 1, 1, 1, 1]
    assert calibration.keys[0].tolist() == [1, 3, 1, 1, 2, 2]
    assert calibration.keys[1].tolist() == [0.1, 0.0, 0.2, 0.7, 0.4, 0.5]
    assert [key.tolist() for key in calibration.of_group(1)] == [[1, 1, 2, 2], [0.2, 0.7, 0.4, 0.5]]
    assert len(calibration) == 6


def test_thresholds_are_the_keys_at_their_positions(calibration):
    cut = calibration.thresholds(
        Promise(Fraction(2, 5))
    )  # group 0: k = 3 - 1 = 2; group 1: k = 5 - 2 = 3; group 2: everything
    assert cut.everything.tolist() == [False, False, True, True]
    assert [key[:2].tolist() for key in cut.keys] == [[3, 2], [0.0, 0.4]]
    asked = (np.array([[3, 3, 2, 2, 9, 9]]), np.array([[0.0, 0.1, 0.4, 0.41, 9.0, 9.0]]))
    groups = np.array([[0, 0, 1, 1, 2, -1]])
    assert cut.keep(groups, asked).tolist() == [[True, False, True, False, True, True]]


def test_p_values_count_the_groups_own_rows(calibration):
    asked = (np.array([[1, 3, 1, 2, 2, 0, 5]]), np.array([[0.1, 0.1, 0.7, 0.4, 0.6, 0.0, 5.0]]))
    groups = np.array([[0, 0, 1, 1, 1, 2, -1]])
    tables, places = calibration.tail_tables, calibration.places(groups, asked)
    assert tables.p_values[places].tolist() == [[1, 1 / 3, 4 / 5, 3 / 5, 1 / 5, 1, 1]]
    assert tables.larger[places].tolist() == [[2, 0, 3, 2, 0, 0, 0]]
    assert tables.sizes[places].tolist() == [[2, 2, 4, 4, 4, 0, 0]]


def test_merging_is_sorting_together(calibration):
    first, second = (
        Calibration.of(GROUPS[part], tuple(key[part] for key in KEYS), 3) for part in (slice(0, 2), slice(2, 6))
    )
    assert first.merge(second) == calibration
    assert first != calibration
    assert Calibration(calibration.keys, np.array([0, 3, 6, 6])) != calibration
    assert Calibration((calibration.keys[1], calibration.keys[1]), calibration.offsets) != calibration
    assert calibration != "calibration"


def test_renumbering_moves_whole_groups(calibration):
    moved = calibration.renumbered(np.array([2, 0, 1]), 4)
    assert moved.counts.tolist() == [4, 0, 2, 0]
    assert [key.tolist() for key in moved.of_group(2)] == [[1, 3], [0.1, 0.0]]


def test_ties_at_a_position_are_seen(calibration):
    tied = Calibration.of(np.zeros(4, dtype=np.int64), (np.array([1, 2, 2, 3]),), 1)
    assert [tied.tied(0, k) for k in (1, 2, 3, 4)] == [False, True, True, False]
    assert not calibration.tied(1, 2)


def test_sorted_keys_count_what_comes_strictly_before():
    sorted_keys = SortedKeys((np.array([1, 1, 2, 2, 2]), np.array([0.5, 0.7, -1.0, 0.5, 0.5])))
    asked = (np.array([0, 1, 1, 1, 2, 2, 2, 3]), np.array([9.0, 0.5, 0.6, 0.8, -2.0, 0.5, 0.6, 0.0]))
    assert sorted_keys.before(asked).tolist() == [0, 0, 1, 2, 2, 3, 5, 5]


def test_what_is_remembered_is_not_taken_along_and_stays_small():
    groups, keys = np.arange(5000) % 2000, (np.arange(5000.0),)
    many, few = Calibration.of(groups, keys, 2000), Calibration.of(groups % 2, keys, 2)
    for calibration in (many, few):
        before = pickle.dumps(calibration)
        assert calibration.tail_tables.p_values[calibration.places(np.zeros(1, dtype=np.int64), (np.zeros(1),))] == 1
        assert pickle.dumps(calibration) == before
        assert pickle.loads(before) == calibration  # noqa: S301
