"""Scores with logarithms return the sets of ``Rule.predict`` bit for bit, also if many labels are at the threshold."""

import numpy as np
import pytest

pytest.importorskip("onnxruntime")

import rankset as rs
from onnx_models import differences

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
def test_many_labels_at_the_threshold(seed):
    """With few different rows, the last bit of a logarithm would decide about many labels."""
    probs, labels = model_rows(2000, 3, seed, ties=True)
    ties = 0
    for score in (
        *fitted_scores(3, ties=True),
        rs.Tempered(rs.Rank(), 0.6),
        rs.ClassOffsets(rs.Temperature(0.8), [0.1] * 3),
    ):
        rule = rs.calibrate(probs[:300], labels[:300], method=score)
        assert differences(rule, probs, 0.1) == [0, 0, 0], score
        if isinstance(score, rs.Temperature | rs.Recalibrated):
            ties += (score.transform(probs) == -rule.threshold(0.1)[0]).sum()
    assert ties > 100


def test_sums_of_all_labels_at_the_threshold():
    """Rows whose true label has probability 0 make 1 the threshold of APS: sums of all labels decide."""
    score = rs.Tempered(APS, 1.3)
    probs, labels = model_rows(3000, 200, seed=8)
    probs[::3] = np.eye(200)[(labels[::3] + 1) % 200]
    rule = rs.calibrate(probs[:600], labels[:600], method=score)
    assert rule.threshold(0.1)[0] == 1
    assert differences(rule, probs[600:], 0.1) == [0, 0, 0]


def test_tiny_probabilities():
    score = rs.Tempered(APS, 0.9)
    probs, labels = model_rows(600, 200, seed=8)
    probs = rs.softmax(100 * np.log(probs))
    assert (probs < 1e-300).any()
    for one in (score, rs.Temperature(3.0), rs.Recalibrated(0.9, (0.9, 0.1, 0.2, 0.1, 0.3, -0.2, 0.1))):
        rule = rs.calibrate(probs[:300], labels[:300], method=one)
        assert differences(rule, probs[300:], 0.1) == [0, 0, 0], one


def test_certain_labels():
    rng = np.random.default_rng(6)
    probs = rng.choice([0.1, 0.3, 0.6, 0.9], size=(600, 4))
    truths = rng.random(probs.shape) < probs
    for score in (rs.Marginals(rs.Thr(), WEIGHTS), rs.Marginals(rs.Margin(), WEIGHTS)):
        rule = rs.calibrate(probs[:200], truths[:200], method=score, kind="marginals", target=rs.CertainLabels())
        assert rule.predict(probs, 0.2).mask.any()
        assert differences(rule, probs, 0.2) == [0, 0, 0]


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
