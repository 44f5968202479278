"""Scores with logarithms: sets differ only where keys equal the threshold up to rounding, and then on the safe side."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("onnxruntime")

import rankset as rs
from onnx_models import differences, expected, outputs, session_of
from rankset.graphs import model
from rankset.graphs.scores import is_exact

APS = rs.Aps(randomized=False)
WEIGHTS = (0.9, 0.1, -0.3, 0.2, -0.1, 0.05)


def model_rows(n, n_columns, seed=0, *, ties=False):
    rng = np.random.default_rng([seed, n_columns])
    logits = 2 * rng.normal(size=(n, n_columns))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return rs.softmax(np.round(logits) if ties else logits), labels


def fitted_scores(n_columns, *, ties=False):
    probs, labels = model_rows(400, n_columns, seed=9, ties=ties)
    fitted = rs.Temperature.fit(probs, labels), rs.Recalibrated.fit(probs, labels)
    return [rs.Tempered(rs.Thr(), 0.7), rs.Tempered(APS, 1.3), rs.Temperature(1.7), *fitted]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("n", "n_columns"), [(20_000, 10), (1_000, 1_000), (2_000, 150), (500, 1)])
def test_no_set_of_random_rows_differs(n, n_columns, dtype):
    probs, labels = model_rows(n + 300, n_columns)
    rows = probs.astype(dtype)
    for score in fitted_scores(n_columns):
        rule = rs.calibrate(rows[:300], labels[:300], method=score)
        assert differences(rule, rows[300:], 0.1) == [0, 0, 0], score


@pytest.mark.parametrize("condition", [rs.Marginal(), rs.PerLabel(), rs.PerGroup()], ids=repr)
def test_conditions_and_logits(condition):
    probs, labels = model_rows(2300, 10)
    logits = np.log(probs).astype(np.float32)
    groups = np.resize(["a", "b"], len(probs)) if condition.needs_groups else None
    for score in fitted_scores(10):
        some = None if groups is None else groups[:300]
        rule = rs.calibrate(logits[:300], labels[:300], method=score, kind="logits", condition=condition, groups=some)
        others = None if groups is None else groups[300:]
        assert differences(rule, logits[300:], 0.1, others) == [0, 0, 0], score


@pytest.mark.parametrize("seed", range(5))
def test_labels_at_the_threshold_are_kept(seed):
    """With few different rows many labels have the key of the threshold. Without the slack, some would be left out."""
    probs, labels = model_rows(2000, 3, seed, ties=True)
    some, ties = slice(0, 300), 0
    for score in (
        *fitted_scores(3, ties=True),
        rs.Tempered(rs.Rank(), 0.6),
        rs.ClassOffsets(rs.Temperature(0.8), [0.1] * 3),
    ):
        rule = rs.calibrate(probs[some], labels[some], method=score)
        found, wanted = (function(rule, probs, 0.1)[0] for function in (outputs, expected))
        assert not (wanted & ~found).any(), score
        entries = score.transform(probs)
        if not isinstance(score, rs.Tempered | rs.ClassOffsets):
            near = np.abs(entries + rule.threshold(0.1)[0]) < 1e-9
            assert (found == wanted)[~near].all(), score
            ties += near.sum()
    assert ties > 100


def test_a_rounding_error_is_within_the_slack_and_would_lose_labels_without_it(monkeypatch):
    probs, labels = model_rows(2000, 3, ties=True)
    for score in fitted_scores(3, ties=True):
        rule = rs.calibrate(probs[:300], labels[:300], method=score)
        level, wanted = rule.at(0.1), expected(rule, probs, 0.1)[0]
        (key,) = level.thresholds.keys
        off = replace(level, thresholds=replace(level.thresholds, keys=(key - 1e-15 * np.abs(key),)))
        feed = {"probs": probs}
        assert not (wanted & ~session_of(off.to_onnx(dtype="float64")).run(["mask"], feed)[0]).any()
        with monkeypatch.context() as patch:
            patch.setattr(model, "with_slack", lambda _score, _cells, *compared: compared)
            assert (wanted & ~session_of(off.to_onnx(dtype="float64")).run(["mask"], feed)[0]).any()


def test_labels_of_tiny_probabilities_are_not_kept_together():
    """Masses at the end of a row are all about 1. Slack that is larger than these probabilities would keep all."""
    score = rs.Tempered(APS, 0.9)
    probs, labels = (array[:600] for array in model_rows(600, 200, seed=8))
    probs = rs.softmax(6 * np.log(probs))
    masses = np.sort(score.transform(probs), axis=1)[:, ::-1].cumsum(axis=1)
    far = (masses < 1 - 3e-15).sum(axis=1) - 1  # labels whose mass is just below 1, in every fifth row
    labels[::5] = np.argsort(-probs, axis=1, kind="stable")[np.arange(len(probs)), far][::5]
    rule = rs.calibrate(probs[:300], labels[:300], method=score)
    assert 1 - 1e-13 < rule.threshold(0.1)[0] < 1
    found, wanted = (function(rule, probs[300:], 0.1)[1] for function in (outputs, expected))
    assert abs(found.mean() - wanted.mean()) < 2
    assert wanted.mean() < 150


def test_certain_labels_at_the_threshold_are_left_out():
    rng = np.random.default_rng(6)
    probs = rng.choice([0.1, 0.3, 0.6, 0.9], size=(600, 4))
    truths = rng.random(probs.shape) < probs
    for score in (rs.Marginals(rs.Thr(), WEIGHTS), rs.Marginals(rs.Margin(), WEIGHTS)):
        rule = rs.calibrate(probs[:200], truths[:200], method=score, kind="marginals", target=rs.CertainLabels())
        found, wanted = (function(rule, probs, 0.2)[0] for function in (outputs, expected))
        assert not (found & ~wanted).any()
        assert wanted.any()


@pytest.mark.parametrize("score", [rs.Thr(), rs.Share(), rs.Rank()], ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_marginals(score, dtype):
    rng = np.random.default_rng(2)
    common = rng.normal(size=(1500, 1))
    probs = (1 / (1 + np.exp(-(common + rng.normal(size=(1500, 8)) - 1)))).astype(dtype)
    truths = rng.random(probs.shape) < probs
    probs[::5] = np.round(probs[::5], 1)  # equal entries share a rank, and there are exact zeros
    several = [
        rs.Marginals(score, weights=WEIGHTS),
        rs.Marginals(
            score,
            WEIGHTS,
            intercepts=np.linspace(-1, 1, 8),
            means=[0.1] * 8,
            deviations=[2.0] * 8,
            matrix=np.round(rng.normal(size=64), 2).tolist(),
        ),
        rs.Marginals.fit(probs[:500], truths[:500], score=score),
    ]
    for one in several:
        rule = rs.calibrate(probs[500:800], truths[500:800], method=one, kind="marginals", target="recall")
        assert differences(rule, probs[800:], 0.1) == [0, 0, 0], one


def test_the_metadata_say_which_scores_are_exact():
    probs, labels = model_rows(100, 4)
    for score, exact in [
        (rs.Thr(), True),
        (rs.Tempered(APS, 1.0), True),
        (rs.Tempered(APS, 1.5), False),
        (rs.RankLimited(rs.Temperature(2.0), [2] * 4), False),
        (rs.Chosen(rs.Recalibrated(), "why"), False),
    ]:
        made = rs.calibrate(probs, labels, method=score).to_onnx(alpha=0.1)
        assert json.loads(made.metadata_props[0].value)["exact"] is is_exact(score) is exact
    assert not is_exact(rs.Marginals())
