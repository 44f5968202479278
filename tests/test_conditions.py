"""Groups, worked out by hand."""

import numpy as np
import pytest

import rankset as rs
from rankset.errors import KindError, LabelError
from refusals import refused

COLUMNS = np.arange(3)[np.newaxis, :]
ROWS = np.array([[0], [1], [-1]])


def numbers(condition):
    return condition.numbers(COLUMNS, ROWS, 3, 2).tolist()


def test_marginal_has_one_group():
    assert rs.Marginal().count(3, 2) == 1
    assert numbers(rs.Marginal()) == [[0]]


def test_per_label_has_one_group_per_column_or_cluster():
    assert rs.PerLabel().count(3, 2) == 3
    assert numbers(rs.PerLabel()) == [[0, 1, 2]]
    clustered = rs.PerLabel(["b", "a", "b"])
    assert clustered.clusters == ("b", "a", "b")
    assert clustered.count(3, 2) == 2
    assert numbers(clustered) == [[1, 0, 1]]
    with refused(LabelError.clusters(4, 3)):
        clustered.count(4, 2)
    with refused(
        KindError,
        what="clusters",
        received="object",
        expected="be strings, numbers, booleans, or hashable objects that define __str__ or __repr__",
    ):
        rs.PerLabel([object()])


def test_per_row_has_one_group_per_name():
    assert rs.PerGroup().count(3, 2) == 2
    assert numbers(rs.PerGroup()) == [[0], [1], [-1]]


def test_crossing_numbers_every_combination_and_keeps_the_unseen_unseen():
    assert rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel()).count(3, 2) == 6
    assert numbers(rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel())) == [[0, 1, 2], [3, 4, 5], [-1, -1, -1]]
    assert numbers(rs.PerLabelAndGroup(rs.PerLabel(), rs.PerGroup())) == [[0, 2, 4], [1, 3, 5], [-1, -1, -1]]
    assert numbers(rs.PerLabelAndGroup(rs.Marginal(), rs.PerGroup())) == [[0], [1], [-1]]
    nested = rs.PerLabelAndGroup(rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel(["b", "a", "b"])), rs.PerLabel())
    assert nested.count(3, 2) == 12
    assert numbers(nested)[:2] == [[3, 1, 5], [9, 7, 11]]


def test_crossing_needs_groups_where_either_side_does():
    assert rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel()).needs_groups
    assert rs.PerLabelAndGroup(rs.PerLabel(), rs.PerGroup()).needs_groups
    assert not rs.PerLabelAndGroup(rs.PerLabel(), rs.Marginal()).needs_groups


@pytest.mark.parametrize("wrong", [rs.PerLabel, "PerLabel", None])
def test_crossing_takes_conditions_only(wrong):
    with refused(KindError, what="condition"):
        rs.PerLabelAndGroup(rs.PerGroup(), wrong)
    with refused(KindError, what="condition"):
        rs.PerLabelAndGroup(wrong, rs.PerGroup())


def test_clusters_share_a_threshold():
    probs = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5], [0.4, 0.4, 0.2]])
    rule = rs.calibrate(probs, [0, 1, 2, 0], condition=rs.PerLabel(["x", "y", "x"]), score=rs.Thr())
    assert rule.calibration.counts.tolist() == [3, 1]
    assert rule.threshold(0.5, label=0) == rule.threshold(0.5, label=2) == (-0.5,)
    assert rule.threshold(0.5, label=1) == (-0.5,)
    assert rule.threshold(0.3, label=2) == (-0.4,)


class PerSiteAndLabel:
    """A condition of one's own that forgets groups without calibration rows."""

    needs_groups = True

    def count(self, n_columns, n_row_groups):
        return n_columns * n_row_groups

    def numbers(self, columns, row_groups, n_columns, n_row_groups):
        return row_groups * n_columns + columns


class One(rs.Marginal):
    """Conditions of one's own whose numbers are given."""

    def __init__(self, answer, count=1):
        object.__setattr__(self, "answer", answer)
        object.__setattr__(self, "most", count)

    def count(self, n_columns, n_row_groups):
        return self.most

    def numbers(self, columns, row_groups, n_columns, n_row_groups):
        return self.answer


@pytest.mark.parametrize("condition", [PerSiteAndLabel(), rs.PerLabelAndGroup(PerSiteAndLabel(), rs.Marginal())])
def test_groups_without_calibration_rows_keep_every_label_whatever_a_condition_says(condition):
    rng = np.random.default_rng(0)
    probs, labels, sites = rng.dirichlet(np.ones(3), 300), rng.integers(0, 3, 300), rng.choice(["a", "b"], 300)
    rule = rs.calibrate(probs, labels, condition=condition, groups=sites)
    assert rule == rule.update(probs[:0], labels[:0], groups=sites[:0])
    with pytest.warns(rs.RanksetWarning, match="'new'"):
        assert rule.predict(probs[:2], 0.1, groups=["new", "new"]).sizes.tolist() == [3, 3]
    with pytest.warns(rs.RanksetWarning, match="'new'"):
        assert (rule.p_values(probs[:2], groups=["new", "new"]) == 1).all()
    known = rs.calibrate(probs, labels, condition=rs.PerLabelAndGroup(), groups=sites)
    assert known.predict(probs, 0.1, groups=sites) == rule.predict(probs, 0.1, groups=sites)


@pytest.mark.parametrize("answer", [1, -2, 0.0, np.array([[0.0]]), np.array([[3]])])
def test_group_numbers_that_cannot_be_are_refused(answer):
    with pytest.raises(rs.RanksetError):
        rs.calibrate([[0.7, 0.3], [0.4, 0.6]], [0, 1], condition=One(answer))


def test_a_plain_number_is_the_group_of_all_cells():
    rule = rs.calibrate([[0.7, 0.3], [0.4, 0.6]], [0, 1], condition=One(0))
    assert rule.predict([[0.7, 0.3]], 0.5) == rs.calibrate([[0.7, 0.3], [0.4, 0.6]], [0, 1]).predict([[0.7, 0.3]], 0.5)
