"""Scores, worked out by hand."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from rankset.core.cells import FEATURES, LabelCells, RankedCells
from rankset.core.rows import Rows
from rankset.errors import InputError, KindError, LabelError, RuleError, ScoreError
from rankset.scores import Reach, traits
from rankset.scores.application import transform_rows
from rankset.scores.reach import reach_of
from refusals import like, refused
from strategies import SCORES as ALL_SCORES

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
    with refused(ScoreError, what=f"{name} of {score.__name__}", expected="be a finite number of at least 0"):
        score(**{name: value})


@pytest.mark.parametrize("value", [-1, 1.0, "1", None, True, 2**31])
def test_free_ranks_are_a_count(value):
    with refused(ScoreError, what="free_ranks of Raps", expected="be an integer of at least 0 and below 2**31"):
        rs.Raps(free_ranks=value)


@pytest.mark.parametrize("score", [rs.Aps, rs.Raps, rs.Saps], ids=["Aps", "Raps", "Saps"])
@pytest.mark.parametrize("value", [1, "yes", None])
def test_randomized_is_true_or_false(score, value):
    with refused(ScoreError.parameter(score.__name__, "randomized", "True or False", value)):
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
        features = ("prob",)
        needs_probs = True
        caveat = "only a test"

        def transform(self, probs):
            return probs / 2

        def keys(self, cells):
            return (cells.prob,)

    broken = rs.TieBreak(Own())
    assert traits(broken).needs_probs
    assert traits(broken).caveat == "only a test"
    assert reach_of(broken, (np.zeros(1), np.zeros(1))) == Reach()
    assert traits(broken).transforms
    assert broken.transform(np.array([[0.5, 0.5]])).tolist() == [[0.25, 0.25]]
    assert transform_rows(broken, np.array([[0.5, 0.5]])).tolist() == [[0.25, 0.25]]
    assert traits(broken).features == {"prob", "noise"}
    plain = rs.TieBreak(rs.Thr())
    assert (traits(plain).needs_probs, traits(plain).caveat, traits(plain).transforms) == (False, None, False)
    assert reach_of(plain, (np.array([-0.25]), np.zeros(1))) == Reach(prob=0.25)
    with refused(KindError, what="score", received="the class Rank", remedy="Pass Rank() with parentheses."):
        rs.TieBreak(rs.Rank)


def test_classes_are_seen_in_labels_or_given():
    names = ["ant", "bee", "cat", "dog"]
    score = rs.Seen.fit(["dog", "ant", "dog"], names, rs.Rank())
    assert score == rs.Seen(rs.Rank(), (0, 3), 4) == rs.Seen(rs.Rank(), [3, np.int64(0)], 4)
    assert score == rs.Seen.fit([3, 0, 3], 4, rs.Rank()) == rs.Seen.fit(np.array([0, 3]), range(4), rs.Rank())
    assert repr(score) == "Seen(Rank(), 2 of 4 classes)"
    assert traits(rs.TieBreak(score)).n_columns == 4
    assert traits(rs.TieBreak(score)).needs_probs
    assert traits(rs.TieBreak(score)).transforms
    assert traits(score).features == {"column", "rank", "prob"}
    fitted = rs.Seen.fit([0, 1], 3, rs.Recalibrated(factors=(0.0, 1.0, 2.0)))
    assert np.exp(fitted.transform(np.array([[0.25, 0.25, 0.5]]))).sum() == pytest.approx(1.0)
    assert not traits(score).orders_by_rank  # the first key tells seen from unseen classes
    assert not traits(rs.TieBreak(score)).breaks_ties_by_prob
    with refused(
        RuleError,
        what="rank_profile",
        received="the score Seen(Rank(), 2 of 4 classes)",
        remedy="Calibrate with the score Rank() or TopK().",
    ):
        rs.calibrate(*rs.datasets.load("marketing"), score=score).rank_profile(0.1)


def test_rows_become_shares_of_the_seen_classes():
    score = rs.Seen(rs.Thr(), (1, 3), 4)
    rows = np.array([[0.5, 0.125, 0.25, 0.125], [0.0, 0.25, 0.0, 0.75], [0.5, 0.0, 0.5, 0.0]])
    told = transform_rows(score, rows)
    tiny = 2.0**-60
    assert told.tolist() == [
        [0.5 * tiny, 0.5, 0.25 * tiny, 0.5],
        [0.0, 0.25, 0.0, 0.75],
        [0.5 * tiny, 0.0, 0.5 * tiny, 0.0],
    ]
    keys = score.keys(RankedCells(Rows(told, lambda: None)))
    assert list(zip(*(key[:4].tolist() for key in keys), strict=True)) == [
        (0, -0.5),
        (0, -0.5),
        (1, -0.5 * tiny),
        (1, -0.25 * tiny),
    ]


def test_the_reach_of_seen_classes_ends_where_unseen_ones_stay():
    found = reach_of(rs.Seen(rs.Thr(), (0,), 3), (np.array([0, 1]), np.array([-0.25, -0.5])))
    assert found.prob.tolist() == [0.25, -np.inf]
    assert found.rank.tolist() == [np.inf, np.inf]


@pytest.mark.parametrize(
    ("make", "refusal"),
    [
        (
            lambda: rs.Seen(rs.Thr(), (0, 0), 3),
            ScoreError.parameter("Seen", "columns", "different column numbers from 0 to 2", (0, 0)),
        ),
        (
            lambda: rs.Seen(rs.Thr(), (0, 3), 3),
            ScoreError.parameter("Seen", "columns", "different column numbers from 0 to 2", (0, 3)),
        ),
        (
            lambda: rs.Seen(rs.Thr(), (-1,), 3),
            ScoreError.parameter("Seen", "columns", "different column numbers from 0 to 2", (-1,)),
        ),
        (
            lambda: rs.Seen(rs.Thr(), (True,), 3),
            ScoreError.parameter("Seen", "columns", "different column numbers from 0 to 2", (True,)),
        ),
        (
            lambda: rs.Seen(rs.Thr(), "01", 3),
            ScoreError.parameter("Seen", "columns", "different column numbers from 0 to 2", "01"),
        ),
        (
            lambda: rs.Seen(rs.Thr(), 1, 3),
            ScoreError.parameter("Seen", "columns", "different column numbers from 0 to 2", 1),
        ),
        (
            lambda: rs.Seen(rs.Thr(), (0,), 3.0),
            ScoreError.parameter("Seen", "n_columns", "an integer of at least 0 and below 2**31", 3.0),
        ),
        (lambda: rs.Seen(rs.Thr, (0,), 3), like(KindError, what="score", received="the class Thr")),
        (
            lambda: rs.Seen(rs.Recalibrated(factors=(0.0, 1.0)), (0,), 3),
            like(
                ScoreError,
                what="Recalibrated(temperature=1, weights=(1, 0, 0, 0, 0, 0, 0), factors of 2 classes)",
                received="3 columns",
                expected="get 2 columns, as in the fit",
                remedy="Pass the same columns as in the fit, in the same order.",
            ),
        ),
        (lambda: rs.Seen.fit([], 3), InputError.no_rows()),
        (lambda: rs.Seen.fit(5, 3), KindError.argument("labels", "a list or an array of labels", 5)),
        (
            lambda: rs.Seen.fit([0], True),  # noqa: FBT003
            KindError.argument("classes", "the number of classes, or their names in column order", True),  # noqa: FBT003
        ),
        (lambda: rs.Seen.fit([0, 3], 3), LabelError.out_of_range("labels", 1, 3, 3)),
        (lambda: rs.Seen.fit(["cow"], ["cat", "dog"]), LabelError.unknown("labels", 0, ["cow"], ("cat", "dog"))),
        (
            lambda: rs.calibrate(*rs.datasets.load("marketing"), score=rs.Seen.fit([0, 1], 3)),
            like(
                ScoreError,
                what="Seen(Thr(), 2 of 3 classes)",
                received="4 columns",
                expected="get 3 columns, as in the fit",
                remedy="Pass the same columns as in the fit, in the same order.",
            ),
        ),
    ],
)
def test_seen_classes_that_cannot_be_are_told(make, refusal):
    with refused(refusal):
        make()


def test_unseen_classes_leave_the_sets_unless_the_level_needs_them():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.full(30, 0.3), 1200)
    chances = probs * (np.arange(30) < 10)
    labels = (chances.cumsum(axis=1) > rng.random((1200, 1)) * chances.sum(axis=1, keepdims=True)).argmax(axis=1)
    train, cal, new = labels[:200], slice(200, 700), slice(700, None)
    seen = rs.Seen.fit(train, 30)
    sizes = {}
    for score in (rs.Thr(), seen):
        sets = rs.calibrate(probs[cal], labels[cal], score=score).predict(probs[new], 0.1)
        assert sets.covers(labels[new]).mean() > 0.86
        sizes[score] = sets.sizes.mean()
    assert not sets.mask[:, 10:].any()
    assert sizes[seen] < 0.6 * sizes[rs.Thr()]
    few = rs.Seen.fit(labels[:200][labels[:200] < 3], 30)  # three classes: more than alpha of the rows have others
    needed = rs.calibrate(probs[cal], labels[cal], score=few).predict(probs[new], 0.1)
    assert needed.mask[:, :3].all()
    assert needed.mask[:, 3:].any()
    assert needed.covers(labels[new]).mean() > 0.86


def test_which_scores_rank_and_which_break_ties_by_probability():
    ranks = [rs.Rank(), rs.TopK(), rs.TieBreak(rs.Rank()), rs.TieBreak(rs.TopK()), rs.Thr(), rs.TieBreak(rs.Thr())]
    assert [traits(score).orders_by_rank for score in ranks] == [True, True, True, True, False, False]
    assert [traits(score).breaks_ties_by_prob for score in ranks] == [True, False, True, False, False, False]


def seen_features(score, n_columns=4):
    """What ``score`` looks at in a row, found out by watching."""
    seen = set()

    class Watched:
        def __init__(self, cells):
            self._cells = cells

        def __getattr__(self, name):
            seen.add(name)
            return getattr(self._cells, name)

    probs = np.full((1, n_columns), 1 / n_columns)
    rows = Rows(transform_rows(score, probs) if traits(score).transforms else probs, lambda: np.zeros(1))
    score.keys(Watched(LabelCells(rows, np.zeros(1, dtype=np.int64))))
    return seen & FEATURES


@pytest.mark.parametrize(
    "score", [*ALL_SCORES, rs.Temperature(2.0), rs.Recalibrated(), rs.Chosen(rs.Aps(), "a test")], ids=repr
)
def test_scores_declare_what_they_look_at(score):
    fitted = traits(score).n_columns
    assert traits(score).features == seen_features(score, fitted or 4)


def test_a_score_that_declares_nothing_gets_everything():
    class Own:
        def keys(self, cells):
            return (cells.rank + cells.noise,)

    assert traits(Own()).features == FEATURES
    assert rs.calibrate([[0.5, 0.3, 0.2]], [0], score=Own()).n == 1


def test_a_score_that_declares_nothing_reads_every_feature_and_predicts():
    class Declared:
        features = sorted(FEATURES)

        def keys(self, cells):
            return (sum(getattr(cells, name) / (place + 2) for place, name in enumerate(sorted(FEATURES))),)

    class Undeclared:
        keys = Declared.keys

    probs, labels = rs.datasets.load("marketing")
    rules = [rs.calibrate(probs[:200], labels[:200], score=score) for score in (Declared(), Undeclared())]
    expected, found = (rule.predict(probs[200:], 0.1) for rule in rules)
    assert found == expected
    assert 0 < found.sizes.mean() < probs.shape[1]
    assert (found.mask == (rules[1].p_values(probs[200:]) > 0.1)).all()


@pytest.mark.parametrize("features", ["prob", ("probs",), 3])
def test_features_that_cells_do_not_have_are_refused(features):
    class Own:
        def keys(self, cells):
            return (cells.prob,)

    Own.features = features
    with refused(
        ScoreError,
        what="a score's features",
        expected="be among before, column, entropy, mass, noise, prob, rank, second, top, total",
        remedy="If the score does not define features, it gets all features.",
    ):
        rs.calibrate([[0.5, 0.5]], [0], score=Own())


def test_the_profile_of_a_tie_broken_rank_has_its_probability():
    probs, labels = rs.datasets.load("marketing")
    profile = rs.calibrate(probs, labels, score=rs.TieBreak(rs.Rank())).rank_profile(0.1)
    assert profile.threshold_prob == rs.calibrate(probs, labels).rank_profile(0.1).threshold_prob


def test_classes_seen_by_name_are_those_of_the_calibration():
    probs, labels = rs.datasets.load("marketing")
    names, truth = list("ABCD"), np.array(list("ABCD"))[labels]
    score = rs.Seen.fit(["D", "B"], names)
    rule = rs.calibrate(probs, truth, score=score, classes=names)
    frame = pd.DataFrame(probs, columns=names)
    assert rs.calibrate(frame, truth, score=score) == rule
    for wrong in (rs.TieBreak(score), score):
        with refused(
            ScoreError,
            what="Seen(Thr(), 2 of 4 classes)",
            received="'D', 'C', 'B', 'A'",
            expected="get the classes of the fit ('A', 'B', 'C', 'D') in this order",
            remedy="Pass the same classes in the same order as in the fit.",
        ):
            rs.calibrate(frame[list("DCBA")], truth, score=wrong)
    rs.calibrate(frame[list("DCBA")], truth, score=score, classes=names)
    with refused(ScoreError, what="names of Seen", expected="be 4 names in column order", received="('A',)"):
        rs.Seen(rs.Thr(), (0,), 4, ("A",))
    with refused(
        ScoreError,
        what="Seen(Thr(), 2 of 4 classes)",
        received="3, 2, 1, 0",
        expected="get the classes of the fit (0, 1, 2, 3) in this order",
        remedy="Pass the same classes in the same order as in the fit.",
    ):
        rs.calibrate(probs, labels, score=rs.Seen.fit([0, 1], 4), classes=[3, 2, 1, 0])


def test_every_candidate_is_asked_for_its_classes():
    probs, labels = rs.datasets.load("marketing")
    names, truth = list("ABCD"), np.array(list("ABCD"))[labels]
    wrong = rs.Seen.fit(["D", "B"], names[::-1])
    for candidates in ([rs.Thr(), wrong], [wrong, rs.Thr()]):
        with refused(
            ScoreError,
            what="Seen(Thr(), 2 of 4 classes)",
            received="'A', 'B', 'C', 'D'",
            expected="get the classes of the fit ('D', 'C', 'B', 'A') in this order",
            remedy="Pass the same classes in the same order as in the fit.",
        ):
            rs.compare(probs, truth, classes=names, scores=candidates)
