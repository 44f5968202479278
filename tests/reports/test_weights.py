"""Reports of rules whose rows have weights: right numbers, and nothing claimed that is not proven."""

import numpy as np
import pytest

import rankset as rs
from rankset.errors import RuleError
from refusals import refused

pytest.importorskip("plotly")

LOGITS, LABELS = rs.datasets.load("carer")
WEIGHTS = np.random.default_rng(0).uniform(0.5, 1.5, len(LABELS))
CAL, NEW = slice(0, 700), slice(700, 1000)


def rule_of(**options):
    return rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits", weights=WEIGHTS[CAL], **options)


def score_of(rule, **options):
    options = {"weights": WEIGHTS[NEW], **options}
    (score,) = rs.reports.study_rules([rule], LOGITS[NEW], LABELS[NEW], **options).data["scores"]
    return score


@pytest.mark.parametrize("condition", [rs.Marginal(), rs.PerLabel(), rs.Pooled()], ids=repr)
@pytest.mark.parametrize("method", ["rank", "thr"])
def test_numbers_are_those_of_predict(condition, method):
    rule = rule_of(condition=condition, method=method)
    score = score_of(rule)
    sets = rule.predict(LOGITS[NEW], 0.1, weights=WEIGHTS[NEW])
    place = 9  # alpha = 0.1
    assert score["metrics"]["coverage"][place] == pytest.approx(sets.covers(LABELS[NEW]).mean(), abs=1e-4)
    assert score["metrics"]["size"][place] == pytest.approx(sets.sizes.mean(), abs=1e-3)
    assert score["guarantee"]["effective"] == round(rule.effective_rows)
    assert not {"band", "ranks", "r_star", "pooled"} & set(score)
    assert "if the weights of rows are right" in score["guarantee"]["weighted"]


def test_label_shift_tells_effective_rows():
    rule = rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits", condition=rs.LabelShift([1, 2, 1, 1, 1, 3]))
    own = score_of(rule, weights=None)["guarantee"]
    assert own["effective"] == round(rule.effective_rows)
    assert "weighted" not in own
    assert own["shared"] == "coverage is proven if the factors of the label shift are right"


def test_the_page_says_it():
    html = rs.report(rule_of(), LOGITS[NEW], LABELS[NEW], weights=WEIGHTS[NEW]).html
    assert "coverage is proven if the weights of rows are right" in html
    assert "rows of equal weight" in html


def test_several_labels():
    probs, labels = rs.datasets.load("goemotions")
    own = np.random.default_rng(0).uniform(0.5, 1.5, len(probs))
    options = {"kind": "marginals", "target": "recall", "weights": own[:1000]}
    rule = rs.calibrate(probs[:1000], labels[:1000], **options)
    some = slice(1000, 1500)
    (score,) = rs.reports.study_rules([rule], probs[some], labels[some], weights=own[some]).data["scores"]
    sets = rule.predict(probs[some], 0.1, weights=own[some])
    assert score["metrics"]["size"][9] == pytest.approx(sets.sizes.mean(), abs=1e-3)
    assert score["guarantee"]["weighted"] == "coverage is proven if the weights of rows are right"
    assert not score.get("band")


def test_both_or_none():
    with refused(RuleError.weights_missing()):
        score_of(rule_of(), weights=None)
    with refused(RuleError.weights_unused()):
        score_of(rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits"))


def test_rules_with_and_without_weights_are_compared():
    plain = rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits")
    study = rs.reports.study_rules([plain, rule_of()], LOGITS[NEW], LABELS[NEW], weights=WEIGHTS[NEW])
    first, second = study.data["scores"]
    assert first["band"]
    assert "band" not in second
