"""Marginals: the fit against a slow reference, and what a score with fitted numbers must keep."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

import rankset as rs
from rankset.scores.label_dependence import exact_products, fit_cross, fit_shared
from rankset.scores.label_dependence.features import row_features

RNG = np.random.default_rng(4)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def planted(n, k=4, seed=0):
    """Labels 0 and 1 are always true together, but the model sees label 1 hardly at all; the others stand alone."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1, 2, (n, k))
    mask = rng.random((n, k)) < sigmoid(logits)
    mask[:, 1] = mask[:, 0]
    logits[:, 1] = rng.normal(-0.5, 0.1, n)
    return sigmoid(logits), mask


def alone(n, k=4, seed=0):
    rng = np.random.default_rng(seed)
    probs = sigmoid(rng.normal(-1, 2, (n, k)))
    return probs, rng.random((n, k)) < probs


PROBS, MASK = planted(2000)
FITTED = rs.Marginals.fit(PROBS, MASK)


def test_labels_are_used_for_each_other_where_they_tell_something():
    assert len(FITTED.matrix) == 16
    probs, mask = planted(4000, seed=1)
    sizes = {}
    for score in (rs.Thr(), FITTED):
        rule = rs.calibrate(probs[:2000], mask[:2000], method=score, target="all", kind="marginals")
        sets = rule.predict(probs[2000:], alpha=0.1)
        assert sets.covers_all(mask[2000:]).mean() > 0.87
        sizes[score] = sets.sizes.mean()
    assert sizes[FITTED] < 0.9 * sizes[rs.Thr()]


def test_labels_are_not_used_for_each_other_where_they_tell_nothing():
    found = [rs.Marginals.fit(*alone(1000, seed=seed)) for seed in range(10)]
    assert sum(bool(score.matrix) for score in found) <= 1


def test_probabilities_that_are_right_hardly_change():
    probs, mask = alone(20_000)
    fitted = rs.Marginals.fit(probs, mask)
    assert np.abs(fitted.transform(probs) - probs).mean() < 0.01


def objective(features, truths, numbers):
    weights, intercepts = numbers[:6], numbers[6:]
    logits = np.tensordot(weights, features, 1) + intercepts
    likelihood = np.where(truths, -np.logaddexp(0, -logits), -np.logaddexp(0, logits)).sum()
    moved = weights - np.array([1.0, 0, 0, 0, 0, 0])
    penalty = fit_shared.WEIGHT_PENALTY * moved @ moved + fit_shared.INTERCEPT_PENALTY * intercepts @ intercepts
    return likelihood - penalty / 2


def test_the_shared_fit_is_the_largest_penalised_likelihood():
    probs, mask = PROBS[:300] ** 2, MASK[:300]
    features = row_features(probs)
    best = np.concatenate(fit_shared.fit_shared(features, mask))
    top = objective(features, mask, best)
    assert top > objective(features, mask, np.array([1.0] + [0.0] * 9)) + 1
    for place in range(10):
        for step in (-0.05, 0.05):
            other = best.copy()
            other[place] += step
            assert objective(features, mask, other) < top


def test_the_matrix_is_the_largest_penalised_likelihood():
    inputs = fit_cross.with_ones(exact_products.on_grid(RNG.normal(size=(400, 3))))
    truths = RNG.random((400, 3)) < sigmoid(inputs[:, [1, 2, 0]] - 1)
    rows = fit_cross.Rows(inputs, np.full((400, 3), -1.0), truths)
    best = fit_cross.fit_cross(rows, 3.0)

    def value(matrix):
        penalty = 3.0 * (matrix[:-1] ** 2).sum() + fit_cross.INTERCEPT_PENALTY * (matrix[-1] ** 2).sum()
        return rows.log_likelihood(matrix).sum() - penalty / 2

    for place in np.ndindex(best.shape):
        for step in (-0.05, 0.05):
            other = best.copy()
            other[place] += step
            assert value(other) < value(best)
    assert (best[:-1].argmax(axis=0) == [1, 2, 0]).all()


@pytest.mark.parametrize("width", [4, 3, 1])
def test_rows_are_changed_one_by_one(width):
    probs = PROBS[:500, :width]
    together = FITTED.transform(probs)
    alone = np.concatenate([FITTED.transform(probs[[row]]) for row in range(500)])
    assert np.array_equal(together, alone)
    assert ((together >= 0) & (together <= 1)).all()


def test_products_are_exact_so_fits_depend_on_nothing_but_rows():
    first, second = exact_products.on_grid(RNG.normal(size=(300, 40)) * 9), RNG.normal(size=(40, 7)) ** 5
    rounded = exact_products.rounded_columns(second, 40)
    assert np.abs(rounded - second).max() < 1e-6 * np.abs(second).max()
    slow = [[sum(a * b for a, b in zip(row, column, strict=True)) for column in rounded.T] for row in first]
    assert np.array_equal(exact_products.product(first, second), slow)
    with mock.patch.multiple(exact_products, AT_ONCE=100, FEWEST=1):
        assert np.array_equal(exact_products.product(first, second), slow)
        assert rs.Marginals.fit(PROBS, MASK) == FITTED


@pytest.mark.parametrize(("threads", "size"), [("1", "100000"), ("3", "200")])
def test_rules_depend_neither_on_threads_nor_on_blocks(monkeypatch, threads, size):
    options = {"method": FITTED, "target": "recall", "kind": "marginals"}
    whole = rs.calibrate(PROBS, MASK, **options)
    monkeypatch.setenv("RANKSET_THREADS", threads)
    monkeypatch.setenv("RANKSET_BLOCK_BYTES", size)
    assert rs.calibrate(PROBS, MASK, **options) == whole
    assert whole.predict(PROBS, 0.1) == rs.calibrate(PROBS, MASK, **options).predict(PROBS, 0.1)


def test_default_parameters_change_nothing():
    new = rs.Marginals().transform(PROBS)
    assert np.allclose(new, PROBS, atol=1e-12)
    other = {"target": "all", "kind": "marginals"}
    same = rs.calibrate(PROBS, MASK, method=rs.Marginals(), **other).predict(PROBS, 0.1)
    plain = rs.calibrate(PROBS, MASK, method="thr", **other).predict(PROBS, 0.1)
    assert np.array_equal(same.mask, plain.mask)


def test_zeros_and_ones_are_finite_and_equal_entries_stay_equal():
    new = replace(FITTED, intercepts=(0.0,) * 4, matrix=(), means=(), deviations=()).transform(
        np.array([[0.0, 1.0, 0.0, 1.0], [0.0] * 4, [1.0] * 4])
    )
    assert np.isfinite(new).all()
    assert new[0, 0] == new[0, 2]
    assert new[0, 1] == new[0, 3]


def test_files_keep_all_numbers(tmp_path):
    named = rs.Marginals.fit(PROBS, MASK, classes=list("abcd"), score="share")
    rule = rs.calibrate(PROBS, MASK, method=named, target="recall", kind="marginals", classes=list("abcd"))
    rule.save(tmp_path / "rule")
    loaded = rs.load(tmp_path / "rule")
    assert loaded == rule
    assert loaded.score.names == tuple("abcd")
    assert loaded.predict(PROBS, 0.1) == rule.predict(PROBS, 0.1)


def test_logits_of_labels_give_the_same_fit():
    logits = np.log(PROBS) - np.log1p(-PROBS)
    fitted = rs.Marginals.fit(logits, MASK, kind="marginal_logits")
    assert np.allclose(fitted.weights, FITTED.weights, atol=1e-6)
    assert np.allclose(fitted.transform(PROBS), FITTED.transform(PROBS), atol=1e-6)


def test_words():
    rule = rs.calibrate(PROBS, MASK, method=FITTED, target="all", kind="marginals")
    assert rule.describe(0.1).startswith("keeps labels with a recalibrated probability of at least 0.")
    each = rs.calibrate(PROBS, MASK, method=FITTED, target="all", kind="marginals", condition=rs.PerLabel())
    assert "its recalibrated probability is at least" in str(each.describe(0.1))
    assert repr(FITTED) == "Marginals(Thr(), fitted to 4 labels, with their dependence)"
    assert repr(rs.Marginals()) == "Marginals(Thr())"


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"score": rs.Aps()}, "Share, Thr, Rank"),
        ({"weights": (1.0,)}, "6 numbers"),
        ({"intercepts": ("a",)}, "numbers"),
        ({"intercepts": (0.0, 0.0), "matrix": (1.0,)}, "2 numbers"),
        ({"intercepts": (0.0,), "matrix": (1.0, 1.0), "means": (0.0,), "deviations": (1.0,)}, "1 numbers"),
        ({"intercepts": (0.0,), "matrix": (1.0,), "means": (0.0,), "deviations": (0.0,)}, "above 0"),
        ({"intercepts": (0.0, 0.0), "names": ("a",)}, "2 names"),
    ],
)
def test_parameters_that_cannot_be(parameters, text):
    with pytest.raises(rs.errors.ScoreError, match=text):
        rs.Marginals(**parameters)


def test_other_columns_and_names_are_refused():
    options = {"method": FITTED, "target": "all", "kind": "marginals"}
    with pytest.raises(rs.errors.ScoreError, match="4 columns"):
        rs.calibrate(PROBS[:, :3], MASK[:, :3], **options)
    named = rs.Marginals.fit(PROBS, MASK, classes=list("abcd"))
    with pytest.raises(rs.errors.ScoreError, match="classes of the fit"):
        rs.calibrate(PROBS, MASK, **{**options, "method": named}, classes=list("abdc"))


def test_fits_that_cannot_be():
    with pytest.raises(rs.errors.KindError, match="marginals"):
        rs.Marginals.fit(PROBS, MASK, kind="probs")
    with pytest.raises(rs.errors.KindError, match="matrix"):
        rs.Marginals.fit(rs.Ragged.of([[0.5, 0.5], [1.0]]), [[0], [0]])
    with pytest.raises(rs.errors.InputError):
        rs.Marginals.fit(np.zeros((0, 3)), np.zeros((0, 3)))
    with pytest.raises(rs.errors.ScoreError, match=r"Marginals\.fit"):
        rs.calibrate(PROBS, MASK, method="marginals", target="all", kind="marginals")


@pytest.mark.parametrize("same", [True, False])
def test_fitting_on_the_calibration_rows_breaks_the_promise_and_on_others_does_not(same):
    """Probabilities that tell nothing, few rows and many labels: a fit learns the labels of its own rows."""
    missed = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        probs, mask = sigmoid(rng.normal(-2, 1, (380, 12))), rng.random((380, 12)) < 0.15
        fitting, calibrating, new = slice(0, 40), slice(0 if same else 40, 40 if same else 80), slice(80, None)
        score = rs.Marginals.fit(probs[fitting], mask[fitting])
        rule = rs.calibrate(probs[calibrating], mask[calibrating], method=score, target="recall", kind="marginals")
        missed.append(1 - np.nanmean(rule.predict(probs[new], 0.2).recall(mask[new])))
    bound = 0.2 + 3 * np.std(missed) / np.sqrt(len(missed))
    assert (np.mean(missed) > bound) == same
