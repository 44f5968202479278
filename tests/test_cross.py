"""Rules of several folds as one."""

import numpy as np
import pandas as pd
import pytest

import rankset as rs


def folds(**changes):
    rng = np.random.default_rng(0)
    probs, labels = rng.dirichlet(np.ones(3), 60), rng.integers(0, 3, 60)
    truth = np.array(changes.get("classes", range(3)))[labels]
    return [rs.calibrate(probs[part], truth[part], **changes) for part in (slice(0, 30), slice(30, 60))], probs


def test_folds_take_what_rules_take():
    (first, second), probs = folds(classes=["x", "y", "z"])
    rule = rs.CrossRule((first, second))
    turned = pd.DataFrame(probs, columns=["x", "y", "z"])[["z", "x", "y"]]
    assert rule.predict([turned, turned], 0.1) == rule.predict([probs, probs], 0.1)
    rows = rule.predict([probs, probs], 0.01, empty="top")
    assert [row[0] for row in rows] == np.array(["x", "y", "z"])[probs.argmax(axis=1)].tolist()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rs.CrossRule(()), "at least one Rule"),
        (lambda: rs.CrossRule((folds()[0][0], folds(score=rs.Thr())[0][1])), "the same question"),
        (lambda: rs.CrossRule(tuple(folds()[0])).predict([folds()[1]], 0.1), "2 of them, got 1"),
        (lambda: rs.CrossRule(tuple(folds()[0])).predict(iter([folds()[1]] * 2), 0.1), "2 of them, got"),
        (
            lambda: rs.CrossRule(tuple(folds()[0])).predict([folds()[1], folds()[1][:9]], 0.1),
            "of 9 and 60 rows",
        ),
        (lambda: rs.CrossRule(tuple(folds()[0])).predict([rs.Ragged.of([[1.0, 0.0]])] * 2, 0.1), "whole rows only"),
    ],
)
def test_folds_that_cannot_be_pooled_are_told(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_only_groups_that_no_fold_saw_are_warned_of():
    probs = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    labels, groups = probs.argmax(axis=1), np.repeat(["north", "south"], 20)
    parts = [slice(0, 20), slice(20, 40)]
    rule = rs.CrossRule(
        tuple(rs.calibrate(probs[p], labels[p], condition=rs.PerRow(), groups=groups[p]) for p in parts)
    )
    rule.predict([probs, probs], 0.2, groups=groups)
    with pytest.warns(rs.RanksetWarning, match="no calibration rows for group 'west'"):
        rule.predict([probs, probs], 0.2, groups=["west"] * 40)


@pytest.mark.parametrize("score", [rs.Rank(), rs.Aps(), rs.Thr()], ids=repr)
@pytest.mark.parametrize("condition", [rs.Marginal(), rs.PerLabel(), rs.PerRow()], ids=repr)
@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
def test_folds_under_one_model_are_one_calibration(score, condition):
    rng = np.random.default_rng(0)
    probs, labels = rng.dirichlet(np.ones(4), 300), rng.integers(0, 4, 300)
    groups = np.array(["a", "b", "c"])[rng.integers(0, 3, 300)]
    rows = [slice(0, 50), slice(50, 200), slice(200, 300)]

    def rule(part):
        named = {"groups": groups[part]} if condition.needs_groups else {}
        return rs.calibrate(probs[part], labels[part], score=score, condition=condition, **named)

    folds, whole = rs.CrossRule(tuple(map(rule, rows))), rule(slice(None))
    named = {"groups": groups} if condition.needs_groups else {}
    assert (folds.p_values([probs] * 3, **named) == whole.p_values(probs, **named)).all()
    for alpha in (0.05, 0.1, "0.3"):
        assert folds.predict([probs] * 3, alpha, **named) == whole.predict(probs, alpha, **named)
