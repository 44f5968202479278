"""Rules of several folds as one."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import rankset as rs
from rankset.errors import InputError, KindError, MethodError, RuleError
from rankset.integrations.sklearn.cross_refusals import REFUSALS
from refusals import like, refused


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
    rows = rule.predict([probs, probs], 0.02, empty="top")
    assert [row[0] for row in rows] == np.array(["x", "y", "z"])[probs.argmax(axis=1)].tolist()


@pytest.mark.parametrize(
    ("make", "refusal"),
    [
        (lambda: rs.CrossRule(()), KindError.argument("rules", "a tuple of at least one Rule", ())),
        (
            lambda: rs.CrossRule((folds()[0][0], folds(score=rs.Thr())[0][1])),
            like(
                RuleError,
                what="rules that are used together",
                received="Rank() and Thr()",
                expected="have the same score",
                remedy="Calibrate all rules with the same score.",
            ),
        ),
        (lambda: rs.CrossRule(tuple(folds()[0])).predict([folds()[1]], 0.1), RuleError.folds(2, 1)),
        (
            lambda: rs.CrossRule(tuple(folds()[0])).predict(iter([folds()[1]] * 2), 0.1),
            RuleError.folds(2, "list_iterator"),
        ),
        (
            lambda: rs.CrossRule(tuple(folds()[0])).predict([folds()[1], folds()[1][:9]], 0.1),
            RuleError.folds(2, "matrices of 9 and 60 rows"),
        ),
        (
            lambda: rs.CrossRule(tuple(folds()[0])).predict([rs.Ragged.of([[1.0, 0.0]])] * 2, 0.1),
            InputError.no_pooling(),
        ),
    ],
)
def test_folds_that_cannot_be_pooled_are_told(make, refusal):
    with refused(refusal):
        make()


def test_only_groups_that_no_fold_saw_are_warned_of():
    probs = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    labels, groups = probs.argmax(axis=1), np.repeat(["north", "south"], 20)
    parts = [slice(0, 20), slice(20, 40)]
    rule = rs.CrossRule(
        tuple(rs.calibrate(probs[p], labels[p], condition=rs.PerGroup(), groups=groups[p]) for p in parts)
    )
    rule.predict([probs, probs], 0.2, groups=groups)
    with pytest.warns(rs.RanksetWarning, match="no calibration rows for group 'west'"):
        rule.predict([probs, probs], 0.2, groups=["west"] * 40)


@pytest.mark.parametrize("score", [rs.Rank(), rs.Aps(), rs.Thr()], ids=repr)
@pytest.mark.parametrize("condition", [rs.Marginal(), rs.PerLabel(), rs.PerGroup()], ids=repr)
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


def fold(labels, condition, groups=None):
    probs = np.random.default_rng(len(labels)).dirichlet(np.ones(10), len(labels))
    return rs.calibrate(probs, labels, condition=condition, groups=groups)


def bound(n, folds=5, alpha=0.1):
    """Vovk et al. 2018, for folds of one size."""
    return 1 - 2 * alpha - 2 * (1 - alpha) * (1 - 1 / folds) / (n / folds + 1)


def test_what_is_proven_counts_the_rows_of_each_group():
    labels = np.tile(np.arange(10), 2)
    whole = rs.CrossRule(tuple(fold(labels, rs.Marginal()) for _ in range(5)))
    by_label = rs.CrossRule(tuple(fold(labels, rs.PerLabel()) for _ in range(5)))
    assert whole.guarantee(0.1) == pytest.approx(bound(100))
    assert by_label.guarantee(0.1) == by_label.guarantee(0.1, label=3) == pytest.approx(bound(10))
    assert round(whole.guarantee(0.1), 3) == 0.731
    assert round(by_label.guarantee(0.1), 3) == 0.320
    assert by_label.guarantee(0.05) == 1.0  # ten rows leave no label out at this level
    assert "in every group" in by_label._repr_html_()
    with refused(
        RuleError,
        what="label",
        received="a label for Marginal()",
        expected="not be passed if the rule does not have one threshold per label",
    ):
        whole.guarantee(0.1, label=3)


def test_groups_that_some_folds_lack_count_where_they_are():
    labels = np.zeros(40, dtype=int)
    groups = [np.repeat(["north", "south"], 20), np.repeat(["south", "west"], [30, 10])]
    rule = rs.CrossRule(tuple(fold(labels, rs.PerGroup(), names) for names in groups))
    assert rule.guarantee(0.2, group="south") == pytest.approx(1 - 52 / 31 * (0.2 * 51 + 1) / 52)
    assert rule.guarantee(0.2, group="north") == pytest.approx(1 - 22 / 21 * (0.2 * 21 + 1) / 22)
    assert rule.guarantee(0.2) == min(rule.guarantee(0.2, group=name) for name in ("north", "south", "west"))


@pytest.mark.parametrize(
    ("condition", "proven"),
    [
        (rs.Marginal(), False),
        (rs.PerLabel(clusters=tuple("aabbccddee")), False),
        (rs.PerGroup(), False),
        (rs.PerLabel(), True),
        (rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel()), True),
    ],
    ids=repr,
)
def test_folds_made_by_label_prove_something_for_every_label_only(condition, proven):
    labels, groups = np.tile(np.arange(10), 20), ["all"] * 200 if condition.needs_groups else None
    rules = tuple(fold(labels, condition, groups) for _ in range(5))
    assert rs.CrossRule(rules).guarantee(0.1) > 0
    assert (rs.CrossRule(rules, stratified=True).guarantee(0.1) > 0) == proven


def test_one_fold_alone_has_the_guarantee_of_its_rule():
    rule = rs.CrossRule((fold(np.tile(np.arange(10), 9), rs.Marginal()),))
    assert rule.guarantee(0.1) == pytest.approx(0.9)


@pytest.mark.filterwarnings("ignore:a stratified split")
def test_an_estimator_tells_how_its_folds_were_made():
    for stratify in (False, True):
        split = rs.CrossConformal(3, stratify=stratify)
        model = rs.ConformalClassifier(GaussianNB(), split=split, random_state=0)
        proven = model.fit(*load_iris(return_X_y=True)).rule_.guarantee(0.1)
        assert proven == (0 if stratify else pytest.approx(bound(150, 3)))


def test_sets_of_folds_keep_the_index_of_what_came_with_the_rows():
    rng = np.random.default_rng(0)
    probs, labels = rng.dirichlet(np.ones(3), 60), rng.integers(0, 3, 60)
    groups = pd.Series(["a", "b"] * 30, index=np.arange(60) + 100)
    halves = (slice(0, 30), slice(30, 60))
    rule = rs.CrossRule(
        tuple(rs.calibrate(probs[h], labels[h], condition=rs.PerGroup(), groups=groups[h]) for h in halves)
    )
    sets = rule.predict([probs, probs], 0.2, groups=groups)
    sets.covers(pd.Series(labels, index=groups.index))
    with refused(InputError.other_order("labels", "the rows")):
        sets.covers(pd.Series(labels, index=groups.index)[::-1])


@pytest.mark.parametrize("name", REFUSALS)
def test_methods_that_folds_cannot_have_say_why_not(name):
    rule = rs.CrossRule(tuple(folds()[0]))
    assert hasattr(rs.Rule, name) or hasattr(rule.rules[0], name)
    with refused(MethodError, what=name, expected="be called on a Rule") as caught:
        getattr(rule, name)
    assert "this is a CrossRule: " in str(caught.value)
    assert caught.value.remedy
    assert not hasattr(rule, name)
    with pytest.raises(AttributeError, match="'CrossRule' object has no attribute 'safe'"):
        rule.safe  # noqa: B018


def test_folds_have_every_method_of_rules_or_say_why_not():
    rule = rs.CrossRule(tuple(folds()[0]))
    public = {name for name in dir(rule.rules[0]) if not name.startswith("_")}
    assert {name for name in public if not hasattr(rule, name)} == set(REFUSALS)


def test_folds_have_the_settings_of_their_rules():
    groups = ["north", "south", "west"] * 20
    rng = np.random.default_rng(0)
    probs, labels = rng.dirichlet(np.ones(3), 60), rng.integers(0, 3, 60)
    told = {"condition": rs.PerGroup(), "method": "aps"}
    first, second = (rs.calibrate(probs[a::2], labels[a::2], groups=groups[a : a + 30], **told) for a in (0, 1))
    rule = rs.CrossRule((first, second))
    assert (rule.score, rule.condition, rule.kind) == (rs.Aps(), rs.PerGroup(), "probs")
    assert rule.groups.tolist() == ["north", "south", "west"]
    assert rule.classes.tolist() == [0, 1, 2]


def test_rules_of_folds_are_saved_one_by_one_and_joined_again(tmp_path):
    (first, second), probs = folds(classes=["x", "y", "z"])
    rule = rs.CrossRule((first, second))
    paths = [tmp_path / f"{number}.rankset" for number in range(len(rule.rules))]
    for part, path in zip(rule.rules, paths, strict=True):
        part.save(path)
    again = rs.CrossRule(tuple(map(rs.load, paths)))
    assert again.predict([probs, probs], 0.1) == rule.predict([probs, probs], 0.1)
    assert again.guarantee(0.1) == rule.guarantee(0.1)


def test_the_expected_size_of_folds():
    rules, probs = folds()
    rule = rs.CrossRule(tuple(rules))
    sizes = rule.predict([probs, probs[::-1]], 0.2, empty="top").sizes
    found = rule.expected_size([probs, probs[::-1]], 0.2, empty="top")
    assert (found.mean, found.n) == (sizes.mean(), 60)
    assert found.error == pytest.approx(sizes.std(ddof=1) / np.sqrt(60))
    with refused(RuleError.no_unlabelled_rows()):
        rule.expected_size([probs[:0], probs[:0]], 0.2)


def test_too_few_rows_are_told_as_by_a_rule():
    (first, second), probs = folds()
    rule, both = rs.CrossRule((first, second)), first.merge(second)
    (told,) = warned_by(lambda: rule.predict([probs] * 2, 0.01))
    assert "All sets contain every label" in told
    assert warned_by(lambda: both.predict(probs, 0.01)) == [told]
    assert warned_by(lambda: rule.predict([probs] * 2, 0.1)) == []
    assert warned_by(lambda: rule.predict([probs[:0]] * 2, 0.01)) == []


def test_labels_with_too_few_rows_are_told():
    rng = np.random.default_rng(1)
    labels = np.array([0] * 60 + [1] * 60 + [2] * 6)
    rows = rng.normal(size=(126, 2)) + labels[:, np.newaxis]
    model = rs.ConformalClassifier(GaussianNB(), split=rs.CrossConformal(3), condition=rs.PerLabel(), random_state=0)
    (told,) = warned_by(lambda: model.fit(rows, labels).predict_set(rows, 0.1))
    assert "at least 9 calibration rows are needed for alpha=0.1, got 6 for label 2" in told


def test_only_groups_among_the_rows_are_told():
    rng = np.random.default_rng(2)
    probs, labels, groups = rng.dirichlet(np.ones(3), 60), rng.integers(0, 3, 60), np.array(["a"] * 55 + ["b"] * 5)
    fold = [
        rs.calibrate(probs[part], labels[part], groups=groups[part], condition=rs.PerGroup())
        for part in (slice(0, 60, 2), slice(1, 60, 2))
    ]
    rule = rs.CrossRule(tuple(fold))
    assert warned_by(lambda: rule.predict([probs[:5]] * 2, 0.1, groups=groups[:5])) == []
    (told,) = warned_by(lambda: rule.predict([probs[-5:]] * 2, 0.1, groups=groups[-5:]))
    assert "got 5 for group 'b'" in told


def warned_by(call):
    """The warnings of a call, as texts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught]
