"""The guarantee through the whole route of ConformalClassifier: a split, a fitted weak model, a calibration.

The law is exact, without sampling: leave every row of a few out in turn, share the others out in every possible order,
train, calibrate, and ask whether the set of the row left out holds its label. Over all these cases sets cover at least
k / (n + 1) of the time, with equality where no two keys are equal.
"""

import itertools
import sys
import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

import rankset as rs
from rankset.core.alpha import exact_alpha, threshold_position
from rankset.evaluation import auto as auto_module
from rankset.inputs.prepare import prepare
from rankset.integrations.sklearn.fitting import Settings
from rankset.rules.rule import calibrate_prepared

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))
from weak_models import Frequencies, blobs

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

ALPHA = Fraction(1, 2)
FEW_LABELS = [(0, 0, 1, 1, 2), (0, 1, 1, 1, 1)]


class Dealer(np.random.RandomState):
    """A random state that deals rows in a given order."""

    def __init__(self, order):
        super().__init__(0)
        self.order = np.array(order)

    def permutation(self, x):
        return self.order if x == len(self.order) else super().permutation(x)


def share_covered(labels, method, condition=None, **options):
    """The share of all cases in which the row left out is covered, and the share that the law promises."""
    labels = np.array(labels)
    features = np.random.default_rng(len(labels)).normal(size=(len(labels), 2))
    hits = promised = cases = 0
    for new in range(len(labels)):
        rest = np.delete(np.arange(len(labels)), new)
        for order in itertools.permutations(range(len(rest))):
            state = Dealer(order)
            model = rs.ConformalClassifier(
                Frequencies(), method=method, classes=[0, 1, 2], condition=condition, random_state=state, **options
            ).fit(features[rest], labels[rest])
            counts = model.rule_.calibration.counts
            n = int(counts[labels[new] if len(counts) > 1 else 0])
            hits += int(model.predict_set(features[[new]], ALPHA).covers(labels[[new]])[0])
            promised += Fraction(threshold_position(n, ALPHA), n + 1)
            cases += 1
    return Fraction(hits, cases), promised / cases


SPLITS = [rs.Holdout(0.6), rs.Holdout(0.6, classes=(0, 1, 2)), rs.Holdout(0.6, classes=(0,))]


@pytest.mark.parametrize("labels", FEW_LABELS)
@pytest.mark.parametrize("split", SPLITS, ids=repr)
def test_over_all_rows_left_out_and_all_orders_sets_cover_as_promised(labels, split):
    covered, promised = share_covered(labels, rs.TieBreak(rs.Rank()), split=split)
    assert covered == promised
    covered, promised = share_covered(labels, rs.Rank(), split=split)
    assert covered >= promised


@pytest.mark.parametrize("labels", FEW_LABELS)
@pytest.mark.parametrize("condition", [rs.Pooled(rs.PerLabel()), rs.Pooled(rs.PerLabel(), 0.5, 0.5)], ids=repr)
def test_where_classes_borrow_rows_sets_cover_as_often_over_all_rows(labels, condition):
    for method in (rs.TieBreak(rs.Thr()), rs.Rank()):
        for split in SPLITS[:2]:
            covered, _ = share_covered(labels, method, condition, split=split)
            assert covered >= 1 - ALPHA


def test_for_every_label_separately_a_split_may_look_at_labels():
    labels, split = (0, 0, 0, 1, 1, 1), rs.Holdout(0.5, stratify=True)
    covered, promised = share_covered(labels, rs.TieBreak(rs.Thr()), rs.PerLabel(), split=split)
    assert covered == promised < Fraction(3, 4)


class LabelFrequencies(Frequencies):
    """The shares of the rows that have each label in training, plus a little noise made from the row."""

    def fit(self, X, y):
        self.shares_ = np.mean(y, axis=0)
        return self

    def predict_proba(self, X):
        drawn = np.abs(np.sin(1e4 * (np.asarray(X)[:, :1] + 1) * (1 + np.arange(len(self.shares_)))))
        return (self.shares_ + self.noise * drawn) / (1 + self.noise)


FEW_ROWS = [
    ((1, 0, 0), (1, 1, 0), (0, 1, 1), (0, 0, 1), (1, 1, 1)),
    ((1, 0, 0), (1, 0, 0), (1, 0, 1), (0, 1, 1), (0, 0, 0), (0, 1, 0)),
]


def share_kept(labels, target, method, split):
    """The mean of what the target promises over all cases with a labelled row left out, and what the law promises."""
    labels = np.array(labels)
    features = np.random.default_rng(len(labels)).normal(size=(len(labels), 2))
    kept, promised, cases = Fraction(0), Fraction(0), 0
    for new in np.flatnonzero(labels.any(axis=1)):
        rest = np.delete(np.arange(len(labels)), new)
        for order in itertools.permutations(range(len(rest))):
            options = {"target": target, "method": method, "split": split, "random_state": Dealer(order)}
            dealt = rest[list(order)[len(rest) - round(split.share * len(rest)) :]]
            if not labels[dealt].any():
                continue  # without any labelled row nothing can be calibrated
            model = rs.ConformalClassifier(LabelFrequencies(), **options).fit(features[rest], labels[rest])
            assert model.rule_.n == labels[dealt].any(axis=1).sum()
            found = rs.evaluate(model.predict_set(features[[new]], ALPHA), labels[[new]], target=target)
            kept += Fraction(found.observed).limit_denominator(6)
            promised += Fraction(threshold_position(model.rule_.n, ALPHA), model.rule_.n + 1)
            cases += 1
    return kept / cases, promised / cases


@pytest.mark.parametrize("labels", FEW_ROWS)
@pytest.mark.parametrize("target", [rs.AllLabels(), rs.AnyLabel(), rs.Recall()], ids=repr)
def test_with_several_labels_sets_keep_what_the_target_promises(labels, target):
    split = rs.Holdout(0.6)
    kept, promised = share_kept(labels, target, rs.TieBreak(rs.Thr()), split)
    if target == rs.Recall():  # parts of rows are missed, so the mean can be between the level and the next rank
        assert 1 - ALPHA <= kept <= promised + Fraction(1, 4)
    else:
        assert kept == promised
    kept, _ = share_kept(labels, target, rs.Rank(), split)
    assert kept >= 1 - ALPHA


def test_the_law_catches_a_model_trained_on_the_rows_that_calibrate():
    class Memory(LabelFrequencies):
        """Sure of the labels of rows that it has seen."""

        def fit(self, X, y):
            self.rows_, self.labels_ = np.asarray(X), np.asarray(y)
            return super().fit(X, y)

        def predict_proba(self, X):
            same = (np.asarray(X)[:, np.newaxis] == self.rows_).all(axis=2)
            known = np.where(self.labels_[same.argmax(axis=1)] == 1, 1 - 1e-3, 1e-3)
            return np.where(same.any(axis=1)[:, np.newaxis], known, super().predict_proba(X) / 2)

    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(60, 2)), (rng.uniform(size=(60, 3)) < 0.4).astype(int)
    trained = Memory().fit(features[:40], labels[:40])
    trained.__sklearn_is_fitted__ = lambda: True
    for target in (rs.Recall(), rs.AllLabels()):
        model = rs.ConformalClassifier(FrozenEstimator(trained), target=target, method="thr")
        model.fit(features[:40], labels[:40])
        assert rs.evaluate(model.predict_set(features[40:], 0.2), labels[40:]).observed < 0.3


class Distances(Frequencies):
    """Probabilities of three classes by the distance to points that depend on the training rows; never equal."""

    def fit(self, X, y):
        self.classes_ = np.arange(3)
        self.points_ = np.mean(X, axis=0) + np.arange(6).reshape(3, 2) / 3 + np.mean(y)
        return self

    def predict_proba(self, X):
        distances = np.linalg.norm(X[:, np.newaxis] - self.points_, axis=2)
        return np.exp(-distances) / np.exp(-distances).sum(axis=1, keepdims=True)


def calibrated_positions(fit, features, monkeypatch):
    """Return the positions of the rows that calibrate, and the model."""
    seen = []

    def spy(spec, data):
        seen.append(data.matrix)
        return calibrate_prepared(spec, data)

    with monkeypatch.context() as patched:
        patched.setattr("rankset.evaluation.auto.calibrate_prepared", spy)
        model = fit()
    (matrix,) = seen
    everything = model.estimator_.predict_proba(features)
    return [int(np.flatnonzero((everything == row).all(axis=1)).item()) for row in matrix], model


def rotations_covered(route, n, monkeypatch, seed):
    """Rotate the rows that calibrate and the new row; return how often the new row is covered, and n, k, the score.

    Rows that train, fit and choose stay where they are. So the score must stay the same, and without ties exactly k of
    the n + 1 rows are covered when they are new.
    """
    rng = np.random.default_rng(seed)
    features, labels = rng.normal(size=(n + 1, 2)), rng.integers(0, 3, n + 1)

    def fit(rows):
        return clone(route).set_params(random_state=seed).fit(features[rows[:n]], labels[rows[:n]])

    rows = np.arange(n + 1)
    places, first = calibrated_positions(lambda: fit(rows), features, monkeypatch)
    turning, hits = [*places, n], 0
    for turn in range(len(turning)):
        rows[turning] = np.roll(turning, turn)
        model = fit(rows)
        assert model.method_ == first.method_
        hits += int(model.predict_set(features[rows[[n]]], ALPHA).covers(labels[rows[[n]]])[0])
    count = first.rule_.n
    assert len(places) == count
    return hits, count, threshold_position(count, ALPHA), first.method_.score


TRAINED = Distances().fit(np.zeros((3, 2)), np.arange(3))
AUTO = rs.Choice("auto", alpha=ALPHA, share=0.5)
AUTO_ROUTES = {
    "Holdout": rs.ConformalClassifier(Distances(), method=AUTO, split=rs.Holdout(0.75)),
    "GivenSplit": rs.ConformalClassifier(Distances(), method=AUTO, split=rs.GivenSplit(range(10, 100))),
    "FrozenEstimator": rs.ConformalClassifier(FrozenEstimator(TRAINED), method=AUTO),
    "few rows": rs.ConformalClassifier(Distances(), method="auto", split=rs.Holdout(0.4)),
}


@pytest.mark.parametrize("name", AUTO_ROUTES)
def test_whichever_row_is_new_auto_covers_as_promised(name, monkeypatch):
    kinds = set()
    for seed in range(3):
        hits, count, promised, score = rotations_covered(AUTO_ROUTES[name], 120, monkeypatch, seed)
        assert hits == promised < count
        kinds.add(type(score))
    assert (rs.Recalibrated in kinds) == (name != "few rows")


def test_the_law_catches_a_score_that_is_fitted_on_rows_that_calibrate(monkeypatch):
    class Leaky(rs.Choice):
        def auto(self, probs, labels, random_state, **options):
            options.pop("groups")
            score = rs.Recalibrated.fit(probs, labels, kind=options["kind"])
            spec = rs.calibrate(probs, labels, method=rs.Chosen(score, "leaky"), **options).spec
            data = prepare(probs, labels, kind=options["kind"], classes=options["classes"])
            return auto_module.calibrate_prepared(spec, data)

    route = rs.ConformalClassifier(FrozenEstimator(TRAINED), method=Leaky("auto"))
    with pytest.raises(AssertionError):
        rotations_covered(route, 60, monkeypatch, 0)


REPEATS, NEW_ROWS = 150, 200


def z_of_route(model, n, n_classes, alpha, repeats=REPEATS):
    """How many standard errors the mean coverage of new rows lies above what the rows that calibrate promise."""
    rng = np.random.default_rng(n_classes)
    gaps = []
    for seed in range(repeats):
        features, labels = blobs(rng, n + NEW_ROWS, n_classes)
        fitted = clone(model).set_params(random_state=seed).fit(features[:n], labels[:n])
        calibrated = fitted.rule_.n
        promised = threshold_position(calibrated, exact_alpha(alpha)) / (calibrated + 1)
        gaps.append(fitted.predict_set(features[n:], alpha).covers(labels[n:]).mean() - promised)
    return np.mean(gaps) / (np.std(gaps, ddof=1) / np.sqrt(repeats))


def classifier(model, n_classes, **options):
    return rs.ConformalClassifier(model, method=rs.Thr(), classes=range(n_classes), **options)


def test_by_default_a_weak_model_keeps_its_level():
    assert abs(z_of_route(classifier(Frequencies(), 10), 80, 10, 0.2)) < 4


def test_where_every_class_trains_a_weak_model_keeps_its_level():
    split = rs.Holdout(classes=range(10))
    assert abs(z_of_route(classifier(Frequencies(), 10, split=split), 40, 10, 0.2)) < 4


def test_the_law_catches_a_stratified_split():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RanksetWarning)
        assert z_of_route(classifier(Frequencies(), 10, split=rs.Holdout(stratify=True)), 80, 10, 0.2) < -8


class GreedySettings(Settings):
    """What a search around the classifier does: the score with the smallest sets on the rows that calibrate."""

    def calibrate(self, models, X, labels, groups, parts, classes):
        probs = models[0].predict_proba(X[parts[0]])
        sizes = [rs.calibrate(probs, labels[parts[0]], score=one).predict(probs, 0.2).sizes.mean() for one in MANY]
        best = replace(self, method=MANY[int(np.argmin(sizes))])
        return Settings.calibrate(best, models, X, labels, groups, parts, classes)


class Greedy(rs.ConformalClassifier):
    """A classifier that chooses its score on the rows that calibrate."""

    @property
    def _settings(self):
        return GreedySettings(**vars(super()._settings))


@dataclass(frozen=True)
class Weighted:
    """THR with a weight for every class: one of many scores to choose from."""

    weights: tuple

    def keys(self, cells):
        return (-cells.prob * np.array(self.weights)[cells.column],)


MANY = [Weighted(tuple(weights)) for weights in np.exp(np.random.default_rng(3).normal(size=(20, 5)))]


@pytest.mark.slow
def test_scores_chosen_on_rows_of_their_own_keep_the_level_and_others_do_not():
    options = {"split": rs.Holdout(0.5), "classes": range(5)}
    honest = rs.ConformalClassifier(Frequencies(), method=rs.Choice(MANY[:5], alpha=0.2), **options)
    assert abs(z_of_route(honest, 60, 5, 0.2, repeats=80)) < 4
    assert z_of_route(Greedy(Frequencies(), **options), 60, 5, 0.2) < -6
