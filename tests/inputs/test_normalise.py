"""Answers in one spelling."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset.errors import InputError, KindError, LabelError
from rankset.inputs.normalise import normalise_text
from refusals import refused


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (" A", "a"),
        ("A.", "a"),
        ("\tParis!?\n", "paris"),
        ("New   York ,", "new york"),
        ("STRASSE", "strasse"),
        ("straße", "strasse"),
        ("ﬁne", "fine"),
        ("Ａ", "a"),
        ("3.50", "3.50"),
        ("3.", "3"),
        ("?!", "?!"),
        ("", ""),
        ("no . .", "no"),
    ],
)
def test_one_spelling(text, plain):
    assert normalise_text(text) == plain


@given(st.text(max_size=12))
def test_applied_twice_it_changes_nothing(text):
    once = normalise_text(text)
    assert normalise_text(once) == once
    assert once == normalise_text(f"  {text}\n")


def test_containers_stay_what_they_are():
    assert rs.normalise_answers("Yes.") == "yes"
    assert rs.normalise_answers(["Yes.", 7, None, rs.ABSENT]) == ["yes", 7, None, rs.ABSENT]
    assert rs.normalise_answers(("A ", "b")) == ("a", "b")
    array = rs.normalise_answers(np.array(["A ", "b"]))
    assert isinstance(array, np.ndarray)
    assert array.tolist() == ["a", "b"]
    assert rs.normalise_answers(np.array([1, 2])).tolist() == [1, 2]
    series = rs.normalise_answers(pd.Series(["A "], index=["x"]))
    assert series.to_dict() == {"x": "a"}
    assert rs.normalise_answers([["A", "a."], ["B"]]) == [["a", "a"], ["b"]]


def test_numbers_of_one_answer_are_added():
    assert rs.normalise_answers({"A": 0.5, " a": 0.25, "B": 0.25}) == {"a": 0.75, "b": 0.25}
    counts = rs.normalise_answers(Counter(["A", "a", "B"]))
    assert isinstance(counts, Counter)
    assert counts == Counter(a=2, b=1)
    logs = rs.normalise_answers({"A": math.log(0.5), " a": math.log(0.25), "B": -1.0}, kind="logits")
    assert logs == {"a": pytest.approx(math.log(0.75)), "b": -1.0}
    assert rs.normalise_answers({"A": -math.inf, "a": -math.inf}, kind="logits") == {"a": -math.inf}
    assert rs.normalise_answers({"A": -1000.0, "a": -2000.0}, kind="logits") == {"a": -1000.0}
    assert rs.normalise_answers({"A": 1.0, "a": 3.0}, kind="decision") == {"a": 3.0}
    tokens = [{"token": "A", "logprob": math.log(0.5)}, {"token": " A", "logprob": math.log(0.5)}]
    assert rs.normalise_answers([tokens], kind="logits") == [{"a": pytest.approx(0.0)}]
    with refused(InputError.nan_answer()):
        rs.normalise_answers({"A": math.nan, "a": 1.0})


@pytest.mark.parametrize("kind", ["binary", "counts", 3])
def test_kinds_without_names_are_refused(kind):
    with refused(KindError.argument("kind", "'probs', 'logits' or 'decision'", kind)):
        rs.normalise_answers([], kind=kind)


def test_frequencies_on_request():
    samples = [["Yes.", " yes", "NO", "yes"], Counter({"No": 3, "no!": 1})]
    told = rs.frequencies(samples, classes=["No", "Yes"], normalise=True)
    assert told.tolist() == [[0.25, 0.75], [1.0, 0.0]]
    with refused(LabelError.unknown("answers", 0, ["Yes.", " yes", "NO", "yes"], ("No", "Yes"))):
        rs.frequencies(samples, classes=["No", "Yes"])
    with refused(LabelError.duplicates(["no"])):
        rs.frequencies(samples, classes=["No", "no", "Yes"], normalise=True)
    with refused(KindError.argument("normalise", "True or False", 1)):
        rs.frequencies(samples, classes=["No", "Yes"], normalise=1)


def test_rows_and_labels_meet_after_it():
    rows = [{"Paris": 0.5, " paris": 0.25, "Lyon.": 0.25}] * 12
    rule = rs.calibrate(rs.normalise_answers(rows), rs.normalise_answers(["PARIS"] * 11 + ["lyon"]))
    assert rule.classes.tolist() == ["lyon", "paris"]
    assert rule.predict(rs.normalise_answers(rows[:1]), 0.2).to_lists() == [["paris"]]


def test_tokens_have_log_probabilities_whatever_the_kind():
    tokens = [{"token": "A", "logprob": -1.0}, {"token": " a", "logprob": -2.0}, {"token": "B", "logprob": -1.2}]
    (row,) = rs.normalise_answers([tokens])
    assert row == {"a": pytest.approx(np.logaddexp(-1.0, -2.0)), "b": -1.2}


def test_numbers_that_cannot_be_added_are_refused():
    with refused(InputError.negative_answer(-3.0)):
        rs.normalise_answers([{"A": -1.0, " a": -3.0}])
    for kind in ("probs", "logits"):
        for value in (None, "x", float("nan")):
            with refused(InputError.nan_answer()):
                rs.normalise_answers([{"A": value, "a ": 0.5}], kind=kind)
