"""One row alone, rows in a matrix, and marks in a matrix give the same sets, byte for byte."""

import pickle
from dataclasses import fields, replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset.core import narrow
from rankset.core import one_row as core_one_row
from rankset.rules import batch, marking, one_row
from strategies import ORDER_ONLY, PER_SCORE, SCORES, alphas, cases, problems_with_news, sized, wide_rows

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")


def bits(sets):
    """All that sets are, arrays with their types."""
    arrays = [(array.dtype, array.tobytes()) for array in (sets.offsets, sets.codes)]
    return (*arrays, sets.names, sets.level, sets.law, sets.proven, sets.template, sets.options)


def general(at, rows, **keywords):
    """The sets of rows by the general path: no row alone, no marks."""
    with mock.patch.object(marking, "MOST_ENTRIES", -1), mock.patch.object(one_row.OneRow, "codes", return_value=None):
        fresh = pickle.loads(pickle.dumps(at))  # noqa: S301
        return fresh.predict(rows, **keywords)


@given(problems_with_news(), alphas)
def test_a_row_alone_gets_the_set_it_gets_among_others(case, alpha):
    problem, news = case
    rule = problem.calibrate()
    at = rule.at(alpha)
    for rows in (problem, news):
        expected = general(at, rows.probs, ids=rows.ids, **rows.keywords)
        assert bits(at.predict(rows.probs, ids=rows.ids, **rows.keywords)) == bits(expected)
        for number in range(rows.n):
            own = rows.rows([number])
            keywords = {"ids": own.ids, **own.keywords}
            alone = general(at, own.probs, **keywords)
            assert alone.codes.tobytes() == expected.codes[slice(*expected.offsets[number : number + 2])].tobytes()
            for sets in (
                at(own.probs, **keywords),
                at(own.probs[0], **keywords),
                at(own.probs[0].tolist(), **keywords) if own.probs.dtype == np.float64 else alone,
                at.predict(own.probs, **keywords),
                rule.predict(own.probs, alpha, **keywords),
            ):
                assert bits(sets) == bits(alone)
                assert sets[0].tolist() == alone.to_lists()[0]


@pytest.mark.parametrize("score", SCORES, ids=repr)
@PER_SCORE
@given(problems_with_news(min_rows=1, max_columns=6), alphas, st.booleans())
def test_rows_ranked_by_columns_get_the_sets_they_get_by_rows(score, case, alpha, network):
    problem, news = case
    score = sized(score, problem.probs.shape[1])
    rule = replace(problem, score=score).calibrate()
    for rows in (problem, news):
        with mock.patch.object(batch, "MOST_COLUMNS", 0), mock.patch.object(marking, "MOST_ENTRIES", -1):
            expected = rows.predict(rule, alpha), rows.predict(rule, alpha, empty="top")
        with mock.patch.object(narrow, "FEW_ROWS", 0 if network else 10**9):
            found = rows.predict(rule, alpha), rows.predict(rule, alpha, empty="top")
            assert list(map(bits, found)) == list(map(bits, expected))


@pytest.mark.parametrize("score", SCORES, ids=repr)
@PER_SCORE
@given(cases, alphas)
def test_a_wide_row_alone_gets_the_set_it_gets_among_others(score, case, alpha):
    probs, labels = wide_rows(*case)
    at = rs.calibrate(probs, labels, score=sized(score, probs.shape[1])).at(alpha)
    expected = general(at, probs)
    assert at(probs) == expected
    for number, row in enumerate(probs):
        assert at(row)[0].tolist() == at(probs[:, ::1])[number].tolist() == expected[number].tolist()


@pytest.mark.parametrize("n_columns", [core_one_row.HEAD - 1, core_one_row.HEAD, core_one_row.HEAD + 1])
@pytest.mark.parametrize("score", [rs.Aps(randomized=False), rs.Aps()], ids=repr)
def test_the_entries_added_up_at_first_may_be_all_of_a_row(score, n_columns):
    flat = np.full((40, n_columns), 1 / n_columns)
    at = rs.calibrate(flat, np.full(40, n_columns - 1), score=score).at(0.1)
    expected = general(at, flat[:1])
    assert n_columns - 1 in expected[0]
    assert bits(at(flat[0])) == bits(expected)


@pytest.mark.parametrize("kind", ["logits", "decision"])
@pytest.mark.parametrize("score", [*ORDER_ONLY, rs.Aps(), rs.Raps(penalty=0.05, free_ranks=2)], ids=repr)
@given(seed=st.integers(0, 2**32), n_columns=st.sampled_from([1, 2, 5, 16, 17, 70, 200]), alpha=alphas)
@PER_SCORE
def test_logits_and_decisions_too(kind, score, seed, n_columns, alpha):
    if kind == "decision" and score not in ORDER_ONLY:
        return
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(25, n_columns)) * 4, rng.integers(0, 3)).astype(rng.choice(["f4", "f8"]))
    values[rng.random(values.shape) < 0.1] = -np.inf
    values[:, 0] = rng.normal(size=25)
    at = rs.calibrate(values, rng.integers(0, n_columns, 25), score=score, kind=kind).at(alpha)
    expected = general(at, values)
    assert bits(at(values)) == bits(expected)
    assert [at(row)[0].tolist() for row in values] == expected.to_lists()


@pytest.mark.parametrize("score", [rs.Rank(), rs.Thr(), rs.Aps(), rs.Margin(), rs.TopK()], ids=repr)
def test_a_usual_row_takes_the_short_path(score):
    probs, labels = wide_rows(1, 30, 90, 1e6, np.float32)
    at = rs.calibrate(probs, labels, score=score).at(0.2)
    with mock.patch.object(rs.LevelRule, "_batch", side_effect=AssertionError("the general path")):
        assert len(at(probs[3])) == len(at.predict(probs[3:4].astype(np.float64))) == 1


WRONG = {
    "NaN": [0.5, np.nan, 0.5],
    "negative": [0.75, -0.25, 0.5],
    "sum": [0.5, 0.25, 0.5],
    "infinite": [0.5, np.inf, 0.5],
    "huge": [1e308, 1e308, 1e308],
    "tiny": [1e-310, 1e-310, 0.2],
}


@pytest.mark.parametrize("values", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("score", [rs.Rank(), rs.Thr(), rs.Aps()], ids=repr)
def test_a_wrong_row_alone_is_refused_as_in_a_matrix(score, values):
    probs = np.array([[0.7, 0.2, 0.1]] * 30)
    at = rs.calibrate(probs, [0] * 20 + [1] * 10, score=score).at(0.2)
    with np.errstate(all="raise"), pytest.raises(rs.RanksetError) as among:
        at.predict(np.array([values, [0.5, 0.5, 0.0]]))
    for row in (np.array(values), np.array([values]), values):
        with np.errstate(all="raise"), pytest.raises(rs.RanksetError) as alone:
            at(row)
        assert str(alone.value) == str(among.value)


@pytest.mark.parametrize("kind", ["logits", "decision"])
@pytest.mark.parametrize(
    "values", [[-1, np.nan, 2], [-1, np.inf, 2], [-np.inf] * 3, [np.nan] * 3, [-np.inf, np.nan, 1]]
)
def test_wrong_numbers_alone_are_refused_as_in_a_matrix(kind, values):
    numbers = np.random.default_rng(0).normal(size=(30, 3))
    at = rs.calibrate(numbers, numbers.argmax(axis=1), score=rs.Rank(), kind=kind).at(0.2)
    with pytest.raises(rs.RanksetError) as among:
        at(np.array([values, [1.0, -2.0, 0.0]]))
    with np.errstate(all="raise"), pytest.raises(rs.RanksetError) as alone:
        at(np.array(values, dtype=float))
    assert str(alone.value) == str(among.value)


@pytest.mark.parametrize("total", [0.9898, 0.98995, 0.99005, 1.00995, 1.01005, 1.0102])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sum_at_the_end_of_the_tolerance_is_judged_alone_as_in_a_matrix(dtype, total):
    probs, labels = np.full((30, 2000), 1 / 2000, dtype=dtype), np.arange(30)
    at = rs.calibrate(probs, labels, score=rs.TopK()).at(0.2)
    row = np.full(2000, total / 2000, dtype=dtype)
    answers = []
    for rows in (np.array([row, probs[0]]), row):
        try:
            answers.append(at(rows)[0].tolist())
        except rs.RanksetError as error:
            answers.append(str(error))
    assert answers[0] == answers[1]
    assert isinstance(answers[0], str) is (abs(total - 1) > 0.01)


@pytest.mark.parametrize("row", [[0.1, 0.2, 0.7], [0.0, 0.3, 0.7], [0.0, 1.0, 0.0]], ids=str)
def test_logits_that_look_like_probabilities_are_told_alone_too(row):
    logits = np.random.default_rng(0).normal(size=(40, 3))
    at = rs.calibrate(logits, [0, 1] * 20, kind="logits").at(0.2)
    for rows in (np.array(row), np.array([row]), np.array([row, row])):
        with pytest.warns(rs.RanksetWarning, match="look like probabilities"):
            at(rows)


@pytest.mark.parametrize("score", [rs.Rank(), rs.Thr(), rs.Aps()], ids=repr)
def test_too_few_calibration_rows_are_told_alone_too(score):
    at = rs.calibrate([[0.7, 0.2, 0.1]] * 5, [0, 0, 0, 0, 1], score=score).at(0.1)
    for rows in ([0.5, 0.5, 0.0], np.array([[0.5, 0.5, 0.0]]), np.array([[0.5, 0.5, 0.0]] * 2)):
        with pytest.warns(rs.RanksetWarning):
            sets = at(rows)
        assert sets[0].tolist() == [0, 1, 2]


def test_the_row_that_was_passed_may_change_afterwards():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(6), 50)
    at = rs.calibrate(probs, probs.argmax(axis=1), score=rs.Thr()).at(0.2)
    for rows in (probs.copy(), probs[:1].copy()):
        sets, expected = at.predict(rows), general(at, rows)
        rows[:] = rows[:, ::-1]
        assert sets == expected


LOOKS = {
    "sizes": lambda sets, _: sets.sizes.tolist(),
    "mask": lambda sets, _: sets.mask.tolist(),
    "covers": lambda sets, labels: sets.covers(labels).tolist(),
    "absent": lambda sets, labels: sets.covers(np.array([rs.ABSENT, *labels[1:].tolist()], dtype=object)).tolist(),
    "row": lambda sets, _: sets[len(sets) // 2].tolist(),
    "slice": lambda sets, _: bits(sets[1::2]),
    "some": lambda sets, _: sets[sets.sizes > 1].to_lists(),
    "none": lambda sets, _: sets[:0].to_lists(),
    "iteration": lambda sets, _: [row.tolist() for row in sets],
    "text": lambda sets, _: repr(sets),
    "pickle": lambda sets, _: bits(pickle.loads(pickle.dumps(sets))),  # noqa: S301
    "joined": lambda sets, _: bits(rs.PredictionSets.concat([sets, sets])),
    "length": lambda sets, _: len(sets),
    "bits": lambda sets, _: bits(sets),
}


@given(cases, alphas, st.lists(st.sampled_from(sorted(LOOKS)), min_size=1, max_size=5))
def test_marks_answer_every_question_as_lists_do(case, alpha, looks):
    probs, labels = wide_rows(*case)
    at = rs.calibrate(probs, labels, score=rs.Thr()).at(alpha)
    marked, listed = at.predict(probs), general(at, probs)
    for look in looks:
        assert LOOKS[look](marked, labels) == LOOKS[look](listed, labels)
    assert marked == listed


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [0, 2, 900])
def test_a_usual_matrix_is_marked_without_preparation(n_rows, dtype, order):
    probs, labels = wide_rows(3, 40, 20, 1e6, dtype)
    at = rs.calibrate(probs, labels, score=rs.Thr()).at(0.2)
    rows = np.asarray(np.resize(probs, (n_rows, 20)), order=order)
    expected = general(at, rows)
    with mock.patch.object(rs.LevelRule, "_batch", side_effect=AssertionError("the general path")):
        assert bits(at(rows)) == bits(expected)


def test_what_marks_give_away_cannot_change_the_sets():
    probs, labels = wide_rows(2, 20, 50, 1e6, np.float64)
    sets = rs.calibrate(probs, labels, score=rs.Thr()).predict(probs, 0.2)
    before = sets.mask
    sets.mask[:] = True
    assert (sets.mask == before).all()
    with pytest.raises(ValueError, match="read-only"):
        sets.codes[0] = 1


def test_pickled_marks_keep_no_copy_of_the_rows():
    probs, labels = wide_rows(2, 20, 50, 1e6, np.float64)
    sets = rs.calibrate(probs, labels, score=rs.Thr()).predict(probs, 0.2)
    again = pickle.loads(pickle.dumps(sets))  # noqa: S301
    assert set(vars(again)) == {field.name for field in fields(rs.PredictionSets)}


@pytest.mark.parametrize("score", [rs.Aps(), rs.TieBreak(rs.Rank())], ids=repr)
def test_a_row_without_its_id_is_refused_alone_too(score):
    rng = np.random.default_rng(2)
    probs, labels = rng.dirichlet(np.ones(4), 60), rng.integers(0, 4, 60)
    rule = rs.calibrate(probs, labels, method=score, ids=range(60))
    for ask in (lambda: rule.predict(probs[:1], 0.1), lambda: rule.at(0.1)(probs[0]), lambda: rule.at(0.1)(probs[:1])):
        with pytest.raises(rs.errors.RuleError, match="ids"):
            ask()
    assert len(rule.predict(probs[:1], 0.1, ids=[0])) == 1
