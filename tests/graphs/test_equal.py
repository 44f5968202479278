"""Exported rules return the sets of ``Rule.predict``, bit for bit: every score that draws nothing, every condition."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("onnxruntime")

import rankset as rs
from onnx_models import assert_same, session_of
from rankset.graphs.scores import INNER_KEYS, KEYS
from rankset.scores import BUILT_IN, traits
from strategies import BY_CLASS, DETERMINISTIC, sized

K = 6
GROUPS = np.array(["north", "south", "west"])
APS = rs.Aps(randomized=False)
EXACT = [
    *DETERMINISTIC,
    *(score for score in BY_CLASS if not traits(score).uses_noise),
    rs.Average(thr=0.3, aps=0.7, rank=1.1, randomized=False),
    rs.Share(),
    rs.Seen(rs.Thr(), (0,), 1),
    rs.Seen(APS, (0,), 1),
    rs.Seen(rs.FuzzyClasses(APS, (0.5,), (1,)), (0,), 1),
    rs.ClassOffsets(rs.TopK(), (0.0,)),
    rs.Tempered(rs.Seen(rs.Rank(), (0,), 1), 1.0),
    rs.Chosen(rs.Margin(), "for reasons"),
    rs.Tempered(rs.Thr(), 0.7),
    rs.Tempered(APS, 1.3),
    rs.Temperature(1.7),
    rs.Recalibrated(1.2, (0.9, 0.1, 0.2, 0.1, 0.3, -0.2, 0.1)),
    rs.ClassOffsets(rs.Temperature(0.8), (0.1,)),
]
CONDITIONS = {
    "marginal": lambda k: rs.Marginal(),
    "per label": lambda k: rs.PerLabel(),
    "clusters": lambda k: rs.PerLabel(clusters=[f"cluster {column % 3}" for column in range(k)]),
    "per group": lambda k: rs.PerGroup(),
    "per label and group": lambda k: rs.PerLabelAndGroup(),
    "pooled labels": lambda k: rs.Pooled(rs.PerLabel()),
    "pooled groups": lambda k: rs.Pooled(rs.PerGroup()),
    "balanced": lambda k: rs.Balanced(1 + np.arange(k)),
    "label shift": lambda k: rs.LabelShift(1 + np.arange(k) % 3),
}


def model_rows(n, n_columns, seed=0, kind="probs", dtype="float64"):
    """Rows, half of them on a coarse grid with ties and exact zeros, and labels that the rows predict."""
    rng = np.random.default_rng([seed, n_columns])
    logits = 2 * rng.normal(size=(n, n_columns))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    logits[::2] = np.round(logits[::2])
    logits[::4] = np.where(logits[::4] < -2, -np.inf, logits[::4])
    logits[np.arange(n), labels] = np.maximum(logits[np.arange(n), labels], -2)
    rows = logits if kind == "logits" else rs.softmax(logits)
    return rows.astype(dtype), labels


def calibrated(score, condition, n_columns, kind="probs", dtype="float64", n=150):
    rows, labels = model_rows(n, n_columns, kind=kind, dtype=dtype)
    groups = {"groups": np.resize(GROUPS, n)} if condition.needs_groups else {}
    return rs.calibrate(rows, labels, method=sized(score, n_columns), condition=condition, kind=kind, **groups)


def groups_for(rule, n):
    return np.resize([*GROUPS, "unknown"], n) if rule.condition.needs_groups else None


def test_every_score_of_rankset_has_a_graph_or_draws():
    assert {*KEYS, *INNER_KEYS} == {*BUILT_IN} - {rs.TieBreak}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("score", EXACT, ids=repr)
def test_sets_are_the_same(score, condition):
    for kind, dtype in (("probs", "float32"), ("probs", "float64"), ("logits", "float32"), ("logits", "float64")):
        rule = calibrated(score, CONDITIONS[condition](K), K, kind, dtype)
        rows, _ = model_rows(120, K, seed=1, kind=kind, dtype=dtype)
        for optimised, empty in ((True, "allow"), (False, "top")):
            assert_same(rule, rows, 0.1, groups_for(rule, len(rows)), optimised=optimised, empty=empty)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 17, 130])
@pytest.mark.parametrize("score", EXACT, ids=repr)
def test_numbers_of_classes_do_not_matter(score, n_columns):
    rows, _ = model_rows(60, n_columns, seed=2, kind="logits", dtype="float32")
    for condition in (rs.Marginal(), rs.PerLabelAndGroup()):
        rule = calibrated(score, condition, n_columns, "logits", "float32")
        assert_same(rule, rows, 0.2, groups_for(rule, len(rows)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("score", EXACT, ids=repr)
def test_a_thousand_classes(score, dtype):
    rows, _ = model_rows(300, 1000, seed=3, kind="logits", dtype=dtype)
    rule = calibrated(score, rs.Marginal(), 1000, "logits", dtype)
    assert_same(rule, rows, 0.1)
    probs = rs.softmax(rows).astype(dtype)
    assert_same(calibrated(score, rs.PerLabel(), 1000, "probs", dtype), probs, 0.1)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_rows_on_the_threshold_are_decided_alike(data):
    """Rows of few different numbers, which are calibration rows at the same time, so many keys equal the threshold."""
    n_columns = data.draw(st.integers(1, 5))
    counts = st.lists(st.integers(0, 3), min_size=n_columns, max_size=n_columns).filter(any)
    counted = np.array(data.draw(st.lists(counts, min_size=4, max_size=25)), dtype=np.float64)
    probs = (counted / counted.sum(axis=1, keepdims=True)).astype(data.draw(st.sampled_from(["float32", "float64"])))
    labels = [data.draw(st.sampled_from(np.flatnonzero(row).tolist())) for row in counted]
    condition = CONDITIONS[data.draw(st.sampled_from(sorted(CONDITIONS)))](n_columns)
    score = sized(data.draw(st.sampled_from(EXACT)), n_columns)
    groups = {"groups": np.resize(GROUPS, len(probs))} if condition.needs_groups else {}
    rule = rs.calibrate(probs, labels, method=score, condition=condition, **groups)
    alpha = data.draw(st.sampled_from(["0.05", "0.2", "1/3", "0.45"]))
    assert_same(rule, probs, alpha, groups_for(rule, len(probs)), empty=data.draw(st.sampled_from(["allow", "top"])))


def test_a_threshold_that_is_off_by_one_bit_is_noticed():
    rows, labels = model_rows(150, K)
    rule = rs.calibrate(rows, labels, method=rs.Thr())
    level = rule.at(0.1)
    (key,) = level.thresholds.keys
    moved = replace(level, thresholds=replace(level.thresholds, keys=(np.nextafter(key, -np.inf),)))
    masks = [session_of(one.to_onnx(dtype="float64")).run(["mask"], {"probs": rows})[0] for one in (level, moved)]
    assert (masks[0] == level.predict(rows).mask).all()
    assert (masks[1] != level.predict(rows).mask).any()


KINDS = ("probs", "logits", "decision", "marginals", "marginal_logits")
OF_ANY_KIND = (rs.Rank(), rs.Thr(), rs.Margin(), rs.TopK())
PAIRS = [*itertools.product(KINDS, OF_ANY_KIND), *((kind, rs.Share()) for kind in KINDS if kind != "decision")]


@pytest.mark.parametrize(("kind", "score"), PAIRS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_kind_of_rows(kind, score, dtype):
    logits, labels = model_rows(200, K, kind="logits", dtype=dtype)
    rows = np.maximum(logits, -30)
    if kind in ("probs", "marginals"):
        rows = rs.softmax(rows).astype(dtype) if kind == "probs" else (1 / (1 + np.exp(-rows))).astype(dtype)
    rule = rs.calibrate(rows[:100], labels[:100], method=score, kind=kind)
    assert_same(rule, rows[100:], 0.15)


@pytest.mark.parametrize("score", [rs.Rank(), rs.Thr(), APS, rs.Margin()], ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_probability_per_row(score, dtype):
    rng = np.random.default_rng(0)
    second = np.round(rng.random(300), 2).astype(dtype)
    labels = (rng.random(300) < second).astype(int)
    for condition in (rs.Marginal(), rs.PerLabel()):
        rule = rs.calibrate(second[:150], labels[:150], method=score, kind="binary", condition=condition)
        assert_same(rule, second[150:], 0.15)


TARGETS = [rs.Recall(), rs.AllLabels(), rs.AnyLabel(), rs.AtMostMissed(1), rs.CertainLabels()]


@pytest.mark.parametrize("target", TARGETS, ids=repr)
@pytest.mark.parametrize("condition", [rs.Marginal(), rs.PerLabel(), rs.PerGroup()], ids=repr)
@pytest.mark.parametrize("score", [rs.Thr(), rs.Rank(), rs.Share()], ids=repr)
@pytest.mark.filterwarnings("ignore:AtMostMissed")  # with a condition on labels it promises nothing
def test_targets_of_several_labels(target, condition, score):
    rng = np.random.default_rng(4)
    probs = np.round(rng.random((260, K)), 2)
    truths = rng.random(probs.shape) < probs
    groups = np.resize(GROUPS, 160) if condition.needs_groups else None
    rule = rs.calibrate(
        probs[:160], truths[:160], method=score, target=target, condition=condition, kind="marginals", groups=groups
    )
    for alpha in (0.02, 0.2):
        assert_same(rule, probs[160:], alpha, groups_for(rule, 100))


def test_costs_confidence_and_too_few_rows():
    rows, labels = model_rows(300, K)
    costs = rs.calibrate(rows[:200], labels[:200], target=rs.Cost({0: 10, 1: 2}, others=1))
    assert_same(costs, rows[200:], 0.1)
    rule = rs.calibrate(rows[:200], labels[:200], method=rs.Thr(), condition=rs.PerLabel())
    assert_same(rule, rows[200:], 0.2, confidence=0.9)
    few = rs.calibrate(rows[:5], labels[:5])
    assert_same(few, rows[200:], 0.1)
    assert few.predict(rows[200:], 0.5).sizes.max() < K


def test_a_condition_of_a_users_own():
    class FirstOrOther:
        needs_groups = True

        def count(self, n_columns, n_row_groups):
            return 2

        def numbers(self, columns, row_groups, n_columns, n_row_groups):
            return (columns > 0) | (row_groups > 1) * 1

    rows, labels = model_rows(300, K)
    rule = rs.calibrate(
        rows[:200], labels[:200], method=rs.Thr(), condition=FirstOrOther(), groups=np.resize(GROUPS, 200)
    )
    assert_same(rule, rows[200:], 0.2, groups_for(rule, 100))
