"""Scores with a number for every class, worked out by hand: shares, rank limits, offsets, fuzzy classes."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from rankset.core.alpha import exact_alpha
from rankset.core.cells import LabelCells, RankedCells
from rankset.core.rows import Rows
from rankset.errors import InputError, KindError, LevelError, ScoreError
from rankset.io import container
from rankset.rules import rule_file
from rankset.scores import traits
from rankset.scores.any_width import takes_any_width
from rankset.scores.reach import reach_of
from refusals import like, refused

ROW = [0.5, 0.125, 0.25, 0.125]
RANKED = [0, 2, 1, 3]
PROBS, LABELS = rs.datasets.load("marketing")
SHARES = "None, or one number above 0 per class in column order"
LIMITS = "one integer of at least 1 and below 2**31 per class, in column order"
KEEPS = "keeps labels with a probability of at least 0.1806"
TRAINED = "in training"
OFFSETS = "one number per class in column order, with absolute values of at most 1e+06"

BY_HAND = {
    "thr": (rs.Thr([2, 1, 4, 1]), [(-2.0,), (-0.5,), (-1.0,), (-1.0,)]),
    "rank": (rs.Rank([2, 1, 4, 1]), [(1, -2.0), (2, -0.5), (3, -1.0), (4, -1.0)]),
    "limits": (rs.RankLimited(rs.Thr(), [1, 3, 1, 3]), [(0, -0.5), (1, -0.25), (0, -0.125), (1, -0.125)]),
    "limits of pairs": (
        rs.RankLimited("rank", [4, 2, 2, 4]),
        [(0, 1, -0.5), (0, 2, -0.25), (1, 3, -0.125), (0, 4, -0.125)],
    ),
    "offsets": (rs.ClassOffsets(rs.Thr(), [0.5, -0.25, 0, 1]), [(-1.0,), (-0.25,), (0.125,), (-1.125,)]),
    "offsets of ranks": (rs.ClassOffsets("topk", [0.5, 0, 0, 1]), [(0.5,), (2.0,), (3.0,), (3.0,)]),
    # every class has as many rows, so all rows count 1: keys -0.5, -0.375, -0.25, -0.125
    "alike": (
        rs.FuzzyClasses(rs.Thr(), [-0.25, -0.5, -0.125, -0.375], [1, 1, 1, 1]),
        [(0.0,), (0.5,), (0.75,), (0.75,)],
    ),
}


def cells(label=None, noise=0.25):
    rows = Rows(np.array([ROW]), lambda: np.array([noise]))
    return RankedCells(rows) if label is None else LabelCells(rows, np.array([label]))


@pytest.mark.parametrize(("score", "ranked"), BY_HAND.values(), ids=BY_HAND.keys())
def test_keys_are_those_of_the_formula_for_all_labels_and_for_one(score, ranked):
    keys = [key.tolist() for key in score.keys(cells())]
    assert list(zip(*keys, strict=True)) == ranked
    for label, expected in zip(RANKED, ranked, strict=True):
        assert tuple(key.item() for key in score.keys(cells(label))) == expected


def test_shares_are_divided_by_their_sum_and_stay_as_they_are_then():
    counts = [500, 200, 20, 80]
    score = rs.Thr(counts)
    assert score.shares == (0.625, 0.25, 0.025, 0.1)
    assert score == rs.Thr(np.array(counts)) == rs.Thr(pd.Series(counts)) == rs.Thr(np.array(counts) / 800)
    thirds = rs.Thr([1, 1, 1])
    assert rs.Thr(thirds.shares) == thirds
    assert rs.Thr(rs.Thr(range(1, 60)).shares) == rs.Thr(range(1, 60))
    assert hash(score) == hash(rs.Thr(counts))
    assert score != rs.Thr() != rs.Rank(counts)
    assert [repr(one) for one in (rs.Thr(), score, rs.Rank(), rs.Rank(counts))] == [
        "Thr()",
        "Thr(shares of 4 classes)",
        "Rank()",
        "Rank(shares of 4 classes)",
    ]


@pytest.mark.parametrize("kind", [rs.Thr, rs.Rank], ids=["Thr", "Rank"])
@pytest.mark.parametrize(
    "shares", [[1, 0], [1, -1], [1, np.nan], [1, np.inf], [1, True], [1, "2"], [[1, 2]], [], [1, 10**400]]
)
def test_shares_are_numbers_above_0(kind, shares):
    remedy = "Count a class without training rows as 1 row."
    with refused(ScoreError.parameter(kind.__name__, "shares", SHARES, shares, remedy)):
        kind(shares)


@pytest.mark.parametrize("shares", ["ab", 5, 0.5])
def test_shares_are_a_list(shares):
    with refused(ScoreError.parameter("Thr", "shares", SHARES, shares)):
        rs.Thr(shares)


@pytest.mark.parametrize(
    "values", [{"a": 1, "b": 2}, {1, 2}, pd.Series([2, 1], index=["b", "a"]), pd.Series([2, 1], index=[1, 0])]
)
def test_numbers_of_classes_are_in_column_order(values):
    for make, name in (
        (rs.Thr, "shares of Thr"),
        (lambda given: rs.RankLimited(rs.Thr(), given), "limits of RankLimited"),
        (lambda given: rs.ClassOffsets(rs.Thr(), given), "offsets of ClassOffsets"),
        (lambda given: rs.FuzzyClasses(rs.Thr(), [0.0] * 3, given), "counts of FuzzyClasses"),
    ):
        parameter = name.split()[0]
        remedy = f"Pass [{parameter}[class_] for class_ in classes], with the class names in the order of the columns."
        with refused(ScoreError, what=name, remedy=remedy):
            make(values)


def test_shares_that_differ_too_much_are_refused():
    remedy = "The largest can be 1e+12 times the smallest."
    with refused(ScoreError.parameter("Rank", "shares", SHARES, [1, 2e12], remedy)):
        rs.Rank([1, 2e12])
    assert rs.Rank([1, 1e12]).n_columns == 2


@pytest.mark.parametrize("score", [rs.Thr([1, 2, 3]), rs.Rank([1, 2, 3])], ids=repr)
def test_scores_with_shares_need_probabilities_and_as_many_classes(score):
    with refused(ScoreError, what=repr(score), expected="get 3 columns, as in the fit", received="4 columns"):
        rs.calibrate(PROBS, LABELS, method=score)
    with refused(ScoreError.needs_probabilities(score)):
        rs.calibrate(np.zeros((3, 3)), [0, 1, 2], method=score, kind="decision")
    assert rs.calibrate(np.eye(3) - 1, [0, 1, 2], method=score, kind="logits").n == 3
    assert rs.calibrate(np.eye(3) / 2, np.eye(3), method=score, kind="marginals", target="recall").n == 3
    assert not takes_any_width(score)
    assert takes_any_width(type(score)())
    with refused(ScoreError, what=repr(score), received="2 columns"):
        rs.Marginals(score, intercepts=(0.0, 0.0))
    with refused(ScoreError, what=repr(score), received="2 columns"):
        rs.Seen(score, (0,), 2)


def test_equal_shares_change_no_set():
    for plain, kind in ((rs.Thr(), rs.Thr), (rs.Rank(), rs.Rank)):
        rules = [rs.calibrate(PROBS[:200], LABELS[:200], method=score) for score in (plain, kind([1, 1, 1, 1]))]
        for alpha in (0.05, 0.1, 0.3):
            assert rules[0].predict(PROBS[200:], alpha).to_lists() == rules[1].predict(PROBS[200:], alpha).to_lists()


def test_scores_with_shares_say_what_they_look_at():
    assert [set(traits(rs.Thr(shares)).features) for shares in (None, [1, 2])] == [{"prob"}, {"prob", "column"}]
    assert traits(rs.Thr()).key_features == ("prob",)
    assert traits(rs.Thr([1, 2])).key_features == ()  # the probability alone does not decide
    ranked = traits(rs.TieBreak(rs.Rank([1, 2])))
    assert ranked.orders_by_rank
    assert not ranked.breaks_ties_by_prob
    profile = rs.calibrate(PROBS, LABELS, method=rs.Rank([1, 2, 3, 4])).rank_profile(0.1)
    assert (profile.r_star, profile.threshold_prob, profile.size_bounds) == (3, None, (2, 3))


def test_the_reach_of_shares_is_that_of_the_rarest_class():
    found = reach_of(rs.Thr([1, 3]), (np.array([-2.0, -0.4, 0.0, -np.inf, np.inf]),))
    assert found.prob.tolist()[2:] == [0.0, np.inf, -np.inf]
    assert found.prob[:2] == pytest.approx([0.5, 0.1])
    assert (found.prob[:2] < [0.5, 0.1]).all()


@pytest.mark.parametrize(
    ("score", "sentence", "about_label"),
    [
        (
            rs.Thr([1, 1, 1, 1]),
            "keeps labels with a probability of at least 0.7226 times their share in training",
            "in the set if its probability is at least 0.8795 times its share in training",
        ),
        (
            rs.Rank([1, 1, 1, 1]),
            "keeps the 2 most likely labels, and a third if its probability is at least 0.5432 times its share "
            + TRAINED,
            "it is one of the 2 most likely labels, or it is the third",
        ),
        (
            rs.RankLimited(rs.Thr(), [4, 4, 4, 4]),
            f"leaves out all but the labels within the rank limits of their classes; of these, it {KEEPS}",
            "in the set if its rank is within its limit, and its probability is at least 0.2199",
        ),
        (
            rs.RankLimited(rs.Thr(), [1, 1, 1, 1]),
            f"keeps labels within the rank limits of their classes; of the other labels, it {KEEPS}",
            "in the set if its rank is within its limit, or its probability is at least 0.2199",
        ),
        (
            rs.ClassOffsets(rs.Thr(), [0.5] * 4),
            "keeps labels for which the score value of Thr() minus the offset of the class is at most -0.6806",
            "in the set if the score value of Thr() minus the offset of the class is at most -0.7199",
        ),
    ],
    ids=repr,
)
def test_thresholds_in_words(score, sentence, about_label):
    assert rs.calibrate(PROBS, LABELS, method=score).describe(0.1) == sentence
    by_label = rs.calibrate(PROBS, LABELS, method=score, condition=rs.PerLabel()).describe(0.1, label=2)
    assert about_label in by_label


def test_fuzzy_classes_in_words():
    score = rs.FuzzyClasses.fit(PROBS[:100], LABELS[:100])
    rule = rs.calibrate(PROBS[100:], LABELS[100:], method=score)
    assert rule.describe(0.1) == (
        f"keeps labels for which at most {rule.threshold(0.1)[0]:.4g} of the fitting rows, weighted by how rare their "
        "classes are, have a smaller score value of Thr(); a set can be empty"
    )
    rule = rs.calibrate(PROBS[100:], LABELS[100:], method=score, condition=rs.PerLabel())
    assert "label 1: in the set if at most 0." in rule.describe(0.2, label=1)


def test_labels_behind_their_limits_stay_only_if_the_level_needs_them():
    probs = np.tile([0.5, 0.3, 0.2], (10, 1))
    score = rs.RankLimited(rs.Thr(), [1, 3, 2])
    within = rs.calibrate(probs, [0] * 5 + [1] * 5, method=score)
    assert within.predict(probs[:1], 0.1).to_lists() == [[0, 1]]
    behind = rs.calibrate(probs, [0] * 8 + [2] * 2, method=score)
    assert behind.predict(probs[:1], 0.3).to_lists() == [[0]]
    assert behind.predict(probs[:1], 0.1).to_lists() == [[0, 1, 2]]
    found = reach_of(score, (np.array([0, 1]), np.array([-0.25, -0.5])))
    assert found.prob.tolist() == [0.25, -np.inf]
    assert found.rank.tolist() == [3, np.inf]


@pytest.mark.parametrize(
    ("ranks", "alpha", "limit"),
    [
        ([1] * 9 + [3], 0.1, 3),  # an error of exactly alpha is not below it
        ([1] * 10 + [3], 0.1, 1),
        ([1, 1, 2, 3], 0.25, 3),
        ([1, 1, 2, 3], 0.26, 2),
        ([1, 1, 2, 3], 0.5, 2),
        ([1, 2, 3], Fraction(1, 3), 3),
        ([2], 0.5, 2),
    ],
)
def test_a_limit_is_the_smallest_rank_with_an_error_below_alpha(ranks, alpha, limit):
    places = {1: [0.6, 0.3, 0.1], 2: [0.3, 0.6, 0.1], 3: [0.1, 0.6, 0.3]}
    score = rs.RankLimited.fit([places[rank] for rank in ranks], [0] * len(ranks), alpha)
    errors = [Fraction(sum(rank > k for rank in ranks), len(ranks)) for k in (1, 2, 3)]
    assert score.limits == (limit, 3, 3)
    assert limit == next(k for k in (1, 2, 3) if errors[k - 1] < exact_alpha(alpha))


def test_limits_are_those_of_rows_as_the_score_sees_them():
    turned = rs.Recalibrated(factors=(0.0, 5.0, 0.0))
    rows = [[0.6, 0.3, 0.1]] * 3
    assert rs.RankLimited.fit(rows, [1] * 3).limits == (3, 2, 3)
    assert rs.RankLimited.fit(rows, [1] * 3, score=turned).limits == (3, 1, 3)
    assert rs.RankLimited.fit(np.log(rows), [1] * 3, kind="logits", score="rank") == rs.RankLimited("rank", (3, 2, 3))


def test_offsets_lie_between_the_thresholds_of_the_class_and_of_all_rows():
    keys = {0: [0.9, 0.8, 0.7, 0.6], 1: [0.5, 0.4, 0.3, 0.2], 2: [0.1]}
    rows, labels = [], []
    for label, probs in keys.items():
        for prob in probs:
            row = [(1 - prob) / 2] * 3
            row[label] = prob
            rows.append(row)
            labels.append(label)
    fitted = [rs.ClassOffsets.fit(rows, labels, 0.4, weight=weight).offsets for weight in (0, 0.25, 1)]
    # thresholds are the third of four keys, the sixth of nine, and none of one: then 0 in its place
    assert fitted[0] == pytest.approx((-0.4, -0.4, -0.4))
    assert fitted[2] == pytest.approx((-0.7, -0.3, 0.0))
    assert fitted[1] == pytest.approx((-0.475, -0.375, -0.3))
    unknown = rs.ClassOffsets.fit(rows, labels, 0.01, score=rs.Recalibrated())
    assert unknown.offsets == pytest.approx((-np.log(0.1),) * 3)  # no key is the largest possible one


def test_rows_of_classes_that_are_as_rare_count_most():
    """Two classes with one row, one with nine: the weight is exp(-d²(n + 1) / (2 · bandwidth)), d = 8/9."""
    fitted, counts = [-0.9, -0.1, *[-0.5] * 9], [1, 1, 9]
    score = rs.FuzzyClasses(rs.Thr(), fitted, counts, bandwidth=0.5)
    rows = Rows(np.array([[0.4, 0.3, 0.3]]), lambda: None)
    shares = [score.keys(LabelCells(rows, np.array([label])))[0].item() for label in range(3)]
    few, many = np.exp(-((8 / 9) ** 2) * 2), np.exp(-((8 / 9) ** 2) * 10)
    assert shares[:2] == pytest.approx([(1 + 9 * few) / (2 + 9 * few)] * 2)
    assert shares[2] == pytest.approx((9 + many) / (9 + 2 * many))
    assert rs.FuzzyClasses(rs.Thr(), fitted[:2] + fitted[:1:-1], counts, 0.5) == score
    nobody = rs.FuzzyClasses(rs.Thr(), [-0.5] * 900, [0, 900], bandwidth=1e-9)
    assert nobody.keys(LabelCells(Rows(np.array([[0.4, 0.6]]), lambda: None), np.array([0])))[0].tolist() == [0.0]


def test_a_pickled_score_has_no_table():
    score = rs.FuzzyClasses.fit(PROBS, LABELS)
    before = len(pickle.dumps(score))
    rs.calibrate(PROBS, LABELS, method=score)
    assert len(pickle.dumps(score)) < before + 1000
    again = pickle.loads(pickle.dumps(score))  # noqa: S301
    assert rs.calibrate(PROBS, LABELS, method=again) == rs.calibrate(PROBS, LABELS, method=score)


def test_a_fit_uses_so_many_rows_at_most(monkeypatch):
    monkeypatch.setattr("rankset.scores.fuzzy_classes.MOST_ROWS", 50)
    assert rs.FuzzyClasses.fit(PROBS, LABELS) == rs.FuzzyClasses.fit(PROBS[:50], LABELS[:50])
    with refused(ScoreError, what="fitted of FuzzyClasses", expected="be 1 to 50 numbers"):
        rs.FuzzyClasses(rs.Thr(), [0.0] * 51, [51])


FITS = {
    "RankLimited": rs.RankLimited.fit,
    "ClassOffsets": rs.ClassOffsets.fit,
    "FuzzyClasses": rs.FuzzyClasses.fit,
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS.keys())
def test_fits_depend_neither_on_the_order_of_rows_nor_on_absent_labels(fit):
    order = np.random.default_rng(0).permutation(100)
    expected = fit(PROBS[:100], LABELS[:100])
    assert fit(PROBS[:100][order], LABELS[:100][order]) == expected
    assert fit([*PROBS[:100].tolist(), PROBS[7].tolist()], [*LABELS[:100].tolist(), rs.ABSENT]) == expected
    assert fit(PROBS[:100], LABELS[:100], score=rs.Aps()).score == rs.Aps()
    with refused(InputError.no_rows()):
        fit(PROBS[:0], [])
    with refused(ScoreError, what="Thr(shares of 3 classes)", received="4 columns"):
        fit(PROBS, LABELS, score=rs.Thr([1, 2, 3]))


@pytest.mark.parametrize(
    ("make", "refusal"),
    [
        (lambda: rs.RankLimited(rs.Thr(), [0, 1]), ScoreError.parameter("RankLimited", "limits", LIMITS, [0, 1])),
        (lambda: rs.RankLimited(rs.Thr(), [1.0]), ScoreError.parameter("RankLimited", "limits", LIMITS, [1.0])),
        (lambda: rs.RankLimited(rs.Thr(), [True]), ScoreError.parameter("RankLimited", "limits", LIMITS, [True])),
        (lambda: rs.RankLimited(rs.Thr(), [2**31]), ScoreError.parameter("RankLimited", "limits", LIMITS, [2**31])),
        (lambda: rs.RankLimited(rs.Thr(), []), ScoreError.parameter("RankLimited", "limits", LIMITS, [])),
        (lambda: rs.RankLimited(rs.Thr(), 3), ScoreError.parameter("RankLimited", "limits", LIMITS, 3)),
        (lambda: rs.RankLimited(rs.Thr, [1]), like(KindError, what="score", received="the class Thr")),
        (
            lambda: rs.RankLimited(rs.Thr([1, 2]), [1]),
            like(ScoreError, what="Thr(shares of 2 classes)", received="1 columns"),
        ),
        (lambda: rs.RankLimited.fit(PROBS, LABELS, 1.5), like(LevelError, received="1.5")),
        (
            lambda: rs.calibrate(PROBS, LABELS, method=rs.RankLimited(rs.Thr(), [1, 2, 3])),
            like(ScoreError, what="RankLimited(Thr(), limits of 3 classes)", received="4 columns"),
        ),
        (
            lambda: rs.ClassOffsets(rs.Thr(), [0, np.inf]),
            ScoreError.parameter("ClassOffsets", "offsets", OFFSETS, [0, np.inf]),
        ),
        (lambda: rs.ClassOffsets(rs.Thr(), [None]), ScoreError.parameter("ClassOffsets", "offsets", OFFSETS, [None])),
        (lambda: rs.ClassOffsets(rs.Rank(), [0, 1]), ScoreError.several_keys("ClassOffsets", rs.Rank(), 2)),
        (
            lambda: rs.ClassOffsets.fit(PROBS, LABELS, score="rank"),
            ScoreError.several_keys("ClassOffsets", rs.Rank(), 2),
        ),
        (
            lambda: rs.ClassOffsets.fit(PROBS, LABELS, weight=1.5),
            KindError.argument("weight", "a number from 0 to 1", 1.5),
        ),
        (lambda: rs.ClassOffsets.fit(PROBS, LABELS, 0), like(LevelError, received="0")),
        (
            lambda: rs.FuzzyClasses(rs.Thr(), [0.0], [1], bandwidth=0),
            ScoreError.parameter("FuzzyClasses", "bandwidth", "a finite number above 0", 0),
        ),
        (lambda: rs.FuzzyClasses(rs.Thr(), [], [0]), like(ScoreError, what="fitted of FuzzyClasses")),
        (lambda: rs.FuzzyClasses(rs.Thr(), [np.nan], [1]), like(ScoreError, what="fitted of FuzzyClasses")),
        (
            lambda: rs.FuzzyClasses(rs.Thr(), [0.0, 1.0], [1]),
            ScoreError.parameter(
                "FuzzyClasses", "counts", "one number of rows per class in column order, 2 in all", [1]
            ),
        ),
        (lambda: rs.FuzzyClasses(rs.Thr(), [0.0], [2, -1]), like(ScoreError, what="counts of FuzzyClasses")),
        (
            lambda: rs.FuzzyClasses.fit(PROBS, LABELS, score="rank"),
            ScoreError.several_keys("FuzzyClasses", rs.Rank(), 2),
        ),
    ],
)
def test_numbers_that_cannot_be_are_told(make, refusal):
    with refused(refusal):
        make()


STORED = {
    "plain": (rs.Thr(), {"name": "Thr"}),
    "plain rank": (rs.Rank(), {"name": "Rank"}),
    "shares": (rs.Thr([1, 3]), {"name": "Thr", "shares": (0.25, 0.75)}),
    "limits": (rs.RankLimited(rs.Rank([1, 3]), [1, 2]), None),
    "offsets": (rs.TieBreak(rs.ClassOffsets(rs.Aps(), [0.5, -0.1])), None),
    "fuzzy": (rs.FuzzyClasses(rs.Thr([1, 1]), [-0.5, -0.1, -0.2], [2, 1], 0.3), None),
}


@pytest.mark.parametrize(("score", "stored"), STORED.values(), ids=STORED.keys())
def test_scores_are_stored_with_their_numbers_and_without_what_is_not_given(score, stored, tmp_path):
    described = container.describe(score, rule_file.SCORES)
    assert stored is None or described == stored
    assert container.rebuild(described, rule_file.SCORES) == score
    rng = np.random.default_rng(0)
    probs, labels = rng.dirichlet([1, 1], 60), rng.integers(0, 2, 60)
    rule = rs.calibrate(probs, labels, method=score, condition=rs.PerLabel())
    rule.save(tmp_path / "rule.rankset")
    assert rs.load(tmp_path / "rule.rankset") == rule
    parts = [
        rs.calibrate(probs[rows], labels[rows], method=score, condition=rs.PerLabel())
        for rows in (slice(25), slice(25, 60))
    ]
    assert parts[0].merge(parts[1]) == rule


@pytest.mark.parametrize(
    "description",
    [
        {"name": "Thr", "shares": None},
        {"name": "Thr", "shares": [1, 3]},
        {"name": "Thr", "shares": [0.25, 0.75], "more": 1},
        {"name": "Margin", "shares": [0.25, 0.75]},
        {"name": "RankLimited", "score": {"name": "Thr"}, "limits": [0]},
        {"name": "RankLimited", "score": {"name": "Thr"}},
        {"name": "FuzzyClasses", "score": {"name": "Thr"}, "fitted": [0.5, -0.5], "counts": [2], "bandwidth": 0.1},
    ],
)
def test_descriptions_that_no_score_has_are_refused(description):
    with pytest.raises(ValueError, match=r"must have the fields|cannot have the fields|must be"):
        container.rebuild(description, rule_file.SCORES)


@pytest.mark.parametrize(
    "score",
    [rs.Thr([3, 2, 1]), rs.RankLimited(rs.Thr(), [1, 2, 3]), rs.ClassOffsets(rs.Thr(), [0.1, 0.2, 0.3])],
    ids=repr,
)
def test_the_estimator_knows_which_scores_depend_on_the_order_of_classes(score):
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    features, names = rng.normal(size=(90, 2)), np.array(["a", "b", "c"])[rng.integers(0, 3, 90)]
    wrong = rs.ConformalClassifier(LogisticRegression(), method=score, classes=["c", "b", "a"])
    with refused(
        KindError, what="classes", expected="be sorted if clusters or fitted scores depend on the order of classes"
    ):
        wrong.fit(features, names)
    right = rs.ConformalClassifier(LogisticRegression(), method=score, classes=["a", "b", "c"])
    assert right.fit(features, names).method_ == score


def test_the_coverage_of_rare_classes_is_larger_with_shares():
    """A long tail: classes with 400 to 4 of 1,000 training rows, and a model that has learnt how rare they are."""
    rng = np.random.default_rng(1)
    shares = 0.6 ** np.arange(8)
    shares /= shares.sum()
    labels = rng.choice(8, size=8000, p=shares)
    logits = np.log(shares) + 1.2 * (rng.normal(size=(8000, 8)) + 1.5 * np.eye(8)[labels])
    probs = rs.softmax(logits)
    macro = {}
    for score in (rs.Thr(), rs.Thr(shares)):
        sets = rs.calibrate(probs[:4000], labels[:4000], method=score).predict(probs[4000:], 0.1)
        inside = sets.covers(labels[4000:])
        assert abs(inside.mean() - 0.9) < 0.02
        macro[score] = np.mean([inside[labels[4000:] == label].mean() for label in range(8)])
    assert macro[rs.Thr(shares)] > macro[rs.Thr()] + 0.05


def test_offsets_of_an_infinite_key_stay_infinite():
    """With one class the margin is minus infinity."""
    rule = rs.calibrate(np.ones((12, 1)), np.zeros(12, int), method=rs.ClassOffsets(rs.Margin(), (0.5,)))
    assert rule.predict(np.ones((3, 1)), alpha=0.1).sizes.tolist() == [1, 1, 1]
