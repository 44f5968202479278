"""The argument ``method`` of ConformalClassifier: scores, their names, "auto" and Choice."""

import inspect
import io
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import rankset as rs
from rankset.errors import KindError, RuleError, ScoreError, SplitError
from rankset.scores import NAMED_SCORES
from refusals import refused

X, Y = make_classification(1600, 10, n_informative=6, n_classes=4, random_state=0)
SOME, NEW = slice(0, 1200), slice(1200, None)


def fitted(method, estimator=None, **options):
    model = rs.ConformalClassifier(estimator or GaussianNB(), method=method, random_state=0, **options)
    return model.fit(X[SOME], Y[SOME])


@pytest.mark.parametrize("name", NAMED_SCORES)
def test_a_name_is_its_score(name):
    named, given = fitted(name.upper()), fitted(NAMED_SCORES[name])
    assert named.method == name.upper()
    assert named.method_ == given.method_ == named.rule_.score == NAMED_SCORES[name]
    assert named.predict_set(X[NEW]) == given.predict_set(X[NEW])


def test_rank_is_the_default():
    assert fitted(None).method_ == rs.Rank()


TRAINED = GaussianNB().fit(X[NEW], Y[NEW])
ROUTES = {
    "Holdout": ({"split": rs.Holdout(0.5)}, 600),
    "GivenSplit": ({"split": rs.GivenSplit(range(0, 1200, 2))}, 600),
    "FrozenEstimator": ({"estimator": FrozenEstimator(TRAINED)}, 1200),
}


@pytest.mark.parametrize(("options", "held_out"), ROUTES.values(), ids=ROUTES.keys())
def test_auto_fits_on_held_out_rows_that_do_not_calibrate(options, held_out):
    model = fitted("auto", **options)
    assert isinstance(model.method_, rs.Chosen)
    assert isinstance(model.method_.score, rs.Recalibrated)
    assert model.rule_.n == rs.auto(np.full((held_out, 4), 0.25), np.arange(held_out) % 4).n < 0.81 * held_out
    assert model.rule_.score == model.method_
    assert model.predict_set(X[NEW], 0.1).law is not None
    assert 0.85 < model.predict_set(X[NEW], 0.1).covers(Y[NEW]).mean() < 0.95


def test_auto_is_that_of_the_library():
    model = fitted("auto", FrozenEstimator(TRAINED))
    choice = rs.Choice("auto")
    assert fitted(choice, FrozenEstimator(TRAINED)).rule_ == model.rule_
    seed = np.random.RandomState(0).randint(2**31 - 1)
    assert model.rule_ == rs.auto(TRAINED.predict_proba(X[SOME]), Y[SOME], seed=seed, classes=model.classes_)


def test_auto_for_another_alpha_and_share():
    model = fitted(rs.Choice("Auto", alpha=0.25, share=0.5), FrozenEstimator(TRAINED))
    assert model.rule_.n == 599  # (599 + 1) / 4 is an integer
    with refused(RuleError.option("objective", "sscv", ("size",))):
        rs.Choice("auto", objective="sscv")
    with refused(RuleError.option("objective", max, ("size",))):
        rs.Choice("auto", objective=max)


def test_auto_with_conditions_classes_and_without_probabilities():
    groups = np.array(["north", "south"] * 600)
    model = rs.ConformalClassifier(
        GaussianNB(), method="auto", condition=rs.PerGroup(), split=rs.Holdout(0.5), random_state=0
    ).fit(X[SOME], Y[SOME], groups=groups)
    assert model.rule_.groups.tolist() == ["north", "south"]
    assert isinstance(model.method_.score, rs.Recalibrated)
    labelled = np.array(["d", "c", "b", "a"])[Y]
    model = rs.ConformalClassifier(GaussianNB(), method="auto", classes=list("edcba"), random_state=0)
    assert model.fit(X, labelled).rule_.classes.tolist() == list("abcde")
    model = fitted("auto", LinearSVC())
    assert isinstance(model.method_.score, rs.Recalibrated)
    assert model.rule_.kind == "logits"


def test_with_few_rows_auto_is_thr():
    model = rs.ConformalClassifier(GaussianNB(), method="auto", random_state=0).fit(X[:100], Y[:100])
    assert model.method_.score == rs.Thr()


@pytest.mark.parametrize("method", ["auto", rs.Choice("auto"), rs.Choice(["rank", "thr"])], ids=str)
def test_folds_have_no_common_score_to_choose(method):
    split = rs.CrossConformal(3)
    with refused(SplitError.chosen_with_folds(split)) as caught:
        fitted(method, split=split)
    assert "because the rules of folds must have the same score" in str(caught.value)


def test_choice_takes_names():
    choice = rs.Choice(["rank", "LAC", rs.Aps()])
    assert choice.candidates == choice.scores == (rs.Rank(), rs.Thr(), rs.Aps())
    assert choice == rs.Choice([rs.Rank(), rs.Thr(), "aps"])
    assert fitted(choice).method_ in choice.candidates
    assert rs.Choice("auto").candidates == ()


def test_score_is_refused_with_the_reason():
    with refused(KindError.method_not_score()) as caught:
        rs.ConformalClassifier(score=rs.Aps())
    assert "score(X, y)" in str(caught.value)
    assert isinstance(caught.value, TypeError)
    with pytest.raises(TypeError, match="unexpected keyword argument 'scores'"):
        rs.ConformalClassifier(scores=rs.Aps())
    with pytest.raises(ValueError, match="'score'"):
        rs.ConformalClassifier().set_params(score=rs.Aps())
    with refused(ScoreError.no_name("method", "seen", "rankset.Seen.fit(training_labels, classes)")):
        fitted("seen")


def test_scikit_learn_and_help_see_the_parameters():
    expected = ["estimator", "method", "condition", "split", "classes", "random_state", "target"]
    assert list(inspect.signature(rs.ConformalClassifier).parameters) == expected
    model = rs.ConformalClassifier(method="auto", random_state=1)
    assert sorted(model.get_params()) == sorted(expected)
    assert clone(model).method == "auto"
    assert clone(model.set_params(method=rs.Choice("auto", alpha=0.2))).method == rs.Choice("auto", alpha=0.2)


def by_pickle(model):
    return pickle.loads(pickle.dumps(model))  # noqa: S301


def by_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


@pytest.mark.parametrize("keep", [by_pickle, by_joblib])
@pytest.mark.parametrize(
    "options",
    [{"split": rs.CrossConformal(3)}, {"method": "auto"}, {"method": rs.Choice(["rank", "aps"])}, {"method": "raps"}],
    ids=["folds", "auto", "choice", "raps"],
)
def test_fitted_classifiers_are_kept_by_pickle_and_joblib(options, keep):
    model = fitted(**{"method": None, **options})
    again = keep(model)
    assert again.predict_set(X[NEW], 0.1) == model.predict_set(X[NEW], 0.1)
    assert (again.predict_p(X[NEW]) == model.predict_p(X[NEW])).all()
    assert again.method_ == model.method_
