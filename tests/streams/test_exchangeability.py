"""Do rows look like the calibration rows? In Python, in evaluate, on the command line and in reports."""

import json

import numpy as np
import pytest

import rankset as rs
from commands import fine

PROBS = rs.softmax(rs.datasets.load("news20")[0])
LABELS = rs.datasets.load("news20")[1]
ORDER = np.random.default_rng(0).permutation(len(LABELS))
OLD, NEW = ORDER[:1000], ORDER[1000:2000]
RULE = rs.calibrate(PROBS[OLD], LABELS[OLD])


def flatter(probs):
    powers = probs**0.5
    return powers / powers.sum(axis=1, keepdims=True)


def test_false_alarms_are_as_rare_as_promised():
    """Rows from one source, in 300 random halves, with ties in one of two scores: at most 5 % and 3 standard errors."""
    for method in ("thr", rs.TopK()):
        found = []
        for seed in range(300):
            rows = np.random.default_rng(seed).permutation(len(LABELS))[:600]
            rule = rs.calibrate(PROBS[rows[:200]], LABELS[rows[:200]], method=method)
            found.append(rs.exchangeable(rule, PROBS[rows[200:]], LABELS[rows[200:]], seed=seed).looks_exchangeable)
        assert np.mean(found) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 300)


def test_changes_are_seen():
    changed = {
        "outputs": (flatter(PROBS[NEW]), LABELS[NEW]),
        "labels": (PROBS[NEW], np.where(np.arange(1000) % 7 == 0, (LABELS[NEW] + 3) % 20, LABELS[NEW])),
        "order of labels": (PROBS[NEW], LABELS[NEW][::-1]),
    }
    for name, rows in changed.items():
        found = rs.exchangeable(RULE, *rows)
        assert not found.looks_exchangeable, name
        assert found.p_value < 0.01, name
    assert rs.exchangeable(RULE, PROBS[NEW], LABELS[NEW]).looks_exchangeable


def test_the_order_of_rows_does_not_decide():
    """Sorted by score, in order, they would look different to a test that takes them as they come."""
    sure = np.argsort(PROBS[NEW].max(axis=1))
    assert rs.exchangeable(RULE, PROBS[NEW][sure], LABELS[NEW][sure]).looks_exchangeable


def test_evaluate_tells_it_and_keeps_it():
    look = rs.exchangeable(RULE, flatter(PROBS[NEW]), LABELS[NEW])
    found = rs.evaluate(RULE.predict(flatter(PROBS[NEW]), 0.1), LABELS[NEW], exchangeability=look)
    assert "these rows do not look exchangeable with the calibration rows" in repr(found)
    assert "do not look exchangeable" in found._repr_html_()
    assert found.to_dict()["exchangeability"]["p_value"] == look.p_value
    assert "exchangeability" not in rs.evaluate(RULE.predict(PROBS[NEW], 0.1), LABELS[NEW]).to_dict()


def test_evaluate_refuses_other_things():
    sets = RULE.predict(PROBS[NEW], 0.1)
    with pytest.raises(rs.errors.KindError, match="exchangeable"):
        rs.evaluate(sets, LABELS[NEW], exchangeability=0.2)
    several = rs.calibrate(np.full((30, 3), 0.5), [[0, 1]] * 30, kind="marginals", target="recall")
    look = rs.exchangeable(RULE, PROBS[NEW], LABELS[NEW])
    with pytest.raises(rs.errors.KindError, match="several labels"):
        rs.evaluate(several.predict(np.full((2, 3), 0.5), 0.1), [[0], [1]], exchangeability=look)
    done = rs.triage(PROBS[OLD], LABELS[OLD]).accept(PROBS[NEW], error=0.1)
    with pytest.raises(rs.errors.KindError, match="None for decisions"):
        rs.evaluate(done, LABELS[NEW], exchangeability=look)


@pytest.mark.parametrize("condition", [rs.Marginal(), rs.PerLabel(), rs.Pooled(), rs.Balanced([1] * 20)], ids=repr)
def test_every_condition_can_be_asked(condition):
    rule = rs.calibrate(PROBS[OLD], LABELS[OLD], condition=condition)
    assert rs.exchangeable(rule, PROBS[NEW], LABELS[NEW]).looks_exchangeable
    assert not rs.exchangeable(rule, flatter(PROBS[NEW]), LABELS[NEW]).looks_exchangeable


def test_rules_of_which_it_cannot_be_asked():
    weighted = rs.calibrate(PROBS[OLD], LABELS[OLD], weights=np.ones(1000))
    with pytest.raises(rs.errors.RuleError, match="without weights"):
        rs.exchangeable(weighted, PROBS[NEW], LABELS[NEW])
    study = rs.reports.study_rules([weighted], PROBS[NEW], LABELS[NEW], weights=1)
    assert "exchangeable" not in study.data["scores"][0]


def test_labels_that_are_absent_are_left_out():
    labels = LABELS[NEW].astype(object)
    labels[:10] = rs.ABSENT
    assert rs.exchangeable(RULE, PROBS[NEW], labels).rows == 990
    with pytest.raises(rs.errors.InputError):
        rs.exchangeable(RULE, PROBS[NEW][:3], [rs.ABSENT] * 3)


@pytest.mark.parametrize("delta", [0, 1, -1, "a", None, float("nan")])
def test_delta_is_a_probability(delta):
    with pytest.raises(rs.errors.KindError, match="delta"):
        rs.exchangeable(RULE, PROBS[NEW], LABELS[NEW], delta=delta)


def test_reports_have_it_for_every_rule():
    rules = [RULE, rs.calibrate(PROBS[OLD], LABELS[OLD], method="thr")]
    same = rs.reports.study_rules(rules, PROBS[NEW], LABELS[NEW]).data["scores"]
    other = rs.reports.study_rules(rules, flatter(PROBS[NEW]), LABELS[NEW]).data["scores"]
    assert [score["exchangeable"]["looks"] for score in same] == [True, True]
    assert [score["exchangeable"]["looks"] for score in other] == [False, False]


def test_the_command_line_asks_by_itself(tmp_path, monkeypatch):
    """Rows in several files count together."""
    monkeypatch.chdir(tmp_path)
    RULE.save("rule.rankset")
    for number, part in enumerate(np.split(NEW, 2)):
        np.save(f"probs{number}.npy", flatter(PROBS[part]))
        np.save(f"labels{number}.npy", LABELS[part])
    files = ("probs0.npy", "probs1.npy", "--labels", "labels0.npy", "--labels", "labels1.npy")
    asked = ("evaluate", "rule.rankset", *files, "--alpha", "0.1")
    assert "these rows do not look exchangeable" in fine(*asked).stdout
    told = json.loads(fine(*asked, "--json").stdout)["0.1"]["exchangeability"]
    assert told["rows"] == 1000
    assert told["p_value"] < 0.01
