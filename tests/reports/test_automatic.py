"""The section "What may be decided automatically": its numbers are those of ``rankset.triage`` on the test rows."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import rankset as rs
from rankset.decisions.walk import rows_needed

pytest.importorskip("plotly")

LOGITS, LABELS = rs.datasets.load("carer")
CAL, NEW = slice(0, 700), slice(700, 1300)
ERRORS = [f"{step / 200:g}" for step in range(1, 61)]
SITES = np.array(["north", "south"] * 1000)


def shown(*args, **options):
    """What the page holds, read from its HTML."""
    made = rs.report(*args, **options)
    found = re.search(r'id="data">(.*?)</script>', made.html, flags=re.DOTALL)
    data = json.loads(found[1])
    assert data == made.study.data
    return data.get("automatic")


def same_as(told, triage):
    """Compare every number of a section with what a triage says."""
    curve = triage.curve(ERRORS)
    assert told["errors"] == [float(error) for error in ERRORS]
    for name, field in (("batch", "batch"), ("stream", "stream"), ("wrong_in_stream", "wrong")):
        assert told[name] == [getattr(point, field) for point in curve.points]
    assert (told["rows"], told["wrong"]) == (triage.n, triage.n_wrong / triage.n)
    assert told["confidence"] == curve.confidence == 0.95
    assert told["errors"][told["first"]] == 0.05
    for error, share, text in zip(ERRORS, told["stream"], told["gates"], strict=True):
        if share:
            gate = triage.threshold(error)
            assert (text, gate.share, gate.n) == (gate.describe(), share, told["tested"])
        else:
            assert text is None
    return True


@pytest.mark.parametrize("kind", ["logits", "decision"])
@pytest.mark.parametrize("condition", [rs.Marginal(), rs.PerLabel(), rs.PerGroup()], ids=repr)
def test_numbers_are_those_of_the_triage(kind, condition):
    groups = {"groups": SITES[CAL]} if condition == rs.PerGroup() else {}
    rule = rs.calibrate(LOGITS[CAL], LABELS[CAL], kind=kind, condition=condition, **groups)
    told = shown(rule, LOGITS[NEW], LABELS[NEW], groups=SITES[NEW], ids=range(600))
    assert same_as(told, rs.triage(LOGITS[NEW], LABELS[NEW], kind=kind))
    assert told["kind"] == kind
    assert max(told["stream"]) > 0.5
    assert told["beyond"] == {}
    named = "its value is" if kind == "decision" else "its probability is"
    assert any(named in text for text in told["gates"] if text)


def test_probabilities_names_and_two_columns():
    probs, labels = rs.datasets.load("marketing")
    names = ["a", "b", "c", "d"]
    rule = rs.calibrate(probs[:130], np.array(names)[labels[:130]], classes=names)
    assert same_as(shown(rule, probs[130:], np.array(names)[labels[130:]]), rs.triage(probs[130:], labels[130:]))
    rng = np.random.default_rng(0)
    share = rng.random(500)
    truth = (rng.random(500) < share).astype(int)
    rule = rs.calibrate(share[:200], truth[:200], kind="binary")
    assert same_as(shown(rule, share[200:], truth[200:]), rs.triage(share[200:], truth[200:], kind="binary"))


def test_absent_labels_and_own_candidates():
    labels = [rs.ABSENT if row % 7 == 0 else label for row, label in enumerate(LABELS[:1300].tolist())]
    rule = rs.calibrate(LOGITS[CAL], labels[CAL], kind="logits")
    told = shown(rule, LOGITS[NEW], labels[NEW])
    assert same_as(told, rs.triage(LOGITS[NEW], labels[NEW], kind="logits"))
    assert told["wrong"] > 1 / 7
    counts = 3 + np.arange(1300) % 4
    best = [int(row[:count].argmax()) for row, count in zip(LOGITS[:1300], counts, strict=True)]
    truth = [column if place % 6 else 0 for place, column in enumerate(best)]
    old, new = (rs.Ragged(LOGITS[part], counts[part]) for part in (CAL, NEW))
    rule = rs.calibrate(old, truth[CAL], kind="logits")
    assert same_as(shown(rule, new, truth[NEW]), rs.triage(new, truth[NEW], kind="logits"))


def test_too_few_rows_say_what_is_attainable():
    rule = rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits")
    part = slice(1000, 1012)
    told = shown(rule, LOGITS[part], LABELS[part])
    triage = rs.triage(LOGITS[part], LABELS[part], kind="logits")
    assert same_as(told, triage)
    assert told["batch"][told["first"]] == 0
    assert any(told["batch"])
    assert list(told["beyond"]) == ["stream"]
    least = told["beyond"]["stream"]
    assert 0.3 < least < 1
    assert [point.stream > 0 for point in triage.curve([least - 0.01, least]).points] == [False, True]
    for error, needed in zip(ERRORS, told["needed"], strict=True):
        assert needed == rows_needed(Fraction(error), Fraction(1, 20))
    wrong = (LABELS[:1] + 1) % 6
    assert shown(rule, LOGITS[:1], wrong if LOGITS[0].argmax() == LABELS[0] else LABELS[:1])["beyond"] == {
        "batch": 0.5,
        "stream": None,
    }


def test_several_rules_share_it_and_blocks_change_nothing(monkeypatch):
    rules = [rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits", score=score) for score in ("rank", "aps")]
    told = shown(rules, LOGITS[NEW], LABELS[NEW])
    assert told == shown(rules[0], LOGITS[NEW], LABELS[NEW])
    monkeypatch.setenv("RANKSET_BLOCK_BYTES", "800")
    assert told == shown(rules, LOGITS[NEW], LABELS[NEW])
    made = rs.report_scores(LOGITS[CAL], LABELS[CAL], LOGITS[NEW], LABELS[NEW], kind="logits", scores=["rank"])
    assert made.study.data["automatic"] == told


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_rows_with_several_labels_and_folds_have_none():
    probs, tags = rs.datasets.load("goemotions")
    tagger = rs.calibrate(probs[:500], tags[:500], target="recall", kind="marginals")
    made = rs.report(tagger, probs[500:900], tags[500:900])
    assert "automatic" not in made.study.data
    assert "decided automatically" not in made.html
    one = rs.calibrate(LOGITS[CAL] * 0 + 0.5, LABELS[CAL], kind="marginals")
    assert shown(one, LOGITS[NEW] * 0 + 0.5, LABELS[NEW]) is None
    digits, y = load_digits(return_X_y=True)
    for split, has in ((None, True), (rs.CrossConformal(3), False)):
        model = rs.ConformalClassifier(LogisticRegression(C=1e-4), split=split, random_state=0).fit(
            digits[:900], y[:900]
        )
        told = model.report(digits[900:1400], y[900:1400]).study.data
        assert ("automatic" in told) == has
        if has:
            outputs = model.estimator_.predict_proba(digits[900:1400])
            assert same_as(told["automatic"], rs.triage(outputs, y[900:1400]))
