"""Fitted scores are scores like any other: frozen on rows of their own they keep every law. Fitted on the calibration
rows themselves they do not, and that is noticed."""

import math
import os
from dataclasses import dataclass
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset.core import ranking
from rankset.core.alpha import exact_alpha
from rankset.core.parallel import BLOCK_BYTES, THREADS
from strategies import PER_SCORE, alphas

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

K = 4


def draw(seed, n, n_columns=K):
    """Rows with ties, zeros and classes of different frequency, and labels that often are the top one."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(8, rng.dirichlet(np.full(n_columns, 0.7)), n)
    probs = counts / 8
    right = rng.random(n) < 0.6
    return probs, np.where(right, probs.argmax(axis=1), rng.choice(n_columns, n, p=rng.dirichlet(np.ones(n_columns))))


def fitted(seed, how):
    probs, labels = draw(seed + 1, 60)
    if how == "average":
        return rs.Average(*np.random.default_rng(seed).random(3).tolist())
    if how == "tempered":
        return rs.Tempered.fit(probs, labels, score=rs.Aps(randomized=False))
    if how == "temperature":
        return rs.Temperature.fit(probs, labels)
    recalibrated = rs.Recalibrated.fit(probs, labels)
    factors = tuple(np.random.default_rng(seed).normal(size=K).tolist())
    return rs.Recalibrated(recalibrated.temperature, recalibrated.weights, factors if how == "with factors" else ())


WAYS = ["temperature", "tempered", "plain", "with factors", "average"]
ways = pytest.mark.parametrize("how", WAYS)
seeds = st.integers(0, 2**32)


@ways
@PER_SCORE
@given(seeds, st.integers(2, 14), alphas, st.booleans())
def test_leaving_each_row_out_covers_at_least_the_promised_number(how, seed, n, alpha, tie_break):
    score = fitted(seed, how)
    score = rs.TieBreak(score) if tie_break else rs.Chosen(score, "for a test")
    probs, labels = draw(seed, n)
    rows = np.arange(n)
    hits = sum(
        rs.calibrate(probs[rows != row], labels[rows != row], score=score)
        .predict(probs[[row]], alpha)
        .covers(labels[[row]])[0]
        for row in rows
    )
    assert hits >= n - math.floor(n * exact_alpha(alpha))


@ways
@PER_SCORE
@given(seeds, alphas, st.integers(1, 3), st.sampled_from([1, 3, 50]))
def test_blocks_threads_order_and_search_change_nothing(how, seed, alpha, threads, parts):
    score = fitted(seed, how)
    probs, labels = draw(seed, 50)
    whole = rs.calibrate(probs, labels, score=score)
    sets, p_values = whole.predict(probs, alpha), whole.p_values(probs)
    assert (sets.mask == (p_values > float(exact_alpha(alpha)))).all()
    settings = {THREADS: str(threads), BLOCK_BYTES: str(probs.nbytes // parts + 1)}
    with mock.patch.dict(os.environ, settings), mock.patch.object(ranking, "FEW", 0):
        again = rs.calibrate(probs, labels, score=score)
        assert again == whole
        assert again.predict(probs, alpha) == sets
        turned = np.random.default_rng(seed).permutation(50)
        assert again.predict(probs[turned], alpha) == sets[turned]
        assert again.predict(probs.astype(np.float32), alpha) == sets
    halves = [rs.calibrate(probs[part], labels[part], score=score) for part in (slice(0, 20), slice(20, 50))]
    assert halves[0].merge(halves[1]) == whole


@ways
def test_they_are_stored_and_come_back(how, tmp_path):
    probs, labels = draw(3, 80)
    for score in (fitted(3, how), rs.Chosen(fitted(3, how), "because"), rs.TieBreak(fitted(3, how))):
        rule = rs.calibrate(probs, labels, score=score)
        rule.save(tmp_path / "rule.rankset")
        loaded = rs.load(tmp_path / "rule.rankset")
        assert loaded == rule
        assert loaded.predict(probs, 0.1) == rule.predict(probs, 0.1)


def test_they_contain_thr_and_rank():
    rng = np.random.default_rng(0)
    probs, labels = rng.dirichlet(np.full(8, 0.5), 300), rng.integers(0, 8, 300)
    plain = rs.calibrate(probs, labels, score=rs.Thr()).predict(probs, 0.2)
    assert rs.calibrate(probs, labels, score=rs.Temperature(1.0)).predict(probs, 0.2) == plain
    assert rs.calibrate(probs, labels, score=rs.Recalibrated()).predict(probs, 0.2) == plain
    ranked = rs.Recalibrated(1.0, (1e-9, 1.0, 0, 0, 0, 0, 0))
    sets = rs.calibrate(probs, labels, score=ranked).predict(probs, 0.2)
    assert np.ptp(sets.sizes) <= 1


@dataclass(frozen=True)
class Weighted:
    """A score with a weight for every class."""

    weights: tuple

    def keys(self, cells):
        return (-np.array(self.weights)[cells.column] * cells.prob,)


def coverage(fit_on_calibration, trials=150, n=20, n_columns=12, alpha=0.2):
    rng = np.random.default_rng(9)
    candidates = [Weighted(tuple(rng.exponential(size=n_columns) ** 3)) for _ in range(60)]
    hits = []
    for _ in range(trials):
        probs, labels = rng.dirichlet(np.ones(n_columns), 2 * n + 50), rng.integers(0, n_columns, 2 * n + 50)
        cal = slice(0, n)
        own = cal if fit_on_calibration else slice(n, 2 * n)
        sizes = [
            rs.calibrate(probs[own], labels[own], score=c).predict(probs[own], alpha).sizes.mean() for c in candidates
        ]
        rule = rs.calibrate(probs[cal], labels[cal], score=candidates[int(np.argmin(sizes))])
        hits.append(rule.predict(probs[2 * n :], alpha).covers(labels[2 * n :]).mean())
    return float(np.mean(hits))


@pytest.mark.slow
def test_choosing_on_the_calibration_rows_breaks_coverage_and_on_others_does_not():
    assert coverage(fit_on_calibration=True) < 0.77
    assert coverage(fit_on_calibration=False) == pytest.approx(17 / 21, abs=0.02)


@pytest.mark.slow
def test_auto_covers_whatever_it_chooses():
    """Small samples, heavy ties, rare classes: 200 independent calibrations, and the exact law of their mean."""
    shares = []
    for seed in range(200):
        probs, labels = draw(seed, 600)
        rule = rs.auto(probs[:450], labels[:450], 0.2, seed=seed)
        shares.append(rule.predict(probs[450:], 0.2).covers(labels[450:]).mean())
    assert np.mean(shares) > 0.8 - 4 * np.std(shares) / math.sqrt(len(shares))
