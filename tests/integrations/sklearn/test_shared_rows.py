"""ConformalClassifier with conditions whose groups share calibration rows."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

import rankset as rs
from rankset.errors import RuleError
from rankset.integrations.sklearn.cross_guarantee import proven_coverage
from refusals import refused

X, Y = make_classification(900, 10, n_informative=6, n_classes=5, random_state=0)
SITES = np.array(["north", "south", "east"])[np.arange(900) % 3]
SOME, NEW = slice(0, 600), slice(600, None)
BALANCED = rs.Balanced.fit(Y[NEW], 5)
CONDITIONS = [rs.Pooled(), rs.Pooled(rs.PerGroup()), BALANCED, rs.Pooled(BALANCED)]


def fitted(condition, **options):
    model = rs.ConformalClassifier(GaussianNB(), condition=condition, random_state=0, **options)
    return model.fit(X[SOME], Y[SOME], **known(condition, SOME))


def known(condition, rows):
    return {"groups": SITES[rows]} if condition.needs_groups else {}


@pytest.mark.parametrize("condition", CONDITIONS, ids=repr)
@pytest.mark.parametrize(
    "split", [rs.Holdout(0.5), rs.GivenSplit(range(200, 600))], ids=lambda split: type(split).__name__
)
def test_sets_are_those_of_the_rule_of_the_calibration_rows(condition, split):
    model = fitted(condition, split=split, method="thr")
    ((_, rows),) = split.parts(Y[SOME], 0)
    expected = rs.calibrate(
        model.estimator_.predict_proba(X[rows]), Y[rows], method="thr", condition=condition, **known(condition, rows)
    )
    assert model.rule_ == expected
    sets = model.predict_set(X[NEW], 0.2, **known(condition, NEW))
    assert sets == expected.predict(model.estimator_.predict_proba(X[NEW]), 0.2, **known(condition, NEW))
    assert model.guaranteed_
    assert sets.proven is None
    assert sets.balanced == expected.spec.balanced
    assert model.triage_ is None
    with refused(RuleError.no_triage(repr(condition))):
        model.triage(X[NEW], 0.1)


@pytest.mark.parametrize("condition", [rs.Pooled(), rs.Pooled(rs.PerGroup())], ids=repr)
def test_folds_prove_coverage_over_all_rows(condition):
    model = fitted(condition, split=rs.CrossConformal(4))
    rule, whole = model.rule_, fitted(rs.Marginal(), split=rs.CrossConformal(4)).rule_
    assert rule.guarantee(0.1) == whole.guarantee(0.1) == float(proven_coverage((150,) * 4, Fraction(1, 10)))
    sets = model.predict_set(X[NEW], 0.1, **known(condition, NEW))
    assert sets.proven == rule.guarantee(0.1)
    assert sets.covers(Y[NEW]).mean() > 0.85
    where = {"group": "north"} if condition.needs_groups else {"label": 1}
    with refused(RuleError.guarantee_of_shared_rows(condition)):
        rule.guarantee(0.1, **where)
    page = rule._repr_html_()
    assert "in every group" not in page
    assert "about 0.9 over all rows, and about as much for each group" in page


def test_p_values_of_folds_are_means_of_those_of_every_fold():
    rng = np.random.default_rng(1)
    probs, labels = rng.dirichlet(np.ones(3), 50), rng.integers(0, 3, 50)
    folds = tuple(rs.calibrate(probs[a:b], labels[a:b], condition=rs.Pooled()) for a, b in [(0, 30), (30, 50)])
    new = rng.dirichlet(np.ones(3), 9)
    counts = [fold.p_values(new) * (fold.n + 1) - 1 for fold in folds]
    assert rs.CrossRule(folds).p_values([new, new]) == pytest.approx((1 + sum(counts)) / 51)


def test_over_all_orders_folds_cover_at_least_as_often_as_proven():
    probs = np.random.default_rng(5).dirichlet(np.ones(3), 6)
    labels, alpha, hits = np.array([0, 0, 1, 1, 2, 0]), Fraction(1, 4), 0
    orders = list(itertools.permutations(range(6)))
    for order in orders:
        *rows, new = order
        folds = tuple(
            rs.calibrate(probs[part], labels[part], method="thr", condition=rs.Pooled(rs.PerLabel(), 2, 2))
            for part in (rows[:2], rows[2:])
        )
        rule = rs.CrossRule(folds)
        hits += rule.p_values([probs[[new]]] * 2)[0, labels[new]] > alpha
    assert Fraction(int(hits), len(orders)) >= Fraction(rule.guarantee(alpha)).limit_denominator(10**6)


@pytest.mark.parametrize("condition", [BALANCED, rs.Pooled(BALANCED)], ids=repr)
def test_folds_whose_rows_have_weights_are_refused(condition):
    with refused(RuleError.folds_with_weights(condition)):
        fitted(condition, split=rs.CrossConformal(4))
    rule = fitted(condition).rule_
    with refused(RuleError.folds_with_weights(condition)):
        rs.CrossRule((rule, rule))


@pytest.mark.parametrize("split", [rs.Holdout(0.5, stratify=True), rs.CrossConformal(3, stratify=True)], ids=repr)
def test_after_a_stratified_split_nothing_is_proven(split):
    with pytest.warns(rs.RanksetWarning, match="a stratified split uses the labels"):
        model = fitted(rs.Pooled(), split=split)
    assert not model.guaranteed_
    assert model.predict_set(X[NEW], 0.1).proven == 0


@pytest.mark.parametrize("method", ["auto", rs.Choice([rs.Thr(), rs.Rank()])], ids=["auto", "Choice"])
def test_a_score_is_chosen(method):
    model = fitted(rs.Pooled(), method=method, split=rs.Holdout(0.6))
    assert model.rule_.condition == rs.Pooled()
    assert model.predict_set(X[NEW], 0.1).covers(Y[NEW]).mean() > 0.84


def test_a_trained_model_is_calibrated_on_all_rows():
    model = rs.ConformalClassifier(FrozenEstimator(GaussianNB().fit(X[SOME], Y[SOME])), condition=rs.Pooled())
    assert model.fit(X[NEW], Y[NEW]).rule_.n == 300


def test_a_report_of_folds_says_what_is_proven():
    pytest.importorskip("plotly")
    (told,) = fitted(rs.Pooled(), split=rs.CrossConformal(3)).report(X[NEW], Y[NEW]).study.data["scores"]
    assert told["guarantee"]["about"] == "rows"
    assert told["guarantee"]["smallest"] == 600
    assert "pooled" not in told
