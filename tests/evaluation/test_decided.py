"""evaluate for decisions: numbers counted one row at a time, words, and refusals."""

import math

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from rankset.core.coverage_law import binomial_interval
from refusals import said

LOGITS, LABELS = rs.datasets.load("carer")
OLD, NEW = slice(0, 1000), slice(1000, 2000)
TRIAGE = rs.triage(LOGITS[OLD], LABELS[OLD], kind="logits")
DONE = TRIAGE.accept(LOGITS[NEW], 0.05)


def test_numbers_are_those_of_counting():
    found = rs.evaluate(DONE, LABELS[NEW], minutes_per_row=3, confidence=0.8)
    accepted = [row for row in range(1000) if DONE.accepted[row]]
    wrong = [row for row in accepted if LOGITS[NEW][row].argmax() != LABELS[NEW][row]]
    assert (found.n, found.accepted, found.wrong) == (1000, len(accepted), len(wrong))
    assert found.error_rate == len(wrong) / len(accepted)
    assert "80% interval" in str(found)
    assert found.interval == binomial_interval(len(wrong), len(accepted), 0.8)
    assert found.share == len(accepted) / 1000
    assert found.reviewed == 1000 - len(accepted)
    assert found.hours_saved == len(accepted) / 20
    assert found.wrong_if_all == np.mean(LOGITS[NEW].argmax(axis=1) != LABELS[NEW])
    assert not found.too_many
    assert "at most 0.05" in str(found)


def test_reviewed_sets_are_measured():
    rule = rs.calibrate(LOGITS[OLD], LABELS[OLD], kind="logits")
    sets = DONE.review(rule, 0.1)
    found = rs.evaluate(DONE, pd.Series(LABELS[NEW]), review=sets)
    assert found.coverage == sets.covers(LABELS[NEW][DONE.rows_to_review]).mean()
    assert found.mean_size == sets.sizes.mean()
    assert f"{found.coverage:.1%} of their sets" in str(found)
    assert "done.review" in said(rs.evaluate, DONE, LABELS[NEW], review=sets[:5])


def test_groups_have_a_table():
    triage = rs.triage(LOGITS[OLD], LABELS[OLD], kind="logits", condition=rs.PerLabel())
    done = triage.accept(LOGITS[NEW], dict.fromkeys(range(6), 0.1) | {1: 0.05})
    found = rs.evaluate(done, LABELS[NEW])
    assert sum(one.n for one in found.groups) == 1000
    assert sum(one.accepted for one in found.groups) == found.accepted
    assert sum(one.wrong for one in found.groups) == found.wrong
    assert [one.error for one in found.groups] == [0.1, 0.05, 0.1, 0.1, 0.1, 0.1]
    assert "in each group, not for all together: an expected share of at most its error" in str(found)
    assert len(found.group_lines()) == 7
    assert found.to_frame("pandas")["group"].tolist() == [f"label {number}" for number in range(6)]


def test_other_meanings_of_right():
    within = rs.triage(LOGITS[OLD], LABELS[OLD], kind="logits", within=2).accept(LOGITS[NEW], 0.05)
    ranks = (LOGITS[NEW] > LOGITS[NEW][np.arange(1000), LABELS[NEW]][:, np.newaxis]).sum(axis=1)
    assert rs.evaluate(within, LABELS[NEW]).wrong == (ranks >= 2)[within.accepted].sum()
    right = LOGITS.argmax(axis=1) == LABELS
    told = rs.triage(LOGITS[OLD].max(axis=1), right[OLD]).accept(LOGITS[NEW].max(axis=1), 0.1)
    assert rs.evaluate(told, right[NEW]).wrong == (~right[NEW])[told.accepted].sum()
    assert "True or False" in said(rs.evaluate, told, LABELS[NEW])


def test_too_many_errors_say_what_to_check():
    found = rs.evaluate(DONE, (LABELS[NEW] + 1) % 6)
    assert found.too_many
    assert "Check:" in str(found)
    assert "wrong" in found._repr_html_()


@pytest.mark.parametrize(("n", "m"), [(200, 1000), (500, 5000)])
def test_chance_seldom_gives_an_alarm(n, m):
    """The cut of a batch varies with the rows of the triage, too."""
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(150):
        sure = rng.random(n + m)
        right = rng.random(n + m) >= 0.6 * (1 - sure) ** 3
        done = rs.triage(sure[:n], right[:n]).accept(sure[n:], 0.1)
        alarms += rs.evaluate(done, right[n:]).too_many
    assert alarms <= 15


def test_a_group_with_too_many_errors_is_named():
    probs = np.tile([[0.9, 0.1], [0.1, 0.9]], (2000, 1))
    labels = np.tile([0, 1], 2000)
    triage = rs.triage(probs, labels, condition=rs.PerLabel())
    labels[np.arange(0, 4000, 20)] = 1
    found = rs.evaluate(triage.accept(probs, {0: 0.01, 1: 0.3}), labels)
    assert found.too_many
    assert [one.too_many for one in found.groups] == [True, False]
    assert "than promised in 'label 0'," in str(found)


def test_true_labels_can_be_column_numbers_of_names():
    names = ["a", "b", "c", "d", "e", "f"]
    done = rs.triage(LOGITS[OLD], LABELS[OLD], kind="logits", classes=names).accept(LOGITS[NEW], 0.05)
    assert rs.evaluate(done, LABELS[NEW]).wrong == rs.evaluate(done, np.array(names)[LABELS[NEW]]).wrong


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_nothing_accepted_has_no_error_rate():
    found = rs.evaluate(TRIAGE.accept(LOGITS[NEW], 0.0001), LABELS[NEW])
    assert math.isnan(found.error_rate)
    assert (found.accepted, found.too_many) == (0, False)
    assert "–" in str(found)


def test_a_gate_says_its_confidence():
    found = rs.evaluate(TRIAGE.threshold(0.1).decide(LOGITS[NEW]), LABELS[NEW])
    assert found.sure == 0.95
    assert "with confidence 0.95" in str(found)


def test_bad_arguments_are_refused():
    assert "alpha" in said(rs.evaluate, DONE, LABELS[NEW], 0.1)
    assert "groups" in said(rs.evaluate, DONE, LABELS[NEW], groups=["a"] * 1000)
    assert said(rs.evaluate, DONE, LABELS[OLD][:10])
    assert said(rs.evaluate, DONE, LABELS[NEW], minutes_per_row=-1)
    assert said(rs.evaluate, DONE, LABELS[NEW], confidence=2)
    assert said(rs.evaluate, TRIAGE.accept(LOGITS[:0], 0.1), [])
    sets = rs.calibrate(LOGITS, LABELS, kind="logits").predict(LOGITS, 0.1)
    assert "decisions" in said(rs.evaluate, sets, LABELS, minutes_per_row=1)
