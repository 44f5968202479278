"""Triages: what counts as right, groups and labels, merging, rows of all kinds, decisions and their frames."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankset as rs
from refusals import said

LOGITS, LABELS = rs.datasets.load("carer")
PROBS = rs.softmax(LOGITS)
OLD, NEW = slice(0, 1000), slice(1000, 2000)
NAMES = ["sadness", "joy", "love", "anger", "fear", "surprise"]


def made(**options):
    return rs.triage(PROBS[OLD], LABELS[OLD], **options)


def test_decisions_say_what_is_accepted():
    done = made().accept(PROBS[NEW], error=0.05)
    assert done.accepted.dtype == bool
    assert done.labels.tolist() == PROBS[NEW].argmax(axis=1).tolist()
    assert done.n_accepted == done.accepted.sum() == len(done.rows) == len(done) - len(done.rows_to_review)
    assert done.share == done.accepted.mean()
    assert done.p_values[done.accepted].max() < done.p_values[~done.accepted].min()
    assert 0 < done.p_values.min() <= done.p_values.max() <= 1
    assert (done.labels != LABELS[NEW])[done.accepted].mean() < 0.08
    assert repr(done) == f"Decisions({done.n_accepted} of 1,000 rows accepted, error=0.05)"


def test_logits_and_probabilities_decide_alike():
    logits = rs.triage(LOGITS[OLD], LABELS[OLD], kind="logits").accept(LOGITS[NEW], 0.05)
    assert logits.accepted.tolist() == made().accept(PROBS[NEW], 0.05).accepted.tolist()


@pytest.mark.filterwarnings("ignore:no threshold passed:rankset.RanksetWarning")
@pytest.mark.parametrize("confidence", ["top", "margin", "two", "entropy", rs.Rank(), rs.TieBreak(rs.TopK())])
def test_every_confidence_decides_and_opens_a_gate(confidence):
    triage = made(confidence=confidence)
    done, gate = triage.accept(PROBS[NEW], 0.08), triage.threshold(0.08)
    if not isinstance(confidence, rs.TieBreak):
        assert done.share > 0.5
        assert gate.share > 0.4
    assert gate.accepts(PROBS[NEW]).tolist() == gate.decide(PROBS[NEW]).accepted.tolist()


def test_names_of_confidences_are_scores():
    assert made(confidence="top") == made() == made(confidence=rs.Thr()) == made(score="TOP")
    assert made(confidence="two").score == rs.TopTwo()
    assert "'margin'" in said(made, confidence="marginn")
    assert said(made, confidence="top", score="top")


def test_rows_one_at_a_time_pass_a_gate_as_in_a_matrix():
    for kind, rows in (("probs", PROBS), ("logits", LOGITS), ("decision", LOGITS), ("probs", PROBS.astype(np.float32))):
        for confidence in ("top", "margin", "two", *(["entropy"] if kind != "decision" else [])):
            gate = rs.triage(rows[OLD], LABELS[OLD], kind=kind, confidence=confidence).threshold(0.1)
            together = gate.accepts(rows[NEW])
            assert 0 < together.sum() < len(together)
            assert [bool(gate.accepts(row)[0]) for row in rows[NEW]] == together.tolist()
            assert gate.accepts(rows[1000].tolist()).tolist() == together[:1].tolist()


def test_rows_one_at_a_time_pass_a_gate_of_recalibrated_probabilities():
    for score in (rs.Temperature(3.0), rs.Recalibrated.fit(PROBS[OLD], LABELS[OLD]), rs.Tempered(rs.Margin(), 2.0)):
        gate = made(confidence=score).threshold(0.1)
        together = gate.accepts(PROBS[NEW])
        assert 0 < together.sum() < len(together)
        assert [bool(gate.accepts(row)[0]) for row in PROBS[NEW]] == together.tolist()


def test_a_gate_checks_single_rows():
    gate = made().threshold(0.1)
    assert "sum to 1" in said(gate.accepts, np.array([0.5, 0.1, 0.1, 0.1, 0.1, 0.0]))
    assert said(gate.accepts, np.array([np.nan, 0.1, 0.1, 0.1, 0.1, 0.6]))
    assert said(gate.accepts, np.array([0.5, 0.5]))


def test_right_can_mean_among_the_most_likely_labels():
    ranks = (PROBS[np.arange(len(LABELS)), LABELS][:, np.newaxis] < PROBS).sum(axis=1) + 1
    triage = made(within=2)
    assert triage.n_wrong == (ranks[OLD] > 2).sum()
    assert triage.accept(PROBS[NEW], 0.05).share > made().accept(PROBS[NEW], 0.05).share
    told = rs.triage(PROBS[OLD], correct=ranks[OLD] <= 2)
    assert told.wrong == triage.wrong
    assert told.within is None


def test_right_can_mean_that_a_set_contains_the_label():
    rule = rs.calibrate(PROBS[:500], LABELS[:500])
    covered = rule.predict(PROBS[500:1000], 0.1).covers(LABELS[500:1000])
    triage = rs.triage(PROBS[500:1000], correct=covered)
    assert triage.n_wrong == (~covered).sum()


def test_an_absent_label_is_a_wrong_answer():
    labels = LABELS[OLD].astype(object)
    labels[:100] = rs.ABSENT
    assert (
        rs.triage(PROBS[OLD], labels).n_wrong
        == 100 + made().wrong.counts.sum() - (PROBS[:100].argmax(axis=1) != LABELS[:100]).sum()
    )
    assert rs.triage(PROBS[OLD], labels, within=6).n_wrong == 100


def test_confidences_of_any_answers():
    sure = PROBS.max(axis=1)
    right = PROBS.argmax(axis=1) == LABELS
    triage = rs.triage(sure[OLD], right[OLD])
    expected = made().accept(PROBS[NEW], 0.05)
    for new in (sure[NEW], sure[NEW].tolist(), pd.Series(sure[NEW]), pl.Series(sure[NEW])):
        assert triage.accept(new, 0.05).accepted.tolist() == expected.accepted.tolist()
    done = triage.accept(sure[NEW], 0.05)
    assert list(done.to_frame("pandas").columns) == ["accepted", "p_value"]
    assert "one confidence per row" in said(lambda: done.labels)
    assert "one confidence per row" in said(done.review, rs.calibrate(PROBS[OLD], LABELS[OLD]), 0.1)
    gate = triage.threshold(0.1)
    assert gate.accepts(sure[NEW]).tolist() == made().threshold(0.1).accepts(PROBS[NEW]).tolist()
    assert gate.describe().startswith("accepts an answer if its value is at least 0.")
    assert said(rs.triage, sure[OLD], right[OLD], confidence="margin")
    assert said(triage.accept, PROBS[NEW], 0.05)
    assert triage.update(sure[NEW], right[NEW]) == rs.triage(sure, right)


def test_the_index_of_rows_is_kept_and_compared():
    frame = pd.DataFrame(PROBS[NEW], columns=NAMES, index=[f"r{row}" for row in range(1000)])
    triage = rs.triage(pd.DataFrame(PROBS[OLD], columns=NAMES), np.array(NAMES)[LABELS[OLD]])
    done = triage.accept(frame[NAMES[::-1]], 0.05)
    answers = done.to_frame()
    assert answers.index.tolist() == frame.index.tolist()
    assert answers["label"].tolist() == np.array(NAMES)[PROBS[NEW].argmax(axis=1)].tolist()
    assert answers["accepted"].tolist() == made().accept(PROBS[NEW], 0.05).accepted.tolist()
    sure = pd.Series(PROBS[OLD].max(axis=1))
    assert said(rs.triage, sure, pd.Series([True] * 1000, index=np.arange(1000)[::-1]))


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_groups_are_decided_separately():
    groups = np.where(np.arange(2000) % 3 == 0, "a", "b")
    triage = made(condition=rs.PerGroup(), groups=groups[OLD])
    done = triage.accept(PROBS[NEW], {"a": 0.1, "b": 0.02}, groups=groups[NEW])
    for name, error in (("a", 0.1), ("b", 0.02)):
        old, new = groups[OLD] == name, groups[NEW] == name
        alone = rs.triage(PROBS[OLD][old], LABELS[OLD][old]).accept(PROBS[NEW][new], error)
        assert done.accepted[new].tolist() == alone.accepted.tolist()
    gate = triage.threshold({"a": 0.1, "b": 0.05})
    assert [float(error) for error in gate.errors] == [0.1, 0.05]
    assert len(gate.describe().splitlines()) == 2
    assert "group 'b': accepts the most likely label" in gate.describe()


def test_every_predicted_label_can_have_its_own_error():
    triage = rs.triage(PROBS[OLD], np.array(NAMES)[LABELS[OLD]], classes=NAMES, condition=rs.PerLabel())
    errors = dict.fromkeys(NAMES, 0.1) | {"joy": 0.03}
    done = triage.accept(PROBS[NEW], errors)
    looser = triage.accept(PROBS[NEW], 0.1)
    joy = done.labels == "joy"
    assert done.accepted[~joy].tolist() == looser.accepted[~joy].tolist()
    assert done.accepted[joy].sum() < looser.accepted[joy].sum()
    mine = (PROBS[OLD].argmax(axis=1) == 1, PROBS[NEW].argmax(axis=1) == 1)
    alone = rs.triage(PROBS[OLD][mine[0]], LABELS[OLD][mine[0]]).accept(PROBS[NEW][mine[1]], 0.03)
    assert done.accepted[joy].tolist() == alone.accepted.tolist()
    assert "error=0.1 or 0.03" in repr(done)


def test_errors_must_fit_the_condition():
    assert "PerLabel()" in said(made().accept, PROBS[NEW], {"joy": 0.1})
    triage = made(condition=rs.PerLabel(), classes=NAMES)
    assert "'joy'" in said(triage.accept, PROBS[NEW], {"love": 0.1})
    assert "'hope'" in said(triage.accept, PROBS[NEW], dict.fromkeys([*NAMES, "hope"], 0.1))
    assert "'joyy'" in said(triage.accept, PROBS[NEW], dict.fromkeys(["joyy", *NAMES[:1], *NAMES[2:]], 0.1))
    for error in (0, 1, -0.1, 2, "much", None, True, [0.1]):
        assert said(made().accept, PROBS[NEW], error)
        assert said(made().threshold, error)
        assert said(made().curve, [error])


def test_unseen_groups_are_not_accepted():
    triage = made(condition=rs.PerGroup(), groups=["a"] * 1000)
    with pytest.warns(rs.RanksetWarning, match="not accepted"):
        done = triage.accept(PROBS[NEW], 0.05, groups=["b"] * 500 + ["a"] * 500)
    assert not done.accepted[:500].any()
    assert done.accepted[500:].any()
    assert done.p_values[:500].tolist() == [1.0] * 500
    with pytest.warns(rs.RanksetWarning, match="not accepted"):
        assert not triage.threshold(0.1).accepts(PROBS[NEW], groups=["b"] * 1000).any()


def test_nothing_accepted_says_what_is_attainable():
    with pytest.warns(rs.RanksetWarning, match=r"130 calibration rows.* 0\.76% for any rows") as told:
        done = rs.triage(PROBS[:130], LABELS[:130]).accept(PROBS[NEW], 0.005)
    assert not done.accepted.any()
    assert f"{float(done.smallest[0]):.2%}" in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rs.triage(PROBS[:130], LABELS[:130]).accept(PROBS[NEW], done.smallest[0]).accepted.any()


def test_a_closed_gate_says_how_many_rows_are_needed():
    with pytest.warns(rs.RanksetWarning, match=r"accepted rows without a mistake are needed.* There are 130 rows\."):
        gate = rs.triage(PROBS[:130], LABELS[:130]).threshold(0.005)
    assert not gate.accepts(PROBS).any()
    assert gate.describe() == "accepts nothing"
    assert "accepts nothing" in repr(gate)
    with pytest.warns(rs.RanksetWarning, match="and more with mistakes"):
        rs.triage(PROBS, (LABELS + 1) % 6).threshold(0.05)


def test_a_gate_for_a_good_model_accepts_every_row():
    gate = rs.triage(np.linspace(0, 1, 500), np.ones(500, dtype=bool)).threshold(0.1)
    assert gate.describe() == "accepts every row"
    assert gate.accepts([-1e300, 0.0]).tolist() == [True, True]
    assert gate.share == 1.0


def test_unlabelled_rows_fix_thresholds():
    gate = made().threshold(0.05, unlabelled=PROBS[NEW])
    assert gate.n == 1000
    assert made().threshold(0.05).n == 900
    assert gate.thresholds.keys[0][0] in -PROBS[NEW].max(axis=1)


def test_all_groups_at_once_is_stricter():
    triage = made(condition=rs.PerGroup(), groups=["a", "b"] * 500)
    each, together = triage.threshold(0.1), triage.threshold(0.1, all_groups=True)
    assert together.share < each.share
    assert said(triage.threshold, 0.1, all_groups="yes")


def test_merging_is_exact_for_any_parts_and_order():
    groups = np.array(["b", "a", "c", "a"] * 500)
    for options in ({}, {"condition": rs.PerLabel()}, {"condition": rs.PerGroup()}, {"confidence": "two"}):
        per = groups if "condition" in options and options["condition"].needs_groups else None
        whole = rs.triage(PROBS, LABELS, groups=per, **options)
        parts = [
            rs.triage(PROBS[part], LABELS[part], groups=None if per is None else per[part], **options)
            for part in (slice(1500, 2000), slice(0, 1), slice(1, 1500))
        ]
        assert parts[0].merge(*parts[1:]) == whole
        updated = parts[1].update(PROBS[1:], LABELS[1:], groups=None if per is None else per[1:])
        assert updated == whole
        assert updated.threshold(0.1).thresholds.keys[0].tolist() == whole.threshold(0.1).thresholds.keys[0].tolist()
        assert pickle.loads(pickle.dumps(whole)) == whole  # noqa: S301


def test_only_equal_triages_are_merged():
    triage = made()
    assert said(triage.merge, triage)
    assert said(triage.merge, rs.calibrate(PROBS, LABELS))
    assert "Margin()" in said(triage.merge, made(confidence="margin"))
    assert "2 most likely" in said(triage.merge, made(within=2))
    assert "correct" in said(triage.merge, rs.triage(PROBS, correct=LABELS == 0))
    assert said(triage.update, PROBS, correct=LABELS == 0)
    assert said(triage.update, PROBS)
    assert said(rs.triage(PROBS, correct=LABELS == 0).update, PROBS, LABELS)


def test_reviewed_sets_are_those_of_the_rule():
    done = made().accept(PROBS[NEW], 0.05)
    rule = rs.calibrate(PROBS[OLD], LABELS[OLD])
    sets = done.review(rule, 0.1)
    assert sets.to_lists() == rule.predict(PROBS[NEW][done.rows_to_review], 0.1).to_lists()
    assert done.review(rule, 0.3, empty="top").sizes.min() == 1
    assert done.review(rule, 0.1, confidence=0.95).sizes.sum() > sets.sizes.sum()
    assert "kind" in said(done.review, rs.calibrate(LOGITS, LABELS, kind="logits"), 0.1)
    assert "classes" in said(done.review, rs.calibrate(PROBS, LABELS, classes=NAMES), 0.1)
    assert said(done.review, rule, 0.1, empty="maybe")
    assert "a batch" in said(lambda: made().threshold(0.1).decide(PROBS[NEW]).p_values)


def test_rows_of_no_length_are_decided():
    for triage in (made(), made(condition=rs.PerLabel())):
        assert len(triage.accept(PROBS[:0], 0.1)) == 0
        assert len(triage.threshold(0.2).accepts(PROBS[:0])) == 0
        assert triage.accept(PROBS[:0], 0.1).share == 0


def test_bad_rows_are_said():
    assert said(rs.triage, PROBS[:0], LABELS[:0])
    assert said(rs.triage, PROBS)
    assert said(rs.triage, PROBS, LABELS, correct=LABELS == 0)
    assert said(rs.triage, PROBS, LABELS, within=0)
    assert said(rs.triage, PROBS, LABELS, within=1.5)
    assert said(rs.triage, PROBS, correct=LABELS)
    assert said(rs.triage, PROBS, correct=np.full(2000, np.nan))
    assert "precise" in said(rs.triage, PROBS, LABELS, kind="marginals")
    assert said(rs.triage, PROBS[:, :1], LABELS * 0, confidence="entropy", kind="decision")
    assert said(made().accept, np.full((3, 6), np.nan), 0.1)
    assert said(made().accept, PROBS[NEW], 0.1, groups=["a"] * 1000)
    assert said(made(condition=rs.PerGroup(), groups=["a"] * 1000).accept, PROBS[NEW], 0.1)
    assert said(made().threshold, 0.1, 1.5)


def test_arguments_about_labels_are_refused_with_confidences():
    sure, right = PROBS.max(axis=1), PROBS.argmax(axis=1) == LABELS
    for options in ({"condition": rs.PerLabel()}, {"within": 2}, {"classes": NAMES}):
        assert "one confidence per row" in said(rs.triage, sure, right, **options)
    assert "kind='binary'" in said(rs.triage, sure, np.array(NAMES)[LABELS])


def test_words_for_frequent_mistakes():
    assert "threshold" in said(made, confidence=0.95)
    assert "0.02 for 2 %" in said(made().accept, PROBS[NEW], 2)
    assert "a Rule" in said(made().accept(PROBS[NEW], 0.1).review, made(), 0.1)
    assert said(made().threshold, 0.1, unlabelled=PROBS[:0])
    assert said(made().threshold, 0.1, groups=["a"])
    assert said(made().threshold, 0.1, seed=1.5)
    assert made().threshold(0.1, seed=np.int64(3)).share == made().threshold(0.1, seed=3).share
    assert made().curve(0.05).points == made().curve([0.05]).points


def test_with_ids_no_smallest_error_for_any_rows_is_told():
    with pytest.warns(rs.RanksetWarning, match=r"for these rows\.$"):
        rs.triage(PROBS[:130], LABELS[:130]).accept(PROBS[NEW], 0.0001, ids=np.arange(1000))


def test_zeros_and_ones_can_say_what_is_right():
    right = PROBS.argmax(axis=1) == LABELS
    for told in (right.astype(int), right.tolist(), right.astype(object), pd.Series(right)):
        assert rs.triage(PROBS, correct=told) == rs.triage(PROBS, correct=right)


def test_the_curve_has_both_promises():
    triage = made()
    curve = triage.curve([0.02, 0.05, 0.1])
    assert [point.error for point in curve.points] == [0.02, 0.05, 0.1]
    for point in curve.points:
        gate = triage.threshold(point.error) if point.stream else None
        assert point.stream == (gate.share if gate else 0.0)
        assert point.wrong == (None if gate is None else gate.wrong.sum() / gate.accepted.sum())
        done = triage.accept(PROBS[NEW], point.error)
        assert abs(point.batch - done.share) < 0.06
    assert str(curve).splitlines()[0].split() == ["error", "batch", "stream", "wrong", "in", "stream"]
    assert curve.to_frame("polars").shape == (3, 4)
    assert repr(curve) == "TriageCurve(3 errors, 0.02 to 0.1, 1,000 rows)"
    assert "<table" in triage._repr_html_()
    assert "<table" in curve._repr_html_()
    assert "accepted" in made().accept(PROBS[NEW], 0.1)._repr_html_()


def test_the_curve_judges_a_row_by_the_others():
    """A single wrong row, the least sure: leaving it out, nothing is wrong, so every row passes at 1 / (n + 1)."""
    triage = rs.triage(np.arange(9.0, 0, -1), [True] * 8 + [False])
    assert triage.curve([Fraction(1, 10)]).points[0].batch == 1.0
    assert triage.curve([Fraction(1, 11)]).points[0].batch == 0.0


def test_ragged_rows_are_decided():
    counts = 3 + np.arange(200) % 3
    rows = np.where(np.arange(6) < counts[:, np.newaxis], PROBS[:200], 0.0)
    ragged = rs.Ragged(rows / rows.sum(axis=1, keepdims=True), counts)
    triage = rs.triage(ragged, np.minimum(LABELS[:200], counts - 1))
    assert triage.accept(ragged, 0.5).labels.tolist() == rows.argmax(axis=1).tolist()


def test_binary_probabilities_are_decided():
    sure = np.random.default_rng(0).random(500)
    labels = (np.random.default_rng(1).random(500) < sure).astype(int)
    triage = rs.triage(sure, labels, kind="binary")
    done = triage.accept(sure, 0.1)
    assert done.labels.tolist() == (sure > 0.5).astype(int).tolist()
    assert triage.threshold(0.2).accepts(sure).any()


@pytest.mark.parametrize("error", [1e-12, 5e-324, "1e-390"])
def test_errors_for_which_no_number_of_rows_is_enough_accept_nothing(error):
    found = rs.triage(PROBS, LABELS)
    with pytest.warns(rs.RanksetWarning, match="accepts nothing"):
        assert found.threshold(error=error).describe() == "accepts nothing"
