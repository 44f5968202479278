"""Sets asked for in parts are the sets asked for at once: every score, condition, kind of rows and size of parts."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankset as rs
from rankset.errors import InputError, KindError
from refusals import refused
from strategies import RANDOMIZED, Problem, alphas, problems_with_news, scores

MAKE = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
GROUPED = [rs.PerGroup(), rs.PerLabelAndGroup(rs.PerGroup(), rs.Marginal())]


@dataclass(frozen=True)
class Question:
    """A rule, and new rows as users pass them."""

    rule: rs.Rule
    rows: Any
    asked: dict

    @property
    def n(self):
        return len(self.rows)

    def at_once(self, alpha, **options):
        return self.rule.predict(self.rows, alpha, **self.asked, **options)

    def in_parts(self, alpha, rows, **options):
        return list(self.rule.predict_parts(self.rows, alpha, rows=rows, **self.asked, **options))


def ragged(probs, counts):
    """The first ``counts`` columns of each row, as probabilities, with padding that is no number."""
    inside = np.arange(probs.shape[1]) < counts[:, np.newaxis]
    kept = np.where(inside, probs, 0)
    kept[:, 0] += kept.sum(axis=1) == 0
    return rs.Ragged(np.where(inside, kept / kept.sum(axis=1, keepdims=True), np.nan), counts)


@st.composite
def questions(draw, shapes=("array", "logits", "ragged", "pandas", "polars", "pyarrow")):
    shape, drawing, grouped = draw(st.sampled_from(shapes)), draw(st.booleans()), draw(st.booleans())
    problem, news = draw(
        problems_with_news(
            score=st.sampled_from(RANDOMIZED) if drawing else scores,
            condition=st.sampled_from(GROUPED) if grouped else None,
            min_rows=15,
            max_rows=40,
        )
    )
    if drawing:
        problem = replace(problem, ids=list(range(problem.n)))
        news = replace(news, ids=list(range(90, 90 + news.n)))
    width = problem.probs.shape[1]
    asked = {**news.keywords, "ids": news.ids}
    if shape == "array":
        return Question(quietly(problem.calibrate), news.probs, asked)
    if shape == "logits":
        with np.errstate(divide="ignore"):
            old, new = np.log(problem.probs), np.log(news.probs)
        return Question(quietly(calibrated, problem, old, kind="logits"), new, asked)
    if shape == "ragged":
        counts = st.integers(1, width)
        old, new = (
            ragged(part.probs, np.array(draw(st.lists(counts, min_size=part.n, max_size=part.n)), dtype=int))
            for part in (problem, news)
        )
        labels = np.minimum(problem.labels, old.counts - 1)
        return Question(quietly(calibrated, problem, old, labels), new, asked)
    names = [f"class {column}" for column in range(width)]
    columns = {names[column]: news.probs[:, column] for column in draw(st.permutations(range(width)))}
    frame = MAKE[shape](columns)
    if shape == "pandas":
        frame.index = draw(indices(news.n))
    rule = quietly(calibrated, problem, problem.probs, np.array(names)[problem.labels], classes=names)
    return Question(rule, frame, asked)


def indices(n):
    """Indices of n rows: numbers or texts in any order, some of them repeated, or of two levels."""
    texts = st.lists(st.sampled_from("abcdefghij"), min_size=n, max_size=n)
    pairs = texts.map(lambda names: pd.MultiIndex.from_arrays([names, range(n)], names=["site", "case"]))
    return st.one_of(
        st.permutations(range(n)).map(lambda numbers: pd.Index(numbers, dtype=int)),
        texts.map(lambda names: pd.Index(names, dtype=object, name="id")),
        pairs,
    )


def calibrated(problem: Problem, values, labels=None, **options):
    asked = {"score": problem.score, "condition": problem.condition, "ids": problem.ids, **problem.keywords}
    return rs.calibrate(values, problem.labels if labels is None else labels, **asked, **options)


def quietly(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RanksetWarning)
        return function(*arguments, **options)


def heard(function, *arguments, **options):
    """What a function returns, and what it warned of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        answer = function(*arguments, **options)
    return answer, [str(one.message) for one in said]


def table(sets):
    """The frame of some sets, as plain values that can be compared: its library, its index, its cells."""
    frame = sets.to_frame()
    index = frame.index.tolist() if isinstance(frame, pd.DataFrame) else None
    return type(frame), index, sets.to_lists()


@settings(max_examples=2 * settings.default.max_examples)
@given(questions(), st.sampled_from([0.1, 0.3, "0.5", 0.8]), st.integers(1, 4), st.sampled_from(["allow", "top"]))
def test_parts_joined_are_the_whole(question, alpha, rows, empty):
    whole, said = heard(question.at_once, alpha, empty=empty)
    parts, said_of_parts = heard(question.in_parts, alpha, rows, empty=empty)
    assert [len(part) for part in parts] == [
        min(rows, question.n - start) for start in range(0, max(question.n, 1), rows)
    ]
    joined = rs.PredictionSets.concat(parts)
    assert joined == whole
    assert joined.offsets.tobytes() == whole.offsets.tobytes()
    assert joined.codes.tobytes() == whole.codes.tobytes()
    assert table(joined) == table(whole)
    assert said_of_parts == said
    for part in parts:
        assert (part.level, part.law, part.names) == (whole.level, whole.law, whole.names)


@given(questions(shapes=("pandas", "polars", "pyarrow")), alphas, st.integers(1, 4))
def test_every_part_has_the_frame_and_the_index_of_its_own_rows(question, alpha, rows):
    whole = quietly(question.at_once, alpha).to_frame()
    for number, part in enumerate(quietly(question.in_parts, alpha, rows)):
        piece = part.to_frame()
        assert type(piece) is type(whole)
        assert len(piece) == len(part)
        if isinstance(whole, pd.DataFrame):
            assert piece.index.equals(whole.index[number * rows : (number + 1) * rows])


@given(questions(shapes=("array", "ragged")), alphas, st.integers(1, 3), st.data())
def test_an_error_in_a_later_part_names_the_row_it_would_name_at_once(question, alpha, rows, data):
    if question.n == 0:
        return
    row = data.draw(st.integers(0, question.n - 1))
    values = np.array(question.rows.values if isinstance(question.rows, rs.Ragged) else question.rows)
    values[row, 0] = 7.0
    bad = rs.Ragged(values, question.rows.counts) if isinstance(question.rows, rs.Ragged) else values
    for options in ({"rows": rows}, {"rows": None}):
        with refused(InputError, what="probs", expected="have rows that sum to 1 within 0.01", row=row):
            list(quietly(question.rule.predict_parts, bad, alpha, **question.asked, **options))


N = 40
ALIKE = np.tile([0.4, 0.3, 0.2, 0.1], (N, 1))
"""Rows that only their ids, their groups and their counts tell apart."""


@pytest.mark.parametrize("score", [rs.Rank(), *RANDOMIZED, rs.TieBreak(rs.Rank())], ids=repr)
@pytest.mark.parametrize("rows", [1, 7, 39, 40, 41])
def test_equal_rows_of_other_groups_ids_and_counts_keep_their_own_sets_in_every_part(score, rows):
    """North's labels are all likely and south's all unlikely, so sets differ by group; draws differ by id."""
    groups, ids, counts = np.array(["north", "south"])[np.arange(N) // 5 % 2], np.arange(N), 1 + np.arange(N) % 4
    labels = np.where(groups == "north", 0, counts - 1)
    told = {"groups": groups, "ids": ids}
    values = ragged(ALIKE, counts)
    rule = rs.calibrate(values, labels, score=score, condition=rs.PerGroup(), **told)
    whole = rule.predict(values, 0.3, **told)
    assert len(set(map(tuple, whole.to_lists()))) > 2
    assert rs.PredictionSets.concat(rule.predict_parts(values, 0.3, rows=rows, **told)) == whole


@pytest.mark.parametrize("plain", ["0", "1"])
@pytest.mark.parametrize("condition", [rs.Marginal(), rs.PerGroup()], ids=repr)
def test_parts_of_a_matrix_that_is_worth_compiling(plain, condition, monkeypatch):
    """Large enough for compiled loops, in parts that end within blocks."""
    monkeypatch.setenv("RANKSET_PLAIN", plain)
    monkeypatch.setenv("RANKSET_BLOCK_BYTES", str(1 << 20))
    rng = np.random.default_rng(0)
    n, width = 9000, 1000
    probs = rng.random((500, width), dtype=np.float32) ** 8
    probs = np.tile(probs / probs.sum(axis=1, keepdims=True), (n // 500, 1))
    told = {"ids": np.arange(n)}
    if condition.needs_groups:
        told["groups"] = np.array(["north", "south"])[rng.integers(0, 2, n)]
    few = {name: values[:500] for name, values in told.items()}
    rule = rs.calibrate(probs[:500], probs[:500].argsort(axis=1)[:, -3], score=rs.Aps(), condition=condition, **few)
    whole = rule.predict(probs, 0.2, **told)
    assert rs.PredictionSets.concat(rule.predict_parts(probs, 0.2, rows=3571, **told)) == whole


@pytest.mark.parametrize("rows", [0, -1, True, 1.5, "2"])
def test_parts_of_no_whole_number_of_rows_are_refused(rows):
    rule = rs.calibrate(ALIKE, np.zeros(N, dtype=int))
    with refused(KindError, what="rows", expected="be an integer of at least 1, or None for all rows at once"):
        rule.predict_parts(ALIKE, 0.1, rows=rows)
