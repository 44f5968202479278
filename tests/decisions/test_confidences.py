"""Confidence scores: entropy, the two largest probabilities, a fitted model, and the choice among them."""

import numpy as np
import pytest

import rankset as rs
from rankset.core.cells import LabelCells
from rankset.core.rows import Rows
from rankset.decisions import confidences
from rankset.scores.logistic import fit_logistic
from refusals import said

LOGITS, LABELS = rs.datasets.load("agnews")
ORDER = np.random.default_rng(0).permutation(len(LABELS))
LOGITS, LABELS = LOGITS[ORDER], LABELS[ORDER]
PROBS = rs.softmax(LOGITS)


def cells(probs, columns=None):
    rows = np.asarray(probs, dtype=float)
    tops = rows.argmax(axis=1) if columns is None else np.asarray(columns)
    return LabelCells(Rows(rows, lambda: np.zeros(len(rows))), tops)


def test_entropy_is_that_of_the_row():
    rows = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]
    (keys,) = rs.Entropy().keys(cells(rows))
    assert keys == pytest.approx([0.0, np.log(2), 1.5 * np.log(2)], abs=1e-9)


def test_entropy_does_not_depend_on_the_other_rows():
    (together,) = rs.Entropy().keys(cells(PROBS[:50]))
    alone = [float(rs.Entropy().keys(cells(PROBS[row : row + 1]))[0][0]) for row in range(50)]
    assert together.tolist() == alone


def test_entropy_needs_probabilities():
    assert said(rs.triage, LOGITS, LABELS, kind="decision", confidence="entropy")


def test_equal_top_probabilities_are_ordered_by_the_second():
    first, second = rs.TopTwo().keys(cells([[0.6, 0.4, 0.0], [0.6, 0.2, 0.2]]))
    assert first.tolist() == [-0.6, -0.6]
    assert second.tolist() == [0.4, 0.2]


def test_without_weights_correctness_orders_by_the_top_probability():
    (keys,) = rs.Correctness().keys(cells(PROBS[:100]))
    assert np.argsort(keys).tolist() == np.argsort(-PROBS[:100].max(axis=1)).tolist()


def test_correctness_is_a_logistic_regression():
    """The slope of the penalised likelihood is zero at the fitted weights."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(500, 3))
    right = rng.random(500) < 1 / (1 + np.exp(-features @ [1.0, -2.0, 0.0]))
    penalties = np.array([0.1, 0.1, 5.0])
    weights = fit_logistic(features, right, penalties)
    chances = 1 / (1 + np.exp(-features @ weights))
    assert features.T @ (right - chances) - penalties * weights == pytest.approx(np.zeros(3), abs=1e-5)


def test_a_fit_can_be_perfectly_separated():
    features = np.linspace(-1, 1, 50)[:, np.newaxis]
    weights = fit_logistic(features, features[:, 0] > 0, np.array([1e-3]))
    assert np.isfinite(weights).all()
    assert weights[0] > 5


def test_fitted_chances_are_about_right():
    fitted = rs.Correctness.fit(LOGITS[:4000], LABELS[:4000], kind="logits")
    held = cells(PROBS[4000:])
    chances = 1 / (1 + np.exp(-fitted.log_odds(held)))
    right = PROBS[4000:].argmax(axis=1) == LABELS[4000:]
    assert abs(chances.mean() - right.mean()) < 0.02
    assert fitted.n_columns == 4
    assert rs.Correctness.fit(PROBS[:500], LABELS[:500], class_offsets=False).n_columns is None
    assert "offsets of 4 classes" in repr(fitted)


def test_class_offsets_see_which_classes_are_wrong():
    """Label 0 is right half the time, label 1 always, at the same probabilities."""
    probs = np.tile([[0.8, 0.2], [0.2, 0.8]], (200, 1))
    labels = np.where(np.arange(400) % 2 == 1, 1, np.arange(400) // 2 % 2)
    fitted = rs.Correctness.fit(probs, labels)
    (keys,) = fitted.keys(cells(probs[:2]))
    assert keys[1] < keys[0] - 1


def test_parameters_are_checked():
    assert said(rs.Correctness, (1.0, 2.0))
    assert said(rs.Correctness, (1.0, 2.0, 3.0, np.nan))
    assert said(rs.Correctness.fit, [[1.0], [1.0]], [0, 0])
    assert said(rs.triage, PROBS, LABELS, confidence=rs.Correctness(offsets=(1.0, 2.0)))


def test_auto_chooses_on_rows_of_its_own():
    triage = rs.triage(PROBS[:4000], LABELS[:4000], confidence="auto")
    assert triage.n == 2800
    assert isinstance(triage.score, rs.Correctness)
    plain = rs.triage(PROBS[:4000], LABELS[:4000])
    gained = [one.accept(PROBS[4000:], 0.02).share for one in (triage, plain)]
    assert gained[0] > gained[1]
    again = rs.triage(PROBS[:4000], LABELS[:4000], confidence="auto", seed=1)
    assert again != triage


def test_what_auto_chose_does_not_depend_on_rows_of_the_promise():
    order = np.random.default_rng(0).permutation(4000)
    chosen = np.zeros(4000, dtype=bool)
    chosen[order[:1200]] = True
    changed = np.where(chosen, LABELS[:4000], (LABELS[:4000] + 1) % 4)
    same = [rs.triage(PROBS[:4000], labels, confidence="auto").score for labels in (LABELS[:4000], changed)]
    assert same[0] == same[1]


def test_with_few_rows_or_without_probabilities_auto_is_the_top_probability():
    assert rs.triage(PROBS[:500], LABELS[:500], confidence="auto") == rs.triage(PROBS[:500], LABELS[:500])
    decision = rs.triage(LOGITS, LABELS, kind="decision", confidence="auto")
    assert (decision.score, decision.n) == (rs.Thr(), len(LABELS))


def test_auto_knows_what_is_right():
    told = rs.triage(PROBS[:4000], correct=PROBS[:4000].argmax(axis=1) == LABELS[:4000], confidence="auto")
    assert told.score == rs.triage(PROBS[:4000], LABELS[:4000], confidence="auto").score
    assert "auto" in said(rs.triage, PROBS.max(axis=1), LABELS == 0, confidence="auto")


def test_accepted_shares_are_the_longest_prefix():
    right = np.array([True] * 50 + [False] + [True] * 49)
    share = confidences._accepted(np.arange(100), right)
    # one wrong row and one more: 2 of 100 at 2 %, 5 % and 10 %; at 1 % never more than 1 of 100 wrong
    assert share == pytest.approx(np.mean([0.0, 1.0, 1.0, 1.0]))
