"""Coverage through the whole route: estimate on rows of their own, calibrate on others, predict new ones."""

import numpy as np
import pytest

import rankset as rs
from shift.test_labels import SOURCE, TARGET, problem

REPEATS = 150


def hard_rows(n, seed, beta):
    """Rows whose probabilities are right; those with a small largest probability come more often if beta > 0."""
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(5, 0.3), 20 * n)
    weights = np.exp(-beta * probs.max(axis=1))
    probs = probs[rng.choice(len(probs), n, p=weights / weights.sum())]
    labels = (probs.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1).clip(max=4)
    return probs, labels


def mean_and_error(values):
    return np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
@pytest.mark.parametrize("method", ["thr", "rank"])
def test_label_shift(method):
    found = {"no weights": [], "factors": [], "Pooled": []}
    for seed in range(REPEATS):
        shift = rs.shift.labels(*problem(400, SOURCE, 5 * seed), problem(400, TARGET, 5 * seed + 1)[0])
        probs, labels = problem(400, SOURCE, 5 * seed + 2)
        new, truth = problem(1000, TARGET, 5 * seed + 3)
        conditions = {"factors": shift.condition, "Pooled": rs.Pooled(shift.condition)}
        for name, shares in found.items():
            given = {"condition": conditions[name]} if name in conditions else {}
            rule = rs.calibrate(probs, labels, method=method, **given)
            shares.append(rule.predict(new, 0.1).covers(truth).mean())
    assert np.mean(found["no weights"]) < 0.87
    for name in ("factors", "Pooled"):
        mean, error = mean_and_error(found[name])
        assert 0.89 - 3 * error < mean < 0.915 + 3 * error, name


@pytest.mark.parametrize(("method", "usual"), [("thr", 0.91), ("rank", 0.875)])
def test_covariate_shift(method, usual):
    found = {"no weights": [], "weights": []}
    for seed in range(REPEATS):
        source, target = hard_rows(500, 4 * seed, 0)[0], hard_rows(500, 4 * seed + 1, 4)[0]
        shift = rs.shift.covariate(source, target)
        (probs, labels), (new, truth) = hard_rows(400, 4 * seed + 2, 0), hard_rows(500, 4 * seed + 3, 4)
        plain = rs.calibrate(probs, labels, method=method)
        rule = rs.calibrate(probs, labels, method=method, weights=shift.weights(probs))
        found["no weights"].append(plain.predict(new, 0.1).covers(truth).mean())
        found["weights"].append(rule.predict(new, 0.1, weights=shift.weights(new)).covers(truth).mean())
    assert np.mean(found["no weights"]) < usual
    mean, error = mean_and_error(found["weights"])
    assert 0.89 - 3 * error < mean < 0.92 + 3 * error
