"""Recalibrations: ranks, features and fits in small blocks are those of the obvious formulas on whole matrices."""

import math
import os
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset.core.logarithm import log_of_nonnegative
from rankset.core.parallel import BLOCK_BYTES, THREADS
from rankset.scores.recalibration import fit_class_factors, row_blocks
from rankset.scores.recalibration.features import ENTROPY_CENTRE, MOST_RANKS, Features
from rankset.scores.recalibration.fit_scale import fit_scale
from rankset.scores.recalibration.fit_weights import PRIOR, Likelihood, fit_weights
from rankset.scores.recalibration.logarithms import ZERO_LOG, log_probabilities, normalise
from rankset.scores.recalibration.top_columns import top_columns
from strategies import wide_rows

WIDTHS = [1, 2, 5, 99, 100, 101, 200, 201, 260, 450]
cases = st.tuples(
    *(st.integers(0, 2**32), st.integers(1, 12), st.sampled_from(WIDTHS), st.sampled_from([1, 3, 1e6])),
    st.sampled_from([np.float32, np.float64]),
)
SHAPES = [(1, 3), (2, 1), (60, 4), (90, 120), (300, 300)]


def all_features(probs, scale):
    """All seven features of every cell (n, K, 7), by full sorts."""
    log = normalise(scale * log_probabilities(probs))
    ranks = np.argsort(np.argsort(-probs, axis=1, kind="stable"), axis=1) + 1
    entropy = -(np.exp(log) * log).sum(axis=1) / math.log(max(2, probs.shape[1])) - ENTROPY_CENTRE
    plain = np.stack((log, -log_of_nonnegative(np.minimum(ranks, MOST_RANKS)), ranks == 1), axis=2)
    squared = np.square(np.maximum(log, ZERO_LOG)) / 10
    return np.concatenate((plain, squared[:, :, None], plain * entropy[:, None, None]), axis=2)


def rows_for_a_fit(seed, n_rows, n_columns):
    """Rows whose labels depend on the probability, on the rank and on the class."""
    rng = np.random.default_rng(seed)
    probs = rs.softmax(rng.normal(size=(n_rows, n_columns)) * 2)
    chances = probs**0.7 * np.exp(rng.normal(size=n_columns))
    labels = (chances.cumsum(axis=1) > rng.random((n_rows, 1)) * chances.sum(axis=1, keepdims=True)).argmax(axis=1)
    return probs, labels


@given(cases, st.sampled_from([1, 3, 40, 100]))
def test_the_first_ranks_are_those_of_a_stable_sort(case, most):
    probs = wide_rows(*case)[0].astype(np.float64)
    probs[probs == 0] *= -1  # -0.0 and 0.0 are equal
    probs[0] = np.abs(probs[0])
    expected = np.argsort(-probs, axis=1, kind="stable")[:, :most]
    assert top_columns(probs, most).tolist() == expected.tolist()
    assert top_columns(-probs, most).tolist() == np.argsort(probs, axis=1, kind="stable")[:, :most].tolist()
    assert top_columns(np.zeros((2, 250)), most).tolist() == [list(range(most))] * 2


@given(cases, st.integers(0, 2**32))
def test_scores_are_the_sum_of_all_features_times_their_weights(case, seed):
    probs = wide_rows(*case)[0].astype(np.float64)
    weights = np.random.default_rng(seed).normal(size=7)
    features = Features.of(probs, 0.8)
    np.testing.assert_allclose(features.weighted_sum(weights), all_features(probs, 0.8) @ weights, rtol=1e-9, atol=1e-9)
    plain = all_features(probs, 0.8)[:, :, :4].transpose(0, 2, 1)
    assert np.array_equal(features.stacked(), plain)


@given(cases, st.integers(0, 2**32), st.booleans())
def test_new_rows_do_not_depend_on_blocks(case, seed, factors):
    probs = wide_rows(*case)[0].astype(np.float64)
    rng = np.random.default_rng(seed)
    own = tuple(rng.normal(size=probs.shape[1]).tolist()) if factors else ()
    score = rs.Recalibrated(1.3, tuple(rng.normal(size=7).tolist()), own)
    whole = score.transform(probs)
    for at_once in (1, 3 * probs.shape[1]):
        with mock.patch.object(row_blocks, "AT_ONCE", at_once):
            assert score.transform(probs).tobytes() == whole.tobytes()
    assert score.transform(probs[:1]).tobytes() == whole[:1].tobytes()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_power_is_that_of_newtons_method_on_the_whole_matrix(shape):
    probs, labels = rows_for_a_fit(1, *shape)
    log, scale = np.log(probs), 1.0
    for _ in range(50):
        powers = np.exp(normalise(scale * log))
        mean = (powers * log).sum(axis=1)
        spread = (powers * np.square(log - mean[:, None])).sum()
        step = ((log[np.arange(len(log)), labels] - mean).sum() - (scale - 1)) / (spread + 1)
        scale = float(np.clip(scale + np.clip(step, -scale / 2, scale), 0.02, 50.0))
    assert fit_scale(probs, labels) == pytest.approx(scale, rel=1e-5)
    assert fit_scale(probs.astype(np.float32), labels) == pytest.approx(scale, rel=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_value_and_step_of_weights_are_those_of_the_stacked_features(shape):
    probs, labels = rows_for_a_fit(2, *shape)
    rng = np.random.default_rng(0)
    weights, factors = PRIOR + 0.1 * rng.normal(size=7), 0.3 * rng.normal(size=shape[1])
    features, rows = all_features(probs, 1.1), np.arange(shape[0])
    log = normalise(features @ weights + factors)
    means = np.einsum("nk,nkf->nf", np.exp(log), features)
    slope = (features[rows, labels] - means).sum(axis=0) - (weights - PRIOR)
    curve = np.einsum("nk,nkf,nkg->fg", np.exp(log), features, features) - means.T @ means + np.eye(7)
    value, step = Likelihood(Features.of(probs, 1.1), labels).at(weights, factors)
    assert value == pytest.approx(log[rows, labels].sum() - np.square(weights - PRIOR).sum() / 2, rel=1e-12)
    np.testing.assert_allclose(step, np.linalg.solve(curve, slope), rtol=1e-6, atol=1e-9)


def test_fitted_weights_are_more_likely_than_their_neighbours():
    probs, labels = rows_for_a_fit(3, 400, 12)
    likelihood, factors = Likelihood(Features.of(probs, 1.0), labels), np.zeros(12)
    weights = fit_weights(likelihood, factors, PRIOR)
    best, _ = likelihood.at(weights, factors)
    for step in np.concatenate((np.eye(7), -np.eye(7))) * 0.2:
        assert likelihood.at(weights + step, factors)[0] < best


@pytest.mark.parametrize("shape", [(2, 1), (60, 4), (300, 300)])
def test_class_factors_for_many_shrinkages_are_those_for_each(shape):
    probs, labels = rows_for_a_fit(4, *shape)
    powers = fit_class_factors.Powers.of(Features.of(probs, 1.0), PRIOR, labels)
    shrinkages = fit_class_factors.SHRINKAGES[1:]
    together = fit_class_factors._fit_factors(powers, shrinkages, rounds=5)
    for number, shrinkage in enumerate(shrinkages):
        factors = np.zeros(shape[1])
        for _ in range(5):
            shares = probs / (probs @ np.exp(factors))[:, None]
            new = np.log((np.bincount(labels, minlength=shape[1]) + shrinkage) / (shares.sum(axis=0) + shrinkage))
            change, factors = np.abs(new - factors).max(), new
            if change < fit_class_factors.LEAST_CHANGE:
                break
        np.testing.assert_allclose(together[:, number], factors, atol=1e-9)
    rows = np.arange(len(probs))
    expected = normalise(np.log(probs) + together[:, 2])[rows, labels]
    np.testing.assert_allclose(powers.label_logs(together)[:, 2], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["probs", "logits"])
def test_a_fit_does_not_depend_on_threads_and_blocks(kind):
    probs, labels = rows_for_a_fit(5, 400, 300)
    values = probs if kind == "probs" else np.log(probs)
    scores = [rs.Recalibrated.fit(values, labels, kind=kind), rs.Temperature.fit(values, labels, kind=kind)]
    assert scores[0].factors
    with mock.patch.dict(os.environ, {THREADS: "3", BLOCK_BYTES: "70000"}):
        again = [rs.Recalibrated.fit(values, labels, kind=kind), rs.Temperature.fit(values, labels, kind=kind)]
    assert again == scores
    assert again[0].weights == scores[0].weights


@pytest.mark.parametrize("n_columns", [1, 3, 450])
def test_no_rows_stay_no_rows(n_columns):
    for score in (rs.Recalibrated(1.3), rs.Temperature(0.7), rs.Tempered(rs.Aps(), 2.0)):
        assert score.transform(np.empty((0, n_columns))).shape == (0, n_columns)
