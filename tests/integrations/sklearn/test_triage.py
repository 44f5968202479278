"""Decisions of a ConformalClassifier: those of ``rankset.triage`` on its calibration rows."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import rankset as rs
from refusals import said

X, Y = load_digits(return_X_y=True)
X = X / 16
TRAIN, OLD, NEW = slice(0, 600), slice(600, 1200), slice(1200, None)
MODEL = LogisticRegression(max_iter=1000).fit(X[TRAIN], Y[TRAIN])


def test_decisions_are_those_of_the_calibration_rows():
    model = rs.ConformalClassifier(FrozenEstimator(MODEL)).fit(X[OLD], Y[OLD])
    expected = rs.triage(MODEL.predict_proba(X[OLD]), Y[OLD], classes=MODEL.classes_)
    assert model.triage_ == expected
    done = model.triage(X[NEW], error=0.05)
    assert done.accepted.tolist() == expected.accept(MODEL.predict_proba(X[NEW]), 0.05).accepted.tolist()
    assert done.labels.tolist() == MODEL.predict(X[NEW]).tolist()
    assert len(done.review(model.rule_, 0.1)) == len(done.rows_to_review)


def test_a_holdout_and_chosen_scores_have_a_triage():
    for method in ("thr", rs.Choice([rs.Rank(), rs.Thr()]), "auto"):
        model = rs.ConformalClassifier(LogisticRegression(max_iter=1000), method=method, random_state=0).fit(X, Y)
        assert model.triage_.n == round(0.25 * len(Y)) or model.triage_.n > 300
        assert model.triage(X[NEW], "5%").share > 0.5


def test_frames_keep_their_index_and_conditions_hold_by_group():
    frame = pd.DataFrame(X, index=[f"r{row}" for row in range(len(X))])
    groups = np.where(np.arange(len(X)) % 2, "odd", "even")
    model = rs.ConformalClassifier(FrozenEstimator(MODEL), condition=rs.PerGroup())
    model.fit(frame[OLD], pd.Series(Y, index=frame.index)[OLD], groups=groups[OLD])
    done = model.triage(frame[NEW], {"odd": 0.05, "even": 0.2}, groups=groups[NEW])
    assert done.to_frame().index.tolist() == frame.index[NEW].tolist()
    assert [float(error) for error in done.errors] == [0.2, 0.05]


def test_decisions_of_models_without_probabilities():
    model = rs.ConformalClassifier(LinearSVC(), random_state=0).fit(X, Y)
    assert model.triage(X[NEW], 0.1).share > 0.3


def test_without_one_model_and_one_label_there_is_none():
    folds = rs.ConformalClassifier(LogisticRegression(max_iter=1000), split=rs.CrossConformal(3)).fit(X[:300], Y[:300])
    assert folds.triage_ is None
    assert "got 3 folds. Use Holdout()" in said(folds.triage, X, 0.1)
    stratified = rs.ConformalClassifier(
        LogisticRegression(max_iter=1000), split=rs.Holdout(stratify=True), condition=rs.PerLabel(), random_state=0
    )
    assert "got a stratified split." in said(stratified.fit(X, Y).triage, X, 0.1)
