"""ConformalClassifier with targets: rows with several labels, costs, and promises with a confidence."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags

import rankset as rs
from rankset.errors import KindError, LabelError, RuleError, SplitError
from rankset.integrations.sklearn.cross_guarantee import proven_coverage
from refusals import refused

X, Y = make_multilabel_classification(1000, 20, n_classes=6, random_state=0)
X = X / 10
SOME, NEW = slice(0, 700), slice(700, None)
LINEAR = OneVsRestClassifier(LogisticRegression())
MODELS = {
    "matrix": (LINEAR, "marginals"),
    "network": (MLPClassifier(max_iter=20), "marginals"),
    "chain": (ClassifierChain(LogisticRegression()), "marginals"),
    "list": (MultiOutputClassifier(LogisticRegression()), "marginals"),
    "forest": (RandomForestClassifier(20, random_state=0), "marginals"),
    "neighbours": (KNeighborsClassifier(), "marginals"),
    "search": (GridSearchCV(MultiOutputClassifier(LogisticRegression()), {"estimator__C": [1, 2]}, cv=2), "marginals"),
    "pipeline": (make_pipeline(StandardScaler(), LINEAR), "marginals"),
    "decisions": (RidgeClassifier(), "decision"),
    "margins": (OneVsRestClassifier(LinearSVC()), "decision"),
}


def fitted(target="recall", estimator=LINEAR, y=Y[SOME], **options):
    return rs.ConformalClassifier(estimator, target=target, random_state=0, **options).fit(X[SOME], y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("target", [rs.Recall(), rs.AllLabels()], ids=repr)
def test_every_model_for_several_labels_calibrates_as_the_library_does(name, target):
    estimator, kind = MODELS[name]
    model = fitted(target, estimator)
    assert model.rule_.kind == kind
    held_out = rs.Holdout().parts(Y[SOME], 0)[0][1]

    def outputs(rows):
        values = (
            model.estimator_.predict_proba(rows) if kind == "marginals" else model.estimator_.decision_function(rows)
        )
        return np.column_stack([part[:, 1] for part in values]) if isinstance(values, list) else values

    rule = rs.calibrate(outputs(X[SOME][held_out]), Y[SOME][held_out], target=target, kind=kind)
    assert model.rule_ == rule
    assert model.predict_set(X[NEW], 0.2) == rule.predict(outputs(X[NEW]), 0.2)
    assert (model.predict_p(X[NEW]) == rule.p_values(outputs(X[NEW]))).all()
    assert rs.evaluate(model.predict_set(X[NEW], 0.2), Y[NEW]).observed > 0.73
    assert model.predict(X[NEW]).shape == (300, 6)


def test_scores_have_the_defaults_of_the_library():
    assert fitted("recall").method_ == rs.Share()
    assert fitted("all").method_ == rs.Thr()
    assert fitted("all", method="rank").method_ == rs.Rank()
    assert fitted(rs.OneLabel(), None, y=Y[SOME, 0]).method_ == rs.Rank()
    assert isinstance(fitted("recall", None).estimator_, OneVsRestClassifier)


NAMES = ["a", "b", "c", "d", "e", "f"]
LISTS = [[NAMES[k] for k in np.flatnonzero(row)] for row in Y[SOME]]


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (pd.DataFrame(Y[SOME], columns=NAMES), None),
        (pl.DataFrame(Y[SOME], schema=NAMES), None),
        (pd.DataFrame(Y[SOME], columns=NAMES)[NAMES[::-1]], NAMES),
        (scipy.sparse.csr_matrix(Y[SOME]), NAMES),
        (Y[SOME].astype(bool), NAMES),
        (LISTS, NAMES),
    ],
    ids=["pandas", "polars", "reordered", "sparse", "boolean", "lists"],
)
def test_labels_can_have_every_form(y, classes):
    model, plain = fitted(y=y, classes=classes), fitted()
    assert model.classes_.tolist() == NAMES
    assert plain.classes_.tolist() == list(range(6))
    named = [[NAMES[k] for k in labels] for labels in plain.predict_set(X[NEW]).to_lists()]
    assert model.predict_set(X[NEW]).to_lists() == named


def test_rows_of_frames_keep_their_index():
    frame = pd.DataFrame(X, index=np.arange(1000) + 5)
    labels = pd.DataFrame(Y, index=frame.index)
    model = rs.ConformalClassifier(LINEAR, target="recall", random_state=0).fit(frame[SOME], labels[SOME])
    assert model.predict_set(frame[NEW]).to_frame().index.equals(frame.index[NEW])
    assert model.rule_.n == fitted().rule_.n
    with refused(rs.errors.InputError):
        rs.ConformalClassifier(LINEAR, target="recall").fit(frame[SOME], labels[SOME][::-1])


class Constant(ClassifierMixin, BaseEstimator):
    """A model with a list of probabilities and a label that is always ``value`` in training."""

    def __init__(self, value=0):
        self.value = value

    def fit(self, X, y):
        self.classes_ = [np.array([0, 1]), np.array([self.value]), np.array([0, 1])]
        return self

    def predict_proba(self, X):
        return [
            np.full((len(X), 2), 0.5),
            np.ones((len(X), 1)),
            np.column_stack((np.full(len(X), 0.2), np.full(len(X), 0.8))),
        ]


@pytest.mark.parametrize("value", [0, 1])
def test_a_label_with_one_value_in_training_has_probability_0_or_1(value):
    labels = Y[SOME, :3].copy()
    model = rs.ConformalClassifier(Constant(value), target="all", random_state=0).fit(X[SOME], labels)
    assert model.predict_proba(X[:1]).tolist() == [[0.5, float(value), 0.8]]
    labels[:, 1] = value
    forest = rs.ConformalClassifier(RandomForestClassifier(5), target="all", random_state=0).fit(X[SOME], labels)
    assert (forest.predict_proba(X[NEW])[:, 1] == value).all()
    with pytest.raises(KindError, match="classes_"):
        rs.ConformalClassifier(FrozenEstimator(NoClasses()), target="all").fit(X[SOME], labels)


class NoClasses(Constant):
    """The same without a list of values."""

    def __sklearn_is_fitted__(self):
        return True


def test_models_with_other_numbers_of_labels_are_refused():
    trained = clone(LINEAR).fit(X[SOME], Y[SOME, :4])
    with pytest.raises(KindError, match="one output for each of the 6 classes"):
        fitted(estimator=FrozenEstimator(trained))
    assert fitted(estimator=FrozenEstimator(clone(LINEAR).fit(X[NEW], Y[NEW]))).rule_.n > 500


def test_labels_in_another_form_are_refused():
    for wrong in (Y[SOME, 0], Y[SOME, :1], [[0, 1], [1, 0]]):
        with pytest.raises(LabelError, match="at least two"):
            fitted(y=wrong)
    with pytest.raises(LabelError, match="0 and 1"):
        fitted(y=Y[SOME] * 2)
    with pytest.raises(ValueError, match="requires y"):
        rs.ConformalClassifier(LINEAR, target="recall").fit(X, None)
    with refused(LabelError.several("y", "shape (1000, 6)")):
        rs.ConformalClassifier(LINEAR).fit(X, Y)
    with refused(RuleError):
        fitted("most")


@pytest.mark.parametrize(
    "split", [rs.Holdout(stratify=True), rs.Holdout(classes=[0]), rs.CrossConformal(stratify=True)], ids=repr
)
def test_splits_that_look_at_labels_are_refused(split):
    with refused(SplitError.looks_at_labels(split)):
        fitted("all", split=split)


BIG_X, BIG_Y = make_multilabel_classification(4000, 20, n_classes=6, random_state=1)
BIG_X = BIG_X / 10


@pytest.mark.parametrize("estimator", [LINEAR, RidgeClassifier()], ids=["marginals", "decision"])
@pytest.mark.parametrize("target", [rs.Recall(), rs.AllLabels()], ids=repr)
def test_auto_fits_and_chooses_as_the_library_does(estimator, target):
    model = rs.ConformalClassifier(estimator, target=target, method=rs.Choice("auto", alpha=0.2), random_state=0)
    model.fit(BIG_X, BIG_Y)
    held_out = rs.Holdout().parts(BIG_Y, 0)[0][1]
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    rows, trained = BIG_X[held_out], model.estimator_
    marginals = hasattr(trained, "predict_proba")
    outputs = trained.predict_proba(rows) if marginals else trained.decision_function(rows)
    kind = "marginals" if marginals else "decision"
    wanted = rs.auto(outputs, BIG_Y[held_out], 0.2, target=target, kind=kind, seed=seed)
    assert model.rule_ == wanted
    assert model.method_ == wanted.score
    assert "rows calibrate" in str(wanted.score)
    assert model.rule_.n + model.rule_.set_aside < len(held_out)


def test_choice_compares_on_rows_that_do_not_calibrate():
    choice = rs.Choice(["rank", "thr", "share"], alpha=0.2)
    for target in (rs.Recall(), rs.AnyLabel()):
        model = fitted(target, method=choice)
        choosing, calibrating = choice.parts(rs.Holdout().parts(Y[SOME], 0)[0][1], 0)
        outputs, same = model.estimator_.predict_proba, {"target": target, "kind": "marginals"}
        best = rs.choose(choice.candidates, outputs(X[choosing]), Y[choosing], 0.2, **same)
        assert model.method_ == best
        assert model.rule_ == rs.calibrate(outputs(X[calibrating]), Y[calibrating], method=best, **same)


def test_scores_are_chosen_for_costs():
    cost = rs.Cost({0: 1, 1: 5})
    model = rs.ConformalClassifier(target=cost, method=rs.Choice(["rank", "thr"]), random_state=0)
    assert model.fit(X, Y[:, 0]).rule_.target == cost
    assert model.method_ in (rs.Rank(), rs.Thr())


def test_choices_without_a_target_for_them_are_refused_before_training():
    with refused(RuleError.only_calibrate("a method that chooses a score", rs.CertainLabels())):
        fitted("certain", method="auto")
    with refused(RuleError.option("objective", "sscv", ("size",))):
        fitted("recall", method=rs.Choice(["rank", "thr"], objective="sscv"))
    with refused(SplitError):
        fitted("all", method="auto", split=rs.CrossConformal(3))


def test_given_rows_calibrate():
    model = fitted("any", split=rs.GivenSplit(range(0, 700, 2)))
    assert model.rule_.n + model.rule_.set_aside == 350


def test_tags_parameters_pickles_and_clones():
    model = rs.ConformalClassifier(LINEAR, target=rs.AtMostMissed(1), random_state=0)
    tags = get_tags(model)
    assert tags.classifier_tags.multi_label
    assert tags.target_tags.multi_output
    assert not tags.target_tags.single_output
    plain = get_tags(rs.ConformalClassifier())
    assert (plain.classifier_tags.multi_label, plain.target_tags.multi_output) == (False, False)
    assert plain.classifier_tags.multi_class
    assert clone(model).get_params()["target"] == rs.AtMostMissed(1)
    assert clone(model).set_params(target="all").fit(X, Y).rule_.target == rs.AllLabels()
    model.fit(X[SOME], Y[SOME])
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert again.predict_set(X[NEW]) == model.predict_set(X[NEW])
    assert again.rule_ == model.rule_


@pytest.mark.parametrize(("target", "least"), [("recall", 0.75), ("all", 0.75), ("any", 0.75), ("missed:1", 0.75)])
def test_scorers_measure_what_the_target_promises(target, least):
    model = rs.ConformalClassifier(LINEAR, target=target, random_state=0)
    covered = cross_val_score(model, X, Y, scoring=rs.Coverage(0.2), cv=3)
    assert least < covered.mean() < 0.95
    assert -6 < cross_val_score(model, X, Y, scoring=rs.SetSize(0.2), cv=3).mean() < 0
    fold = model.fit(X[SOME], Y[SOME])
    sets = fold.predict_set(X[NEW], 0.2)
    hits, labelled = sets.recall(Y[NEW]), Y[NEW].any(axis=1)
    missed = (1 - hits[labelled]) * Y[NEW].sum(axis=1)[labelled]
    measured = {
        "recall": hits[labelled].mean(),
        "all": (missed < 0.5).mean(),
        "any": (hits[labelled] > 0).mean(),
        "missed:1": (missed < 1.5).mean(),
    }
    assert rs.Coverage(0.2)(fold, X[NEW], Y[NEW]) == pytest.approx(measured[target])


class Own:
    """A target of a user's own."""

    def entries(self, labels):
        return labels.order[labels.ends - 1], None


def test_targets_of_your_own_have_no_scorer_and_prove_nothing_with_folds():
    model = fitted(Own())
    assert model.predict_set(X[NEW], 0.2).to_lists() == fitted("all", method="thr").predict_set(X[NEW], 0.2).to_lists()
    with refused(KindError):
        rs.Coverage(0.2)(model, X[NEW], Y[NEW])


def test_costs_go_through_the_estimator():
    y = Y[:, 0] + 2 * Y[:, 1]
    cost = rs.Cost({0: 1, 1: 5, 2: 1, 3: 2})
    model = fitted(cost, LogisticRegression(), y=y[SOME])
    sets = model.predict_set(X[NEW], 0.1)
    assert model.rule_.target == cost
    lost = np.array([1, 5, 1, 2])[y[NEW]] * ~sets.covers(y[NEW]) / 5
    assert lost.mean() < 0.14
    assert rs.Coverage(0.1)(model, X[NEW], y[NEW]) == pytest.approx(1 - lost.mean())
    with refused(RuleError.folds_with_shares(cost)):
        fitted(cost, LogisticRegression(), y=y[SOME], split=rs.CrossConformal(3))


class NeverTrained(ClassifierMixin, BaseEstimator):
    """A model that must not be trained."""

    def fit(self, X, y):
        raise AssertionError("trained before the target was checked")


def test_folds_refuse_targets_that_count_parts_of_rows_before_they_train():
    with refused(RuleError.folds_with_shares(rs.Recall())):
        fitted("recall", NeverTrained(), split=rs.CrossConformal(3))


@pytest.mark.parametrize("target", ["all", "any", "missed:1"])
def test_folds_take_targets_by_which_rows_are_missed_or_not(target):
    model = fitted(target, split=rs.CrossConformal(4))
    sets = model.predict_set(X[NEW], 0.2)
    assert sets.target == model.rule_.spec.target
    assert sets.proven == model.rule_.guarantee(0.2)
    assert 0.74 < rs.evaluate(sets, Y[NEW]).observed < 0.97
    assert sets.mask.tolist() == (model.predict_p(X[NEW]) > 0.2).tolist()
    assert model.rule_.n + model.rule_.set_aside == 700


def test_what_is_proven_for_folds_depends_on_the_target():
    one, some = proven_coverage((100,) * 5, rs.core.alpha.exact_alpha(0.1)), rs.core.alpha.exact_alpha(0.1)
    for target in (rs.OneLabel(), rs.AllLabels(), rs.AtMostMissed(0)):
        assert proven_coverage((100,) * 5, some, target) == one
    for target in (rs.AnyLabel(), rs.AtMostMissed(1)):
        assert proven_coverage((100,) * 5, some, target) == 1 - some * 501 / 101 < one
    assert proven_coverage((100,) * 5, some, Own()) == 0


def test_folds_that_prefer_different_labels_miss_all_of_them():
    """Fold f is sure of label f and of no other. Every row has all labels, so a fold alone would never miss a row."""
    rng = np.random.default_rng(0)
    n, folds, alpha = 50, 5, 0.2

    def outputs(fold, rows):
        values = np.full((rows, folds), 1e-6)
        values[:, fold] = rng.uniform(0.1, 1, rows)
        return values

    labels = np.ones((n, folds), dtype=int)
    options = {"target": "any", "kind": "marginals", "method": "thr"}
    rule = rs.CrossRule(tuple(rs.calibrate(outputs(fold, n), labels, **options) for fold in range(folds)))
    new = [outputs(fold, 200) for fold in range(folds)]
    seen = (rule.predict(new, alpha).sizes > 0).mean()
    assert seen < 0.1
    assert rule.guarantee(alpha) <= seen
    assert proven_coverage((n,) * folds, rs.core.alpha.exact_alpha(alpha)) > 0.5


def test_confidence_goes_through_the_estimator():
    model = fitted("recall")
    usual, sure = model.predict_set(X[NEW], 0.2), model.predict_set(X[NEW], 0.2, confidence=0.95)
    assert sure.sizes.mean() > usual.sizes.mean()
    assert sure.confidence == 0.95
    outputs = model.estimator_.predict_proba(X[NEW])
    assert sure == model.rule_.predict(outputs, 0.2, confidence=0.95)
    groups = np.arange(700) % 2
    grouped = rs.ConformalClassifier(target="all", condition=rs.PerGroup(), random_state=0)
    grouped.fit(X[SOME], Y[SOME], groups=groups)
    options = {"groups": groups[:300], "confidence": 0.95, "next_rows": 300, "all_groups": True}
    expected = grouped.rule_.predict(grouped.predict_proba(X[NEW]), 0.2, **options)
    assert grouped.predict_set(X[NEW], 0.2, **options) == expected


def test_confidence_is_no_alpha_and_not_for_folds():
    model = fitted("all")
    with refused(KindError.alpha_missing_beside("predict_set", 0.95, 0.05)):
        model.predict_set(X[NEW], confidence=0.95)
    with refused(KindError.confidence_missing("next_rows")):
        model.predict_set(X[NEW], 0.1, next_rows=5)
    with refused(KindError):
        model.predict_set(X[NEW], 0.1, confidence=0)
    folds = fitted("all", split=rs.CrossConformal(3))
    with refused(KindError.confidence_of_folds("confidence")):
        folds.predict_set(X[NEW], 0.1, confidence=0.95)


def test_a_model_of_one_label_is_told_what_to_pass():
    model = LogisticRegression()
    with refused(RuleError.model_of_one_label(model)):
        rs.ConformalClassifier(model, target="recall").fit(X[SOME], Y[SOME])
