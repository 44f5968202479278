"""Scores, worked out by hand."""

from dataclasses import dataclass

import numpy as np
import pytest

import rankset as rs
from rankset import scores
from rankset.cells import LabelCells, RankedCells, Rows

ROW = [0.5, 0.125, 0.25, 0.125]


def cells(label=None, noise=0.25):
    rows = Rows(np.array([ROW]), lambda: np.array([noise]))
    return RankedCells(rows) if label is None else LabelCells(rows, np.array([label]))


@pytest.mark.parametrize(
    ("score", "ranked"),
    [
        (rs.Rank(), [(1, -0.5), (2, -0.25), (3, -0.125), (4, -0.125)]),
        (rs.TopK(), [(1,), (2,), (3,), (4,)]),
        (rs.Thr(), [(-0.5,), (-0.25,), (-0.125,), (-0.125,)]),
        (rs.Margin(), [(-0.25,), (0.25,), (0.375,), (0.375,)]),
        (rs.Aps(), [(0.125,), (0.5625,), (0.78125,), (0.90625,)]),
        (rs.Aps(randomized=False), [(0.5,), (0.75,), (0.875,), (1.0,)]),
        (rs.Raps(penalty=0.5, free_ranks=2), [(0.125,), (0.5625,), (1.28125,), (1.90625,)]),
        (rs.Raps(penalty=0.5, free_ranks=1, randomized=False), [(0.5,), (1.25,), (1.875,), (2.5,)]),
        (rs.Saps(weight=0.25), [(0.125,), (0.5625,), (0.8125,), (1.0625,)]),
        (rs.Saps(weight=0.25, randomized=False), [(0.5,), (0.75,), (1.0,), (1.25,)]),
        (rs.TieBreak(rs.TopK()), [(1, 0.25), (2, 0.25), (3, 0.25), (4, 0.25)]),
    ],
)
def test_keys_are_those_of_the_formula_for_all_labels_and_for_one(score, ranked):
    keys = [key.tolist() for key in score.keys(cells())]
    assert list(zip(*keys, strict=True)) == ranked
    for label, place in zip([0, 2, 1, 3], range(4), strict=True):
        assert tuple(key.item() for key in score.keys(cells(label))) == ranked[place]


@pytest.mark.parametrize("score", [rs.Raps, rs.Saps], ids=["Raps", "Saps"])
@pytest.mark.parametrize("value", [-1e-9, np.nan, np.inf, -np.inf, "1", None, True, 1j, 10**400])
def test_weights_are_finite_and_not_negative(score, value):
    name = "penalty" if score is rs.Raps else "weight"
    with pytest.raises(ValueError, match=rf"^{score.__name__}\({name}=...\) must be a finite number, at least 0, got"):
        score(**{name: value})


@pytest.mark.parametrize("value", [-1, 1.0, "1", None, True, 2**31])
def test_free_ranks_are_a_count(value):
    with pytest.raises(
        ValueError, match=r"^Raps\(free_ranks=...\) must be a whole number, at least 0 and below 2\*\*31, got"
    ):
        rs.Raps(free_ranks=value)


@pytest.mark.parametrize("score", [rs.Aps, rs.Raps, rs.Saps], ids=["Aps", "Raps", "Saps"])
@pytest.mark.parametrize("value", [1, "yes", None])
def test_randomized_is_true_or_false(score, value):
    with pytest.raises(ValueError, match=rf"^{score.__name__}\(randomized=...\) must be True or False, got"):
        score(randomized=value)


def test_parameters_become_plain_numbers():
    score = rs.Raps(np.float32(0.5), np.int8(0), np.bool_(False))  # noqa: FBT003
    assert (score.penalty, score.free_ranks, score.randomized) == (0.5, 0, False)
    assert [type(value) for value in (score.penalty, score.free_ranks, score.randomized)] == [float, int, bool]
    assert rs.Raps(0, 2**31 - 1).free_ranks == 2**31 - 1
    assert type(rs.Saps(1).weight) is float


def test_a_tie_break_speaks_for_its_score():
    @dataclass(frozen=True)
    class Own:
        needs_probs = True
        caveat = "only a test"

        def transform(self, probs):
            return probs / 2

        def keys(self, cells):
            return (cells.prob,)

    broken = rs.TieBreak(Own())
    assert scores.needs_probs(broken)
    assert scores.caveat(broken) == "only a test"
    assert scores.reach(broken, (np.zeros(1), np.zeros(1))) == scores.Reach()
    assert scores.transforms(broken)
    assert broken.transform(np.array([[0.5, 0.5]])).tolist() == [[0.25, 0.25]]
    assert scores.transformed(broken, np.array([[0.5, 0.5]])).tolist() == [[0.25, 0.25]]
    assert scores.looks_at(broken, 3) == {"prob", "noise"}
    plain = rs.TieBreak(rs.Thr())
    assert (scores.needs_probs(plain), scores.caveat(plain), scores.transforms(plain)) == (False, None, False)
    assert scores.reach(plain, (np.array([-0.25]), np.zeros(1))) == scores.Reach(prob=0.25)
    with pytest.raises(TypeError, match=r"the class Rank. Pass Rank\(\) with its parentheses"):
        rs.TieBreak(rs.Rank)


def test_which_scores_rank_and_which_break_ties_by_probability():
    ranks = [rs.Rank(), rs.TopK(), rs.TieBreak(rs.Rank()), rs.TieBreak(rs.TopK()), rs.Thr(), rs.TieBreak(rs.Thr())]
    assert [scores.orders_by_rank(score) for score in ranks] == [True, True, True, True, False, False]
    assert [scores.breaks_ties_by_prob(score) for score in ranks] == [True, False, True, False, False, False]


def test_features_are_found_by_watching():
    assert scores.looks_at(rs.Rank(), 4) == {"rank", "prob"}
    assert scores.looks_at(rs.Thr(), 4) == {"prob"}
    assert "noise" in scores.looks_at(rs.Aps(), 4)
    assert "noise" not in scores.looks_at(rs.Aps(randomized=False), 4)


def test_the_profile_of_a_tie_broken_rank_has_its_probability():
    probs, labels = rs.paper.scores("marketing")
    profile = rs.calibrate(probs, labels, score=rs.TieBreak(rs.Rank())).rank_profile(0.1)
    assert profile.threshold_prob == rs.calibrate(probs, labels).rank_profile(0.1).threshold_prob
