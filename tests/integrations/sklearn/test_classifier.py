"""ConformalClassifier, as scikit-learn users meet it."""

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier, StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import RFE, RFECV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import estimator_checks_generator

import rankset as rs
from rankset.errors import InputError, KindError, LabelError, LevelError, RuleError, ScoreError, SplitError
from rankset.scores import NAMED_SCORES
from refusals import like, refused

SPLITS = [
    rs.Holdout(0.4),
    rs.CrossConformal(3),
    rs.Holdout(0.3, stratify=True),
    rs.CrossConformal(3, stratify=True),
    rs.Holdout(0.4, classes=(0, 1, 2)),
]

CHECKED = [
    rs.ConformalClassifier(random_state=0),
    rs.ConformalClassifier(RidgeClassifier(), random_state=0),
    rs.ConformalClassifier(LogisticRegression(), split=rs.CrossConformal(3), random_state=0),
    rs.ConformalClassifier(make_pipeline(StandardScaler(), LogisticRegression()), method=rs.Aps(), random_state=0),
]


def checks():
    for model in CHECKED:
        for estimator, check in estimator_checks_generator(model):
            name = getattr(check, "func", check).__name__
            slow = () if model is CHECKED[0] else (pytest.mark.slow,)
            yield pytest.param(estimator, check, id=f"{type(model.estimator).__name__}-{name}", marks=slow)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), checks())
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    features, labels = load_iris(return_X_y=True)
    return features, np.array(["setosa", "versicolor", "virginica"])[labels]


def test_the_five_lines(iris):
    features, labels = iris
    model = rs.ConformalClassifier(make_pipeline(StandardScaler(), LogisticRegression()), random_state=0)
    model.fit(features, labels)
    assert (model.predict(features) == labels).mean() > 0.9
    sets = model.predict_set(features, alpha=0.1)
    assert sets.covers(labels).mean() > 0.85
    assert set(sets[0]) <= set(labels)
    assert (sets.mask == (model.predict_p(features) > 0.1)).all()
    assert model.rule_.n == 38


def test_a_trained_model_is_calibrated_on_all_rows(iris):
    features, labels = iris
    trained = LogisticRegression(max_iter=500).fit(features[::2], labels[::2])
    model = rs.ConformalClassifier(FrozenEstimator(trained)).fit(features[1::2], labels[1::2])
    assert model.rule_.n == 75
    assert model.rule_ == rs.calibrate(trained.predict_proba(features[1::2]), labels[1::2], classes=trained.classes_)
    rest = rs.ConformalClassifier(FrozenEstimator(trained)).fit(features[1:50:2], labels[1:50:2])
    assert rest.classes_.tolist() == trained.classes_.tolist()


@pytest.mark.filterwarnings("ignore:a stratified split")
@pytest.mark.parametrize("split", SPLITS, ids=repr)
@pytest.mark.parametrize("condition", [None, rs.PerLabel()], ids=repr)
def test_sets_cover_whatever_the_split(split, condition):
    features, labels = make_classification(3000, 10, n_informative=5, n_classes=4, random_state=0)
    model = rs.ConformalClassifier(LogisticRegression(), split=split, condition=condition, random_state=1)
    model.fit(features[:1000], labels[:1000])
    assert 0.86 < model.predict_set(features[1000:], 0.1).covers(labels[1000:]).mean() < 0.95


def test_folds_use_every_row_and_state_what_is_proven(iris):
    features, labels = iris
    model = rs.ConformalClassifier(LogisticRegression(max_iter=500), split=rs.CrossConformal(5), random_state=0)
    model.fit(features, labels)
    assert isinstance(model.rule_, rs.CrossRule)
    assert model.rule_.n == 150
    assert len(model.estimators_) == 5
    assert model.rule_.guarantee(0.1) == pytest.approx(1 - 0.2 - 1.8 * 0.8 / 31)
    sets, p_values = model.predict_set(features, 0.2), model.predict_p(features)
    assert (sets.mask == (p_values > 0.2)).all()
    by_hand = np.zeros((150, 3))
    for fold, rule in zip(model.estimators_, model.rule_.rules, strict=True):
        by_hand += rule.p_values(fold.predict_proba(features)) * (rule.n + 1) - 1
    assert p_values == pytest.approx((1 + by_hand) / 151)
    assert "5 folds, calibrated on 150 rows" in repr(model.rule_)
    with refused(RuleError.folds(5, 1)):
        model.rule_.predict([features], 0.1)


@pytest.mark.filterwarnings("ignore:alpha is the allowed error rate")
def test_one_fold_alone_is_a_rule():
    probs, labels = np.random.default_rng(0).dirichlet(np.ones(4), 200), np.arange(200) % 4
    rule = rs.calibrate(probs, labels)
    assert rs.CrossRule((rule,)).predict([probs], 0.1) == rule.predict(probs, 0.1)
    assert rs.CrossRule((rule,)).predict([probs], 0.95, empty="top") == rule.predict(probs, 0.95, empty="top")


@pytest.mark.parametrize("rare", ["A rare one", "amid", "z last"])
def test_a_class_the_model_never_saw_stays_a_candidate(rare):
    features = np.arange(20.0)[:, None]
    labels = np.array(["a"] * 9 + ["b"] * 10 + [rare])
    rows = np.array([*range(0, 19, 2), 19])
    names = sorted(["a", "b", rare])
    for inner in (LogisticRegression(), SVC(), RandomForestClassifier(5, random_state=0)):
        model = rs.ConformalClassifier(inner, split=rs.GivenSplit(rows)).fit(features, labels)
        assert model.classes_.tolist() == names
        assert model.predict_p(features).shape == (20, 3)
        with pytest.warns(rs.RanksetWarning, match="calibration rows are needed"):
            sets = model.predict_set(features, 0.05)
        assert sets.covers(np.full(20, rare)).all()
        assert [row[0] for row in sets] == model.predict(features).tolist() or isinstance(inner, SVC)
    assert model.predict_proba(features)[:, names.index(rare)].tolist() == [0.0] * 20


def test_decisions_go_through_softmax_and_one_column_is_the_second_class():
    features, labels = make_classification(200, random_state=0)
    model = rs.ConformalClassifier(RidgeClassifier(), random_state=0).fit(features, labels)
    decisions = model.decision_function(features)
    assert decisions.ndim == 1
    assert not hasattr(model, "predict_proba")
    again = model.rule_.predict(np.column_stack((np.zeros(200), decisions)), 0.1)
    assert model.predict_set(features, 0.1) == again
    assert model.rule_.kind == "logits"


@pytest.mark.parametrize("labels", [[True, False], [3, 7], ["no", "yes"], [0.0, 2.0]], ids=repr)
def test_labels_come_back_as_they_are(labels):
    features, codes = make_classification(100, random_state=0)
    truth = np.array(labels)[codes]
    model = rs.ConformalClassifier(random_state=0).fit(features, truth)
    sets = model.predict_set(features, 0.1)
    assert set(np.concatenate(list(sets)).tolist()) <= set(labels)
    assert sets.covers(truth).mean() > 0.8


def test_frames_keep_feature_names(iris):
    frame = pd.DataFrame(iris[0], columns=["sepal length", "sepal width", "petal length", "petal width"])
    model = rs.ConformalClassifier(random_state=0).fit(frame, pd.Series(iris[1]))
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert model.n_features_in_ == 4
    assert len(model.predict_set(frame, 0.1)) == 150


OF_SEARCH = "ignore:.*on (rows that are now used for calibration|the calibration rows):rankset.RanksetWarning"


@pytest.mark.filterwarnings(OF_SEARCH)
@pytest.mark.slow
def test_grid_search_pipelines_clones_and_pickles(iris):
    features, labels = iris
    grid = {"estimator__C": [0.01, 10.0], "method": [rs.Rank(), rs.Thr()]}
    for scoring in (rs.SetSize(0.1), {"size": rs.SetSize(0.1), "coverage": rs.Coverage(0.1)}):
        search = GridSearchCV(
            rs.ConformalClassifier(LogisticRegression(max_iter=500), random_state=0),
            grid,
            scoring=scoring,
            refit="size" if isinstance(scoring, dict) else True,
            cv=3,
        ).fit(features, labels)
        assert search.best_params_["estimator__C"] == 10.0
    assert search.cv_results_["mean_test_coverage"].min() > 0.8
    piped = make_pipeline(StandardScaler(), rs.ConformalClassifier(random_state=0)).fit(features, labels)
    assert piped[-1].predict_set(piped[:-1].transform(features), 0.1).sizes.mean() < 3
    assert clone(search.best_estimator_).method == search.best_estimator_.method
    again = pickle.loads(pickle.dumps(piped[-1]))  # noqa: S301
    assert again.rule_ == piped[-1].rule_
    assert cross_val_predict(rs.ConformalClassifier(random_state=0), features, labels).shape == (150,)


@pytest.mark.parametrize("jobs", [None, 2])
def test_a_search_that_calibrates_on_the_rows_that_chose_is_warned_of(iris, jobs):
    model = rs.ConformalClassifier(LogisticRegression(max_iter=500), random_state=0)
    options = {"param_grid": {"method": [rs.Rank(), rs.Thr()]}, "scoring": rs.SetSize(0.1), "cv": 3, "n_jobs": jobs}
    with pytest.warns(rs.RanksetWarning, match="GridSearchCV chose method on rows that are now used for calibration"):
        GridSearchCV(model, **options).fit(*iris)
    named = {"param_grid": {"conformalclassifier__method": [rs.Rank(), rs.Thr()]}}
    with (
        pytest.warns(rs.RanksetWarning, match=r"chose conformalclassifier__method on .* method=Choice"),
        pytest.warns(rs.RanksetWarning, match="pipeline fitted standardscaler"),
    ):
        GridSearchCV(make_pipeline(StandardScaler(), model), **(options | named)).fit(*iris)


def test_searches_that_leave_the_calibration_rows_alone_are_not_warned_of(iris):
    GridSearchCV(
        rs.ConformalClassifier(LogisticRegression(max_iter=500), random_state=0),
        {"method": [rs.Rank(), rs.Thr()]},
        scoring=rs.SetSize(0.1),
        refit=False,
    ).fit(*iris)
    inside = GridSearchCV(LogisticRegression(max_iter=500), {"C": [0.1, 10.0]}, cv=3)
    model = rs.ConformalClassifier(inside, random_state=0).fit(*iris)
    assert model.estimator_.best_params_ in ({"C": 0.1}, {"C": 10.0})
    assert -3 < cross_val_score(model, *iris, scoring=rs.SetSize(0.1), cv=3).mean() < 0


def test_a_choice_among_scores_has_rows_of_its_own(iris):
    features, labels = iris
    options = {"split": rs.GivenSplit(np.arange(0, 150, 2)), "random_state": 0}
    choice = rs.Choice([rs.TopK(), rs.Thr()], alpha=0.1, share=0.4)
    model = rs.ConformalClassifier(SVC(), method=choice, **options).fit(features, labels)
    choosing, calibrating = choice.parts(np.arange(0, 150, 2), 0)
    assert not set(choosing) & set(calibrating)
    assert sorted([*choosing, *calibrating]) == list(range(0, 150, 2))
    assert (len(choosing), model.rule_.n) == (30, 45)
    assert model.method_ == model.rule_.score == rs.Thr()
    assert model.method is choice
    scores = model.decision_function(features[calibrating])
    assert model.rule_ == rs.calibrate(
        scores, labels[calibrating], score=rs.Thr(), kind="logits", classes=model.classes_
    )
    trained = FrozenEstimator(SVC().fit(*iris))
    assert rs.ConformalClassifier(trained, method=choice, random_state=0).fit(*iris).rule_.n == 90


def test_what_is_chosen_depends_on_no_row_that_calibrates(iris):
    features, labels = iris
    options = {"split": rs.GivenSplit(np.arange(0, 150, 2)), "random_state": 0}
    seen = []

    def objective(covered, sizes, columns, alpha):
        seen.append(len(sizes))
        return sizes.mean()

    choice = rs.Choice([rs.Rank(), rs.Thr()], objective=objective)
    rs.ConformalClassifier(method=choice, **options).fit(features, labels)
    assert set(seen) == {11}  # half of the 22 rows that choose


@pytest.mark.parametrize(
    ("make", "refusal"),
    [
        (lambda: rs.Choice([]), KindError.argument("scores", "a list of at least one score, or 'auto'", [])),
        (lambda: rs.Choice("rank"), KindError.argument("scores", "a list of at least one score, or 'auto'", "rank")),
        (
            lambda: rs.Choice([rs.Rank]),
            like(KindError, what="scores", received="the class Rank", expected="be an object"),
        ),
        (lambda: rs.Choice([rs.Rank()], alpha=5), LevelError.out_of_range(5, "Did you mean 0.05?")),
        (
            lambda: rs.Choice([rs.Rank()], objective="small"),
            RuleError.option("objective", "small", ("size", "singletons", "sscv", "worst_class")),
        ),
        (
            lambda: rs.Choice([rs.Rank()], share=1),
            SplitError.parameter("Choice", "share", "a number between 0 and 1", 1),
        ),
        (
            lambda: chosen(rs.CrossConformal(3)),
            like(
                SplitError,
                what="a method that chooses a score (Choice or 'auto')",
                received="the split CrossConformal(folds=3, stratify=False)",
            ),
        ),
        (lambda: chosen(rs.GivenSplit([0, 1])), SplitError.too_few_to_choose(2)),
    ],
)
def test_choices_that_cannot_be_made_are_told(make, refusal):
    with refused(refusal):
        make()


def chosen(split):
    method = rs.Choice([rs.Rank(), rs.Thr()])
    rs.ConformalClassifier(GaussianNB(), method=method, split=split).fit(*load_iris(return_X_y=True))


@pytest.mark.filterwarnings("ignore:lbfgs")
def test_classes_that_the_labels_lack_can_be_told_in_any_order(iris):
    features, labels = iris
    names = ["virginica", "setosa", "another", "versicolor"]
    model = rs.ConformalClassifier(classes=names, random_state=0).fit(features, labels)
    assert model.classes_.tolist() == sorted(names)
    assert model.rule_.classes.tolist() == sorted(names)
    assert model.rule_.predict(model.predict_proba(features), 0.1) == model.predict_set(features, 0.1)
    assert model.predict_proba(features)[:, 0].tolist() == [0.0] * 150
    assert (model.classes_[model.predict_proba(features).argmax(axis=1)] == model.predict(features)).all()
    p_values = model.predict_p(features)
    sets = model.predict_set(features, 0.1)
    for place, name in enumerate(model.classes_):
        assert ((p_values[:, place] > 0.1) == sets.covers([name] * 150)).all()
    with pytest.warns(rs.RanksetWarning, match="calibration rows are needed"):
        assert model.predict_set(features, 0.001).covers(["another"] * 150).all()
    with refused(LabelError.unknown("labels", 100, ["virginica"], ("setosa", "another", "versicolor"))):
        rs.ConformalClassifier(classes=names[1:]).fit(features, labels)
    with refused(KindError, what="classes", received="'setosa'"):
        rs.ConformalClassifier(classes="setosa").fit(features, labels)


def test_what_goes_by_the_order_of_classes_asks_for_sorted_ones():
    features, codes = make_classification(600, 10, n_informative=5, n_classes=3, weights=[0.7, 0.2], random_state=0)
    names = ["low", "mid", "high"]
    labels = np.array(names)[codes]
    by_cluster = rs.PerLabel(["common", "rare", "rare"])
    for told in ({"condition": by_cluster}, {"method": rs.Seen.fit(["low"], names)}, {"method": rs.Seen.fit([0], 3)}):
        with refused(
            KindError,
            what="classes",
            expected="be sorted if clusters or fitted scores depend on the order of classes",
            received="['low', 'mid', 'high']",
        ):
            rs.ConformalClassifier(GaussianNB(), classes=names, random_state=0, **told).fit(features, labels)
    by_cluster = rs.PerLabel(["rare", "common", "rare"])
    model = rs.ConformalClassifier(GaussianNB(), classes=sorted(names), condition=by_cluster, random_state=0)
    counts = model.fit(features, labels).rule_.calibration.counts
    _, calibrate = rs.Holdout().parts(labels, 0)[0]
    assert counts.tolist() == [(labels[calibrate] == "low").sum(), (labels[calibrate] != "low").sum()]


def test_classes_in_any_order_leave_scorers_of_scikit_learn_alone(iris):
    features, labels = iris
    for names in (["virginica", "setosa", "versicolor"], sorted(set(labels))):
        model = rs.ConformalClassifier(GaussianNB(), classes=names, random_state=0)
        assert cross_val_score(model, features, labels, scoring="neg_log_loss", cv=3).mean() > -1
    two = labels != "setosa"
    for names in (["virginica", "versicolor"], ["versicolor", "virginica"]):
        model = rs.ConformalClassifier(RidgeClassifier(), classes=names, random_state=0).fit(features[two], labels[two])
        chosen = model.classes_[(model.decision_function(features[two]) > 0).astype(int)]
        assert (chosen == model.predict(features[two])).all()


def test_a_fit_that_fails_leaves_the_classifier_as_it_was(iris):
    features, labels = iris
    model = rs.ConformalClassifier(GaussianNB(), random_state=0).fit(features, labels)
    before = model.predict_set(features, 0.1)
    model.set_params(classes=["virginica", "versicolor", "setosa"], split=rs.CrossConformal(3))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(features > 5, np.nan, features), labels)
    assert model.predict_set(features, 0.1) == before
    model.fit(features, labels)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(features > 5, np.nan, features), labels)
    assert len(model.predict_set(features, 0.1)) == 150


def test_texts_keep_their_index_and_weights_their_order():
    texts = pd.Series(["good movie", "bad film"] * 30, index=np.arange(60) + 100)
    labels = pd.Series(["yes", "no"] * 30, index=texts.index)
    model = rs.ConformalClassifier(make_pipeline(CountVectorizer(), MultinomialNB()), random_state=0)
    sets = model.fit(texts, labels).predict_set(texts, 0.1)
    assert sets.to_frame().index.equals(texts.index)
    with refused(InputError.other_order("labels", "the rows")):
        sets.covers(labels[::-1])
    with refused(InputError.other_order("labels", "the rows")):
        rs.Coverage(0.1)(model, texts, labels[::-1])
    frame = pd.DataFrame({"x": np.arange(60.0)}, index=texts.index)
    weights = pd.Series(np.ones(60), index=texts.index)[::-1]
    with refused(InputError.other_order("sample_weight", "the rows")):
        rs.ConformalClassifier(GaussianNB()).fit(frame, labels, sample_weight=weights)


class Duck:
    """A step that tells nothing of itself."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


def test_steps_around_the_classifier_that_learn_are_warned_of(iris):
    model = rs.ConformalClassifier(GaussianNB(), random_state=0)
    with pytest.warns(rs.RanksetWarning, match="pipeline fitted standardscaler on the calibration rows"):
        make_pipeline(StandardScaler(), model).fit(*iris)
    make_pipeline(Normalizer(), model).fit(*iris)
    make_pipeline("passthrough", model).fit(*iris)
    make_pipeline(FrozenEstimator(StandardScaler().fit(iris[0])), model).fit(*iris)
    make_pipeline(make_pipeline(Normalizer()), model).fit(*iris)
    with pytest.warns(rs.RanksetWarning, match="pipeline fitted duck"):
        make_pipeline(Duck(), model).fit(*iris)
    rs.ConformalClassifier(make_pipeline(StandardScaler(), GaussianNB()), random_state=0).fit(*iris)
    cross_val_score(make_pipeline(StandardScaler(), model), *iris, scoring=rs.SetSize(0.1), cv=3)


def test_masked_rows_and_a_mask_in_another_order_are_refused(iris):
    features, labels = iris
    hidden = np.ma.array(np.arange(150) % 3, mask=np.arange(150) % 7 == 0)
    with refused(KindError, what="X and y", received="'a masked array; drop the masked rows'"):
        rs.ConformalClassifier(GaussianNB()).fit(features, hidden)
    with refused(KindError, what="X and y", received="'a masked array; drop the masked rows'"):
        rs.ConformalClassifier(GaussianNB()).fit(np.ma.array(features), labels)
    frame = pd.DataFrame(features, index=np.arange(150) + 1000)
    some = pd.Series(np.arange(150) % 3 == 0, index=frame.index)
    rs.ConformalClassifier(GaussianNB(), split=rs.GivenSplit(some)).fit(frame, labels)
    with refused(InputError.other_order("split", "the rows")):
        rs.ConformalClassifier(GaussianNB(), split=rs.GivenSplit(some[::-1])).fit(frame, labels)


PAIRS = SVC(kernel="linear", decision_function_shape="ovo")


class Held(ClassifierMixin, BaseEstimator):
    """A wrapper of somebody else's, with a name of its own for what it wraps."""

    def __init__(self, inner=PAIRS):
        self.inner = inner

    def fit(self, X, y):
        self.trained = clone(self.inner).fit(X, y)
        self.classes_, self.me = self.trained.classes_, self
        return self

    def predict(self, X):
        return self.trained.predict(X)

    def decision_function(self, X):
        return self.trained.decision_function(X)


def agreement(model, X):
    """The share of rows whose largest decision is that for the predicted class."""
    return (model.classes_[model.decision_function(X).argmax(axis=1)] == model.predict(X)).mean()


@pytest.mark.parametrize(
    "inner",
    [
        PAIRS,
        make_pipeline(StandardScaler(), PAIRS),
        GridSearchCV(PAIRS, {"C": [1.0]}, cv=3),
        RFE(PAIRS, n_features_to_select=2),
        RFECV(PAIRS, cv=3),
        SelfTrainingClassifier(PAIRS),
        StackingClassifier([("bayes", GaussianNB())], final_estimator=PAIRS, cv=3),
        GridSearchCV(make_pipeline(StandardScaler(), RFE(PAIRS)), {"rfe__n_features_to_select": [3]}, cv=3),
        Held(),
        Held(RFE(PAIRS)),
    ],
    ids=lambda inner: type(inner).__name__,
)
@pytest.mark.filterwarnings("ignore:y contains no unlabeled samples")
def test_votes_of_pairs_are_no_decisions_about_classes(inner):
    features, labels = load_iris(return_X_y=True)
    trained = clone(inner).fit(features, labels)
    assert agreement(trained, features) < 0.5  # scikit-learn passes the decisions about pairs on
    for model in (inner, FrozenEstimator(trained)):
        with refused(
            KindError,
            what="estimator",
            expected='be a classifier with decision_function_shape="ovr"',
            received="'a classifier that compares pairs of classes'",
        ):
            rs.ConformalClassifier(model, random_state=0).fit(features, labels)


@pytest.mark.parametrize(
    "inner",
    [
        OneVsRestClassifier(PAIRS),
        OneVsOneClassifier(PAIRS),
        AdaBoostClassifier(PAIRS, n_estimators=3),
        StackingClassifier([("pairs", PAIRS)], final_estimator=RidgeClassifier(), cv=3),
        RFE(SVC(kernel="linear")),
    ],
    ids=lambda inner: type(inner).__name__,
)
def test_decisions_about_classes_are_taken_also_of_classifiers_made_of_votes(iris, inner):
    assert agreement(clone(inner).fit(*iris), iris[0]) > 0.9
    model = rs.ConformalClassifier(inner, random_state=0).fit(*iris)
    assert model.predict_set(iris[0], 0.1).covers(iris[1]).mean() > 0.85


@pytest.mark.parametrize("inner", [BaggingClassifier(PAIRS, 3), CalibratedClassifierCV(PAIRS, cv=3)], ids=repr)
def test_probabilities_made_of_votes_are_taken(iris, inner):
    model = rs.ConformalClassifier(inner, random_state=0).fit(*iris)
    assert model.rule_.kind == "probs"
    assert model.predict_set(iris[0], 0.1).covers(iris[1]).mean() > 0.85


def test_two_classes_have_one_pair(iris):
    two = iris[1] != "virginica"
    model = rs.ConformalClassifier(RFE(PAIRS), random_state=0).fit(iris[0][two], iris[1][two])
    assert model.predict_set(iris[0][two], 0.1).covers(iris[1][two]).mean() > 0.85


class Weighed(ClassifierMixin, BaseEstimator):
    """Remembers the weights it got."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.weights_, self.n_ = np.unique(y), sample_weight, len(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_fit_parameters_are_sliced_along_the_split(iris):
    features, labels = iris
    rows = np.arange(0, 150, 3)
    model = rs.ConformalClassifier(Weighed(), split=rs.GivenSplit(rows))
    model.fit(features, labels, sample_weight=np.arange(150))
    assert model.estimator_.weights_.tolist() == np.setdiff1d(np.arange(150), rows).tolist()


def test_weights_and_groups_are_routed(iris):
    features, labels = iris
    groups = np.array(["even", "odd"])[np.arange(150) % 2]
    with sklearn.config_context(enable_metadata_routing=True):
        inner = Weighed().set_fit_request(sample_weight=True)
        model = rs.ConformalClassifier(inner, condition=rs.PerGroup(), random_state=0).set_fit_request(groups=True)
        model.fit(features, labels, sample_weight=np.ones(150), groups=groups)
        assert len(model.estimator_.weights_) == model.estimator_.n_
        assert model.rule_.groups.tolist() == ["even", "odd"]
        assert len(model.predict_set(features, 0.1, groups=groups)) == 150
        with pytest.raises(TypeError, match="unexpected"):
            model.fit(features, labels, groups=groups, something=1)


@pytest.mark.filterwarnings(OF_SEARCH)
def test_scorers_reach_through_pipelines_and_searches(iris):
    pipeline = make_pipeline(StandardScaler(), rs.ConformalClassifier(random_state=0))
    search = GridSearchCV(pipeline, {"conformalclassifier__method": [rs.Rank(), rs.Thr()]}, scoring=rs.SetSize(0.05))
    search.fit(*iris)
    assert -3 <= search.best_score_ < 0
    assert rs.Coverage(0.1)(search, *iris) > 0.8
    with refused(
        KindError,
        what="estimator",
        received="LogisticRegression()",
        expected="be a fitted ConformalClassifier, or one inside a pipeline",
    ):
        rs.SetSize()(LogisticRegression(), *iris)
    with refused(LevelError.out_of_range(5, "Did you mean 0.05?")):
        rs.SetSize(5)


@pytest.mark.filterwarnings(OF_SEARCH)
def test_groups_are_routed_to_scorers_too(iris):
    groups = np.arange(150) % 2
    with sklearn.config_context(enable_metadata_routing=True):
        model = rs.ConformalClassifier(condition=rs.PerGroup(), random_state=0).set_fit_request(groups=True)
        search = GridSearchCV(model, {"method": [rs.Rank(), rs.Thr()]}, scoring=rs.SetSize(0.1), cv=3)
        search.fit(*iris, groups=groups)
    assert np.isfinite(search.best_score_)


def test_rows_keep_their_index(iris):
    frame = pd.DataFrame(iris[0], index=[f"flower {row}" for row in range(150)])
    sets = rs.ConformalClassifier(random_state=0).fit(frame, iris[1]).predict_set(frame, 0.1)
    assert sets.to_frame().index.equals(frame.index)


def test_a_model_with_other_labels_is_refused():
    features, labels = load_iris(return_X_y=True)
    trained = LogisticRegression(max_iter=500).fit(features, labels)
    names = np.array(["setosa", "versicolor", "virginica"])
    for y in (names[labels], names.astype(object)[labels]):
        with refused(LabelError.other_labels(["setosa", "versicolor", "virginica"], [0, 1, 2])):
            rs.ConformalClassifier(FrozenEstimator(trained)).fit(features, y)
    some = labels != 0
    model = rs.ConformalClassifier(make_pipeline(StandardScaler(), FrozenEstimator(trained)), random_state=0)
    assert model.fit(features[some], labels[some]).classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("make", "refusal"),
    [
        (
            lambda X, y: rs.ConformalClassifier(LinearRegression()).fit(X, X[:, 0] > 5),
            like(KindError, what="estimator", received="'LinearRegression'"),
        ),
        (
            lambda X, y: rs.ConformalClassifier(method="apps").fit(X, y),
            ScoreError.unknown_name("method", "apps", tuple(NAMED_SCORES), "aps"),
        ),
        (
            lambda X, y: rs.ConformalClassifier(method=rs.Aps).fit(X, y),
            KindError.class_instead_of_object("method", rs.Aps),
        ),
        (
            lambda X, y: rs.ConformalClassifier(condition=rs.PerGroup()).fit(X, y),
            LabelError.groups_missing(rs.PerGroup()),
        ),
        (
            lambda X, y: rs.ConformalClassifier().fit(X, y, groups=y),
            LabelError.groups_unused(rs.Marginal()),
        ),
        (
            lambda X, y: rs.ConformalClassifier(condition=rs.PerGroup()).fit(X, y, groups=[*y, *y]),
            InputError.length("groups", 150, 300),
        ),
        (
            lambda X, y: rs.ConformalClassifier(FrozenEstimator(SVC().fit(X, y)), split=rs.Holdout()).fit(X, y),
            like(
                KindError,
                what="split",
                expected="be None for a FrozenEstimator, because all rows are used for calibration",
            ),
        ),
        (lambda X, y: fitted(rs.GivenSplit(np.ma.array(y == 0, mask=y == 1))), like(SplitError)),
        (lambda X, y: fitted(rs.GivenSplit([[1], [1, 2]])), like(SplitError, what="calibration of GivenSplit")),
    ],
)
@pytest.mark.filterwarnings("ignore:lbfgs")
def test_what_cannot_be_fitted_is_told(iris, make, refusal):
    with refused(refusal):
        make(*iris)


def test_a_frozen_estimator_must_be_fitted(iris):
    with pytest.raises(NotFittedError, match="not fitted"):
        rs.ConformalClassifier(FrozenEstimator(SVC())).fit(*iris)


def test_a_refit_leaves_nothing_behind(iris):
    model = rs.ConformalClassifier(SVC(), split=rs.CrossConformal(3), random_state=0).fit(*iris)
    assert len(model.estimators_) == 3
    assert not hasattr(model.set_params(split=None).fit(*iris), "estimators_")


def test_decisions_about_two_of_three_classes_have_three_columns():
    features = np.arange(20.0)[:, None]
    labels = np.array(["a"] * 9 + ["b"] * 10 + ["rare"])
    split = rs.GivenSplit(np.array([*range(0, 19, 2), 19]))
    decisions = rs.ConformalClassifier(SVC(), split=split).fit(features, labels).decision_function(features)
    assert decisions.shape == (20, 3)
    assert np.isneginf(decisions[:, 2]).all()


def test_asking_before_fitting_is_told_so():
    model = rs.ConformalClassifier()
    for ask in (model.predict, model.predict_set, model.predict_p, model.predict_proba):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask([[0.0]])
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("make", "refusal"),
    [
        (lambda: rs.Holdout(0), SplitError.parameter("Holdout", "share", "a number between 0 and 1", 0)),
        (lambda: rs.Holdout(share=True), SplitError.parameter("Holdout", "share", "a number between 0 and 1", True)),  # noqa: FBT003
        (lambda: rs.Holdout(classes="abc"), KindError.argument("classes", "a list of classes", "abc")),
        (lambda: rs.Holdout(stratify=True, classes=[0, 1]), SplitError.stratified_classes()),
        (
            lambda: rs.CrossConformal(1),
            SplitError.parameter("CrossConformal", "folds", "an integer of at least 2", 1),
        ),
        (lambda: fitted(rs.GivenSplit([0, 0])), SplitError.rows(150)),
        (lambda: fitted(rs.GivenSplit([150])), SplitError.rows(150)),
        (lambda: fitted(rs.GivenSplit(np.ones(150, bool))), SplitError.rows(150)),
        (lambda: fitted(rs.GivenSplit(np.arange(0))), SplitError.rows(150)),
        (lambda: fitted(rs.CrossConformal(151)), SplitError.too_few_rows(150, 151)),
        (
            lambda: fitted("half"),
            KindError.argument("split", "an object such as rankset.Holdout() or rankset.CrossConformal()", "half"),
        ),
        (
            lambda: fitted(rs.Holdout),
            like(
                KindError,
                what="split",
                received="<class 'rankset.integrations.sklearn.splits.Holdout'>",
                expected="be an object such as rankset.Holdout() or rankset.CrossConformal()",
            ),
        ),
    ],
)
def test_splits_that_cannot_be_are_told_so(make, refusal):
    with refused(refusal):
        make()


def fitted(split):
    return rs.ConformalClassifier(split=split).fit(*load_iris(return_X_y=True))


class Remembers(ClassifierMixin, BaseEstimator):
    """A model that is right about every row it was trained on, and knows nothing else."""

    def fit(self, X, y):
        self.classes_, self.known_ = np.unique(y), dict(zip(X[:, 0].tolist(), y.tolist(), strict=True))
        return self

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        hits = [[self.known_.get(row) == label for label in self.classes_] for row in X[:, 0].tolist()]
        return np.where(np.any(hits, axis=1, keepdims=True), hits, 1 / len(self.classes_))


@pytest.mark.filterwarnings("ignore:a stratified split")
@pytest.mark.parametrize("split", [*SPLITS, rs.GivenSplit(np.arange(0, 90, 2))], ids=repr)
def test_no_model_calibrates_on_rows_it_was_trained_on(split):
    labels = np.random.default_rng(0).integers(0, 3, 90)
    for train, calibrate in split.parts(labels, 0):
        assert sorted([*train, *calibrate]) == list(range(90))
    assert len({row for _, rows in split.parts(labels, 0) for row in rows}) == sum(
        len(rows) for _, rows in split.parts(labels, 0)
    )
    rows = np.arange(90.0)[:, np.newaxis]
    model = rs.ConformalClassifier(Remembers(), method=rs.TopK(), split=split, random_state=0).fit(rows, labels)
    ranks = np.concatenate([rule.calibration.keys[0] for rule in getattr(model.rule_, "rules", [model.rule_])])
    assert (ranks > 1).mean() > 0.5  # a model that has seen them would rank every label first


@pytest.mark.parametrize("split", [rs.Holdout(0.5, stratify=True), rs.CrossConformal(3, stratify=True)], ids=repr)
def test_a_stratified_split_claims_no_law_unless_every_label_has_a_threshold(split, iris):
    model = rs.ConformalClassifier(GaussianNB(), split=split, random_state=0)
    with pytest.warns(rs.RanksetWarning, match="a stratified split uses the labels"):
        model.fit(*iris)
    assert not model.guaranteed_
    sets = model.predict_set(iris[0], 0.2)
    assert sets.law is None
    assert rs.evaluate(sets, iris[1]).expected is None
    exact = rs.ConformalClassifier(GaussianNB(), split=split, condition=rs.PerLabel(), random_state=0)
    assert exact.fit(*iris).guaranteed_


def stratified(split, iris, **options):
    """A classifier fitted with a stratified split."""
    with pytest.warns(rs.RanksetWarning, match="a stratified split uses the labels"):
        return rs.ConformalClassifier(GaussianNB(), split=split, random_state=0, **options).fit(*iris)


@pytest.mark.parametrize("method", [rs.Rank(), rs.Choice((rs.Thr(), rs.Rank())), "auto"], ids=repr)
def test_the_rule_of_a_stratified_split_claims_nothing_itself(iris, tmp_path, method):
    rule, probs = stratified(rs.Holdout(0.5, stratify=True), iris, method=method).rule_, np.full((9, 3), 1 / 3)
    rule.save(tmp_path / "rule.rankset")
    loaded = rs.load(tmp_path / "rule.rankset")
    plain = replace(rule, spec=replace(rule.spec, guaranteed=True))
    assert plain.predict(probs, 0.2).law is not None
    assert rule != plain
    assert pickle.loads(pickle.dumps(rule)) == rule  # noqa: S301
    for one in (rule, loaded, rule.update(probs, [0] * 9), plain.merge(rule), rule.merge(plain)):
        assert not one.guaranteed
        assert one.predict(probs, 0.2).law is None
        assert one.at(0.2).law is None
        assert rs.evaluate(one.predict(probs, 0.2), [0] * 9).expected is None
        assert "coverage is not proven, because of a stratified split" in repr(one)
        assert "not proven" in one._repr_html_()
        with pytest.raises(RuleError, match="a rule from a stratified split"):
            one.coverage_band(0.2)
        (score,) = rs.report(one, probs, [0] * 9).study.data["scores"]
        assert "band" not in score
        assert set(score["proven"]) == {0.0}
    rule.save(tmp_path / "again.rankset")
    assert rs.load(tmp_path / "again.rankset") == rule == loaded


def test_loaded_rules_of_stratified_folds_prove_nothing(iris, tmp_path):
    model = stratified(rs.CrossConformal(3, stratify=True), iris)
    assert model.rule_.guarantee(0.2) == 0
    for fold, rule in enumerate(model.rule_.rules):
        rule.save(tmp_path / f"{fold}.rankset")
    loaded = rs.CrossRule(tuple(rs.load(path) for path in sorted(tmp_path.iterdir())))
    assert loaded.guarantee(0.2) == 0
    assert not loaded.guaranteed
    sound = rs.ConformalClassifier(
        GaussianNB(), split=rs.CrossConformal(3, stratify=True), condition=rs.PerLabel(), random_state=0
    ).fit(*iris)
    assert sound.rule_.guaranteed
    assert rs.CrossRule(sound.rule_.rules).guarantee(0.2) > 0


def test_a_plain_split_keeps_the_law(iris):
    model = rs.ConformalClassifier(LogisticRegression(), random_state=0).fit(*iris)
    assert model.guaranteed_
    assert model.predict_set(iris[0], 0.2).law is not None


def test_stratified_parts_have_the_shares_of_the_whole():
    labels = np.repeat([0, 1, 2], [60, 30, 10])
    shares = [np.bincount(labels[rows]).tolist() for _, rows in rs.Holdout(0.5, stratify=True).parts(labels, 0)]
    assert shares == [[30, 15, 5]]
    shares = [np.bincount(labels[rows]).tolist() for _, rows in rs.CrossConformal(5, stratify=True).parts(labels, 0)]
    assert shares == [[12, 6, 2]] * 5


@pytest.mark.parametrize("split", [rs.Holdout(0.5), rs.CrossConformal(5)], ids=repr)
def test_by_default_no_split_looks_at_labels(split):
    labels = np.repeat([0, 1, 2], [60, 30, 10])
    for seed in range(5):
        ours, theirs = split.parts(labels, seed), split.parts(labels[::-1], seed)
        assert all((a == c).all() and (b == d).all() for (a, b), (c, d) in zip(ours, theirs, strict=True))


@pytest.mark.filterwarnings("ignore:these classes have no training rows:rankset.RanksetWarning")
def test_training_goes_on_until_it_has_every_class():
    rng = np.random.default_rng(0)
    for seed in range(50):
        labels = np.where(rng.random(80) < 0.05, "rare", rng.choice(["a", "b"], 80))
        plain, split = rs.Holdout(0.5).parts(labels, seed)[0], rs.Holdout(0.5, classes=["a", "b", "rare"])
        (train, calibrate), most = split.parts(labels, seed)[0], 60
        assert sorted([*train, *calibrate]) == list(range(80))
        assert set(plain[0]) <= set(train)
        if set(labels[plain[0]]) == {"a", "b", "rare"}:
            assert train.tolist() == plain[0].tolist()
        elif len(train) < most:
            extra = sorted(set(train) - set(plain[0]))
            assert (labels[extra] == "rare").sum() == 1
        else:
            assert len(train) == most


def test_where_training_stops_depends_on_rows_that_train_only():
    labels = np.random.default_rng(1).choice(list("aaaaabbbbc"), 60)
    for seed in range(20):
        split = rs.Holdout(0.5, classes=list("abc"))
        train, calibrate = split.parts(labels, seed)[0]
        for other in ("a", "b", "c"):
            changed = labels.copy()
            changed[calibrate] = other
            assert split.parts(changed, seed)[0][0].tolist() == train.tolist()


def test_a_class_that_does_not_train_is_warned_of():
    late = next(seed for seed in range(99) if 39 in np.random.RandomState(seed).permutation(40)[30:])
    with pytest.warns(rs.RanksetWarning, match="these classes have no training rows because they are rare: 'c'"):
        rs.Holdout(0.5, classes=["a", "c"]).parts(np.array(["a"] * 39 + ["c"]), late)
    with pytest.warns(rs.RanksetWarning, match="these classes have no training rows because they are rare: 'c'"):
        assert len(rs.Holdout(0.5, classes=["a", "c"]).parts(np.array(["a"] * 40), 0)[0][1]) == 10


def test_a_split_is_the_same_for_the_same_seed(iris):
    ours, theirs, other = (rs.ConformalClassifier(random_state=seed).fit(*iris).rule_ for seed in (0, 0, 1))
    assert ours == theirs
    assert ours != other


def test_importing_the_library_loads_nothing_optional():
    code = (
        "import sys, rankset; rankset.Holdout; "
        "print([name for name in ('sklearn', 'scipy', 'pandas', 'torch', 'matplotlib', 'numba') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_a_given_split_by_labels_of_rows_is_refused_unless_they_are_row_numbers(iris):
    features, labels = iris
    frame = pd.DataFrame(features)
    part = frame.index[::3]
    by_label = rs.ConformalClassifier(GaussianNB(), split=rs.GivenSplit(part)).fit(frame, labels)
    by_number = rs.ConformalClassifier(GaussianNB(), split=rs.GivenSplit(np.arange(0, 150, 3))).fit(frame, labels)
    assert by_label.rule_ == by_number.rule_
    shuffled = frame.set_index(np.random.default_rng(0).permutation(150))
    with refused(KindError.row_labels("calibration", part)):
        rs.ConformalClassifier(GaussianNB(), split=rs.GivenSplit(part)).fit(shuffled, labels)


def test_ids_are_refused_with_what_to_do_instead(iris):
    with refused(KindError.no_ids()):
        rs.ConformalClassifier(GaussianNB(), method=rs.Aps()).fit(*iris, ids=range(150))
