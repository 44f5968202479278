"""Weights of rows in ``ConformalClassifier``: calibration rows, new rows, folds, reports."""

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import rankset as rs
from rankset.errors import RuleError
from refusals import like, refused

RNG = np.random.default_rng(0)
N = 600
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int) + (X[:, 1] > 0.8)
WEIGHTS = RNG.uniform(0.5, 1.5, N)
NEW, OWN = X[:40], WEIGHTS[:40]
CALIBRATION = np.arange(300, N)


def fitted(**options):
    split = rs.GivenSplit(CALIBRATION)
    return rs.ConformalClassifier(LogisticRegression(), split=split, **options).fit(X, Y, weights=WEIGHTS)


@pytest.mark.parametrize("method", [None, "aps", "auto", rs.Choice([rs.Rank(), rs.Thr()])], ids=repr)
def test_calibration_rows_have_their_own_weights(method):
    model = fitted(method=method, random_state=0)
    assert model.rule_.spec.weighted
    sets = model.predict_set(NEW, 0.2, weights=OWN)
    outputs = model.estimator_.predict_proba(NEW)
    assert sets.to_lists() == model.rule_.predict(outputs, 0.2, weights=OWN).to_lists()
    assert (model.predict_p(NEW, weights=OWN) == model.rule_.p_values(outputs, weights=OWN)).all()


def test_they_are_those_of_calibrate():
    model = fitted()
    probs = model.estimator_.predict_proba(X[CALIBRATION])
    assert model.rule_ == rs.calibrate(probs, Y[CALIBRATION], weights=WEIGHTS[CALIBRATION], classes=[0, 1, 2])
    frozen = rs.ConformalClassifier(FrozenEstimator(model.estimator_)).fit(X[300:], Y[300:], weights=WEIGHTS[300:])
    assert frozen.rule_ == model.rule_


def test_both_or_none():
    model = fitted()
    for call in (model.predict_set, model.predict_p):
        with refused(RuleError.weights_missing()):
            call(NEW)
    plain = rs.ConformalClassifier(LogisticRegression(), random_state=0).fit(X, Y)
    with refused(RuleError.weights_unused()):
        plain.predict_set(NEW, weights=OWN)


def test_folds_have_no_weights():
    model = rs.ConformalClassifier(LogisticRegression(), split=rs.CrossConformal(3), random_state=0)
    with refused(RuleError.folds_with_weights_of_rows()):
        model.fit(X, Y, weights=WEIGHTS)
    model.fit(X, Y)
    with refused(RuleError.weights_unused()):
        model.predict_set(NEW, weights=OWN)


@pytest.mark.parametrize("weights", [WEIGHTS[:-1], -WEIGHTS, np.full(N, np.nan), ["a"] * N])
def test_wrong_weights_are_refused(weights):
    with pytest.raises(rs.RanksetError):
        rs.ConformalClassifier(LogisticRegression(), random_state=0).fit(X, Y, weights=weights)


def test_rows_in_another_order_are_refused():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = rs.ConformalClassifier(LogisticRegression(), random_state=0)
    with pytest.raises(rs.RanksetError):
        model.fit(frame, Y, weights=pd.Series(WEIGHTS, index=frame.index[::-1]))
    model.fit(frame, Y, weights=pd.Series(WEIGHTS))
    with pytest.raises(rs.RanksetError):
        model.predict_set(frame, weights=pd.Series(WEIGHTS, index=frame.index[::-1]))


def test_there_is_no_triage():
    with refused(like(RuleError, received="weights of rows")):
        fitted().triage(NEW, 0.1)


def test_weights_are_not_those_of_the_model():
    model = rs.ConformalClassifier(LogisticRegression(), split=rs.GivenSplit(CALIBRATION))
    with_both = model.fit(X, Y, weights=WEIGHTS, sample_weight=np.where(Y == 0, 5.0, 1.0))
    assert not np.allclose(with_both.estimator_.coef_, fitted().estimator_.coef_)


def test_report():
    pytest.importorskip("plotly")
    made = fitted().report(X[:200], Y[:200], weights=WEIGHTS[:200])
    (score,) = made.study.data["scores"]
    assert score["guarantee"]["weighted"] == "coverage is proven if the weights of rows are right"
    with refused(RuleError.weights_missing()):
        fitted().report(X[:200], Y[:200])
