"""Users' own scores, options and settings."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import rankset as rs
from entry_points import LABELS, LOGITS, PROBS, ROW_ENTRY_POINTS, N, calibrated, changed, entry_points
from rankset.errors import InputError, KindError, RuleError, ScoreError
from refusals import like, refused


@dataclass(frozen=True)
class Own:
    """A user's score that returns whatever it is told to."""

    answer: object

    def keys(self, cells):
        return self.answer(cells)


def bad_keys(expected, received):
    return like(ScoreError, what="a score's keys(cells)", expected=f"return {expected}", received=received)


PER_CELL = "arrays with one entry per (row, label) pair, shape ({n},)"
BAD_KEYS = {
    "NaN": (
        lambda cells: (np.where(np.arange(N)[cells.row] == 2, np.nan, cells.prob),),
        like(ScoreError, what="a score's keys", expected="not contain NaN", row=2),
    ),
    "bare array": (lambda cells: cells.prob, bad_keys("a tuple of arrays", "ndarray")),
    "list": (lambda cells: [cells.prob], bad_keys("a tuple of arrays", "list")),
    "nothing": (lambda cells: None, bad_keys("a tuple of arrays", "NoneType")),
    "no keys": (lambda cells: (), bad_keys("a tuple of arrays", "tuple")),
    "wrong shape": (lambda cells: (np.zeros((7, 9)),), bad_keys(PER_CELL, "shape (7, 9)")),
    "a column": (lambda cells: (cells.prob[:, None],), bad_keys(PER_CELL, "shape ({n}, 1)")),
    "too few": (lambda cells: (cells.prob[1:],), bad_keys(PER_CELL, "shape ({less},)")),
    "one entry for all": (lambda cells: (cells.prob[:1],), bad_keys(PER_CELL, "shape (1,)")),
    "a masked array": (
        lambda cells: (np.ma.array(cells.prob),),
        bad_keys("arrays without masked entries", "a masked array"),
    ),
    "strings": (lambda cells: (cells.prob.astype(str),), bad_keys("arrays of real numbers", "an array of <U32")),
    "objects": (lambda cells: (cells.prob.astype(object),), bad_keys("arrays of real numbers", "an array of object")),
    "complex": (lambda cells: (cells.prob + 0j,), bad_keys("arrays of real numbers", "an array of complex128")),
}


def for_cells(refusal, n):
    """Return the refusal with the number of cells filled in."""
    fields = {
        name: value.format(n=n, less=n - 1) if isinstance(value, str) else value
        for name, value in refusal.fields.items()
    }
    return like(refusal.kind, **fields)


@pytest.mark.parametrize(("answer", "refusal"), BAD_KEYS.values(), ids=BAD_KEYS.keys())
def test_a_users_score_with_unusable_keys_is_told_so_when_calibrating(answer, refusal):
    with refused(for_cells(refusal, N)) as caught:
        rs.calibrate(PROBS, LABELS, score=Own(answer))
    assert caught.value.remedy


@pytest.mark.parametrize(("answer", "refusal"), BAD_KEYS.values(), ids=BAD_KEYS.keys())
def test_a_users_score_with_unusable_keys_is_told_so_when_predicting(answer, refusal):
    def only_for_all_labels(cells):
        return (cells.prob,) if len(cells) == N else answer(cells)

    rule = rs.calibrate(PROBS, LABELS, score=Own(only_for_all_labels))
    for ask in (rule.p_values, lambda rows: rule.predict(rows, 0.1), lambda rows: rule.expected_size(rows, 0.1)):
        with refused(for_cells(refusal, PROBS.size)):
            ask(PROBS)


def test_a_nan_key_is_named_with_its_row_in_any_block(monkeypatch):
    monkeypatch.setenv("RANKSET_BLOCK_BYTES", "72")
    with refused(
        ScoreError,
        what="a score's keys",
        received="NaN from Own(answer=<function test_a_nan_key_is_named_with_its_row_in_any_block.<locals>…",
        row=31,
    ):
        rs.calibrate(
            changed(PROBS, 31, [0.0, 0.0, 1.0]),
            changed(LABELS, 31, 2),
            score=Own(lambda cells: (np.where(cells.prob == 1, np.nan, cells.prob),)),
        )


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float16, np.float32])
def test_a_users_keys_may_be_of_any_real_type(dtype):
    rule = rs.calibrate(PROBS, LABELS, score=Own(lambda cells: ((cells.rank * 1).astype(dtype),)))
    assert len(rule.predict(PROBS, 0.1)) == N


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        (
            {"score": rs.Aps},
            like(
                KindError,
                what="score",
                received="the class Aps",
                expected="be an object",
                remedy="Pass Aps() with parentheses.",
            ),
        ),
        (
            {"method": 7},
            KindError.argument(
                "method", "a score such as Rank() or Aps(), the name of one, or another object with keys(cells)", 7
            ),
        ),
        (
            {"condition": rs.PerLabel},
            like(
                KindError,
                what="condition",
                received="the class PerLabel",
                expected="be an object",
                remedy="Pass PerLabel() with parentheses.",
            ),
        ),
        (
            {"condition": "label"},
            KindError.argument("condition", "a condition such as Marginal() or PerLabel()", "label"),
        ),
        ({"seed": 1.5}, KindError.argument("seed", "an integer of at most 64 bits", 1.5)),
        ({"seed": None}, KindError.argument("seed", "an integer of at most 64 bits", None)),
        ({"seed": True}, KindError.argument("seed", "an integer of at most 64 bits", True)),  # noqa: FBT003
    ],
)
def test_options_of_another_kind_are_refused(options, refusal):
    with refused(refusal):
        rs.calibrate(PROBS, LABELS, **options)


@pytest.mark.parametrize(
    "score",
    [rs.Aps(), rs.Raps(), rs.Saps(), rs.TieBreak(rs.Aps())],
    ids=repr,
)
def test_scores_that_add_probabilities_refuse_other_numbers(score):
    with refused(ScoreError.needs_probabilities(score)):
        rs.calibrate(LOGITS, LABELS, score=score, kind="decision")


@pytest.mark.parametrize("empty", ["no", None, True])
def test_an_unknown_treatment_of_empty_sets_is_refused(empty):
    with refused(RuleError.option("empty", empty, ("allow", "top"))):
        calibrated().predict(PROBS, 0.1, empty=empty)


@entry_points(ROW_ENTRY_POINTS)
@pytest.mark.parametrize("name", ["RANKSET_THREADS", "RANKSET_BLOCK_BYTES"])
@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", "1e6", " 4"])
def test_silly_settings_are_refused(entry_point, name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    with refused(KindError, what=f"the environment variable {name}", received=repr(value)):
        entry_point(PROBS)


@pytest.mark.parametrize("name", ["RANKSET_THREADS", "RANKSET_BLOCK_BYTES"])
@pytest.mark.parametrize("value", ["", "1", "1000"])
def test_sensible_settings_change_no_answer(name, value, monkeypatch):
    expected = calibrated().predict(PROBS, 0.1)
    monkeypatch.setenv(name, value)
    assert calibrated().predict(PROBS, 0.1) == expected


def test_a_clean_run_says_nothing():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rs.evaluate(calibrated().predict(PROBS, 0.1), LABELS)
    assert caught == []


class Shaped:
    """A score whose transform returns something else than it got."""

    def __init__(self, change):
        self.change = change

    def transform(self, probs):
        return self.change(probs)

    def keys(self, cells):
        return (-cells.prob,)


@pytest.mark.parametrize(
    "change", [lambda p: p[:1], lambda p: p[:, :2], lambda p: p[0], lambda p: None, lambda p: "no"]
)
def test_a_transform_that_changes_the_shape_is_refused(change):
    with refused(
        ScoreError,
        what="a score's transform(probs)",
        expected="return real numbers without NaN in the shape of its input, (4, 3)",
    ):
        rs.calibrate([[0.5, 0.3, 0.2]] * 4, [0, 1, 2, 0], score=Shaped(change))


def test_integers_that_int64_cannot_hold_are_refused_not_wrapped():
    class Huge:
        def keys(self, cells):
            return (np.full(cells.prob.shape, 2**63, dtype=np.uint64),)

    with refused(
        ScoreError, what="a score's keys(cells)", expected="return integers below 2**63", received="9223372036854775808"
    ):
        rs.calibrate([[0.5, 0.5]], [0], score=Huge())


def test_a_nan_for_all_rows_is_named_with_the_first():
    class Lost:
        def keys(self, cells):
            return (np.nan,)

    with refused(
        ScoreError,
        what="a score's keys",
        received="NaN from <tests.scores.test_own_scores.test_a_nan_for_all_rows_is_named_with_the_first.<…",
        row=0,
    ):
        rs.calibrate([[0.5, 0.5]], [0], score=Lost())


def test_a_score_must_return_as_many_keys_at_prediction_as_at_calibration():
    class Growing:
        def keys(self, cells):
            return (cells.prob,) * (1 if len(cells) == 9 else 2)

    rule = rs.calibrate([[0.5, 0.5]] * 9, [0] * 9, score=Growing())
    for ask in (lambda: rule.predict([[0.5, 0.5]], 0.1), lambda: rule.p_values([[0.5, 0.5]])):
        with refused(
            ScoreError,
            what="a score's keys(cells)",
            expected="return arrays of float64, as in the calibration",
            received="float64, float64",
        ):
            ask()


def test_clusters_are_a_list_of_names():
    for clusters in ("ab", 3):
        with refused(KindError, what="clusters", expected="be a list with one cluster name per class, in column order"):
            rs.PerLabel(clusters)


def test_a_tie_break_does_not_take_the_rows_of_an_array_for_keys():
    class Bare:
        def keys(self, cells):
            return -cells.prob

    for score in (Bare(), rs.TieBreak(Bare())):
        with refused(ScoreError, what="a score's keys(cells)", expected="return a tuple of arrays", received="ndarray"):
            rs.calibrate(PROBS, LABELS, score=score)


def test_masses_of_a_transform_with_negative_entries_are_refused_with_the_right_row():
    class Logs:
        def transform(self, probs):
            return np.log(probs)

        def keys(self, cells):
            return (cells.mass,)

    rows = np.vstack([np.full((3, 1), 1.0)] * 2)
    assert rs.calibrate(rows, [0] * 6, score=Logs()).n == 6
    with refused(InputError.not_addable(0, -0.6931471805599453, -1.3862943611198906)):
        rs.calibrate([[0.5, 0.5]] * 6, [0] * 6, score=Logs())


@pytest.mark.parametrize("change", [lambda p: np.where(p < 0.4, np.nan, p), lambda p: p + 0j])
def test_a_transform_must_return_real_numbers(change):
    with refused(
        ScoreError,
        what="a score's transform(probs)",
        expected="return real numbers without NaN in the shape of its input, (4, 2)",
    ):
        rs.calibrate([[0.6, 0.4 - 1e-9]] * 4, [0, 1, 1, 0], score=Shaped(change))


def test_keys_must_be_of_one_kind_at_calibration_and_prediction():
    class Moody:
        def keys(self, cells):
            return (cells.rank if len(cells) == 9 else cells.rank * 1.0,)

    rule = rs.calibrate([[0.6, 0.4]] * 9, [0] * 9, score=Moody())
    with refused(
        ScoreError,
        what="a score's keys(cells)",
        expected="return arrays of int64, as in the calibration",
        received="float64",
    ):
        rule.predict([[0.6, 0.4]], 0.1)


@pytest.mark.parametrize("clusters", [{0: "a", 1: "b"}, {"a", "b"}])
def test_clusters_come_in_column_order(clusters):
    with refused(KindError, what="clusters", expected="be a list with one cluster name per class, in column order"):
        rs.PerLabel(clusters)


@pytest.mark.parametrize(
    "make",
    [lambda: rs.Raps(penalty=10**400), lambda: rs.Raps(free_ranks=10**30), lambda: rs.Raps(penalty=np.complex64(1))],
)
def test_parameters_beyond_reason_are_refused(make):
    with refused(ScoreError):
        make()


def test_a_huge_penalty_is_no_trouble():
    rule = rs.calibrate(PROBS, LABELS, score=rs.Raps(penalty=1e308, free_ranks=0))
    assert rule.predict(PROBS, 0.5).sizes.max() <= PROBS.shape[1]


def test_a_subclass_of_rank_with_keys_of_its_own_is_not_taken_for_rank():
    class Odd(rs.Rank):
        def keys(self, cells):
            return (-cells.prob,)

    with refused(
        RuleError,
        what="rank_profile",
        received="the score test_a_subclass_of_rank_with_keys_of_its_own_is_not_taken_for_rank.<locals>.Odd()",
        expected="be used with a rule that orders labels by rank",
    ):
        rs.calibrate(PROBS, LABELS, score=Odd()).rank_profile(0.1)
    expected = rs.calibrate(PROBS, LABELS, score=rs.Thr()).predict(PROBS, 0.2)
    assert rs.calibrate(PROBS, LABELS, score=Odd()).predict(PROBS, 0.2) == expected


class Gap:
    def keys(self, cells):
        return (cells.top - cells.prob,)


class GapBeforeRank(Gap, rs.Rank):
    pass


class GapInTieBreak(rs.TieBreak):
    def keys(self, cells):
        return (cells.top - cells.prob,)


def with_keys_of_its_own():
    score = rs.Rank()
    object.__setattr__(score, "keys", Gap().keys)
    return score


@pytest.mark.parametrize(
    "score", [GapBeforeRank(), GapInTieBreak(rs.Rank()), with_keys_of_its_own()], ids=["mixin", "wrapper", "instance"]
)
def test_what_a_class_declares_does_not_hold_for_other_keys(score):
    rule = rs.calibrate(PROBS, LABELS, score=score)
    expected = rs.calibrate(PROBS, LABELS, score=Gap()).predict(PROBS, 0.2)
    assert (rule.predict(PROBS, 0.2).mask == expected.mask).all()
    assert (rule.predict(PROBS, 0.2).mask == (rule.p_values(PROBS) > 0.2)).all()
    with refused(RuleError, what="rank_profile", expected="be used with a rule that orders labels by rank"):
        rule.rank_profile(0.1)


def test_unsigned_and_narrow_keys_are_compared_by_value():
    class Narrow:
        def __init__(self, dtype):
            self.dtype = dtype

        def keys(self, cells):
            return (cells.rank.astype(self.dtype),)

    expected = rs.calibrate(PROBS, LABELS, score=rs.TopK()).predict(PROBS, 0.2)
    for dtype in (np.uint64, np.int8, np.uint16, np.float32, np.float16):
        assert rs.calibrate(PROBS, LABELS, score=Narrow(dtype)).predict(PROBS, 0.2) == expected


def test_ragged_keys_are_refused():
    class Ragged:
        def keys(self, cells):
            return ([[1], [1, 2]],)

    with refused(
        ScoreError,
        what="a score's keys(cells)",
        expected="return arrays of real numbers",
        received="rows of different lengths",
    ):
        rs.calibrate(PROBS, LABELS, score=Ragged())


def test_a_transform_may_return_any_real_dtype():
    expected = rs.calibrate(PROBS, LABELS, score=Shaped(lambda p: np.round(p * 8))).predict(PROBS, 0.2)
    for dtype in (np.float32, np.int64, np.uint8):
        score = Shaped(lambda p, dtype=dtype: np.round(p * 8).astype(dtype))
        rule = rs.calibrate(PROBS, LABELS, score=score)
        assert rule.calibration.keys[0].dtype == np.float64
        assert rule.predict(PROBS, 0.2) == expected


def test_minus_zero_and_zero_are_one_key_down_to_the_bytes():
    class Zeros:
        def __init__(self, zero):
            self.zero = zero

        def keys(self, cells):
            return (np.full(cells.prob.shape, self.zero),)

    plus, minus = (rs.calibrate(PROBS, LABELS, score=Zeros(zero)).calibration.keys[0] for zero in (0.0, -0.0))
    assert plus.tobytes() == minus.tobytes()


@dataclass(frozen=True)
class Reaching:
    """THR that tells what it is told to tell of its reach."""

    answer: object

    def keys(self, cells):
        return (-cells.prob,)

    def reach(self, bounds):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        (
            None,
            like(
                ScoreError,
                what="a score's reach(bounds)",
                received="NoneType from Reaching(answer=None)",
                expected="return a rankset.Reach",
                remedy="See the example in help(rankset.Reach). If the score has no such limits, do not define reach.",
            ),
        ),
        (
            rs.Reach(prob=np.nan),
            like(
                ScoreError,
                what="a score's reach(bounds)",
                received="prob=nan from Reaching(answer=Reach(rank=inf, before=inf, prob=nan, behind=inf))",
                expected="return numbers or arrays of shape (2,), without NaN",
                remedy="See the example in help(rankset.Reach). If the score has no such limits, do not define reach.",
            ),
        ),
        (
            rs.Reach(rank=np.arange(3)),
            like(
                ScoreError,
                what="a score's reach(bounds)",
                expected="return numbers or arrays of shape (2,), without NaN",
                remedy="See the example in help(rankset.Reach). If the score has no such limits, do not define reach.",
            ),
        ),
        (
            rs.Reach(before="all"),
            like(
                ScoreError,
                what="a score's reach(bounds)",
                received="before='all' from Reaching(answer=Reach(rank=inf, before='all', prob=-inf, behind=inf))",
                remedy="See the example in help(rankset.Reach). If the score has no such limits, do not define reach.",
            ),
        ),
        (
            rs.Reach(behind=None),
            like(
                ScoreError,
                what="a score's reach(bounds)",
                received="behind=None from Reaching(answer=Reach(rank=inf, before=inf, prob=-inf, behind=None))",
                remedy="See the example in help(rankset.Reach). If the score has no such limits, do not define reach.",
            ),
        ),
    ],
    ids=repr,
)
def test_a_reach_that_cannot_be_is_refused(answer, refusal):
    rule = rs.calibrate(PROBS, LABELS, score=Reaching(answer))
    with refused(refusal):
        rule.predict(PROBS, 0.1)


@pytest.mark.parametrize(
    "reach", [rs.Reach(), rs.Reach(rank=2), rs.Reach(rank=3.5, prob=-1), rs.Reach(behind=1)], ids=repr
)
def test_a_reach_may_be_numbers(reach):
    ours = rs.calibrate(PROBS, LABELS, score=Reaching(reach)).predict(PROBS, 0.4)
    theirs = rs.calibrate(PROBS, LABELS, score=rs.Thr()).predict(PROBS, 0.4)
    assert (ours.mask <= theirs.mask).all()
    assert ours == theirs or reach == rs.Reach(rank=2)


def test_a_feature_that_cells_do_not_have_is_named_with_those_they_have():
    with pytest.raises(AttributeError, match="cells have no 'probs'; they have column, prob, rank, mass"):
        rs.calibrate(PROBS, LABELS, score=Own(lambda cells: (cells.probs,)))


def test_a_score_that_draws_and_has_not_declared_it_is_told_so():
    class Undeclared:
        features = ("rank",)

        def keys(self, cells):
            return (cells.rank + cells.noise,)

    with refused(
        ScoreError,
        what="a score that reads cells.noise",
        received="<tests.scores.test_own_scores.test_a_score_that_draws_and_has_not_declared_it_i…",
        expected="have 'noise' among its features",
        remedy="Add 'noise' to features, or do not define features.",
    ):
        rs.calibrate(PROBS, LABELS, score=Undeclared())


def test_a_reach_of_nothing_keeps_nothing_else():
    rule = rs.calibrate(PROBS, LABELS, score=Reaching(rs.Reach(rank=-np.inf)))
    assert rule.predict(PROBS, 0.1).sizes.max() <= len(PROBS[0])


@pytest.mark.parametrize("kind", ["probs", "logits"])
@pytest.mark.parametrize("score", [rs.Rank(), rs.Raps(1e300, 1), rs.Saps(1e308), rs.Margin()], ids=repr)
def test_users_who_want_to_hear_of_every_overflow_hear_nothing(kind, score):
    rows = np.asarray(PROBS, dtype=np.float32) * (1 if kind == "probs" else 3000)
    with np.errstate(all="raise"):
        rule = rs.calibrate(rows, LABELS, score=score, kind=kind)
        rule.predict(rows, 0.1)
        rule.p_values(rows)


@dataclass(frozen=True)
class Weighted:
    """A score of one's own that holds an array."""

    weights: np.ndarray
    features = ("prob", "column")

    def keys(self, cells):
        return (-cells.prob * self.weights[cells.column],)


def test_rules_whose_score_holds_an_array_compare_and_merge():
    first, second, other = (Weighted(np.array(weights)) for weights in ([1.0, 2, 3], [1.0, 2, 3], [3.0, 2, 1]))
    probs, labels = np.random.default_rng(0).dirichlet(np.ones(3), 60), np.arange(60) % 3
    rules = [
        rs.calibrate(probs[part], labels[part], score=one)
        for part, one in ((slice(30), first), (slice(30, 60), second))
    ]
    assert rules[0].merge(rules[1]) == rs.calibrate(probs, labels, score=first)
    assert rules[0] == rs.calibrate(probs[:30], labels[:30], score=second)
    assert rules[0] != rs.calibrate(probs[:30], labels[:30], score=other)
    with pytest.raises(rs.RanksetError) as caught:
        rules[0].merge(rs.calibrate(probs[30:], labels[30:], score=other))
    assert "score" in str(caught.value)
