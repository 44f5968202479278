"""Precise sets: the walk equals a slow one, the confidence holds in simulations, and bad input gets a sentence."""

import math

import numpy as np
import pytest

import rankset as rs
from rankset.core.mean_interval import p_value_of_mean
from rankset.errors import InputError, KindError, RuleError
from refusals import refused

PROBS, LABELS = rs.datasets.load("goemotions")


def false_shares(mask, labels):
    return (mask & ~labels).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)


@pytest.mark.parametrize("method", [rs.Thr(), rs.Share(), rs.Rank(), rs.TieBreak(rs.TopK())], ids=repr)
@pytest.mark.parametrize("error", [0.2, 0.4, 0.7])
def test_the_walk_stops_where_a_slow_one_does(method, error):
    rows = slice(0, 600)
    rule = rs.precise(PROBS[rows], LABELS[rows], error=error, unlabelled=PROBS[600:900], method=method, steps=30)
    fixing = rs.calibrate(PROBS[600:900], np.ones((300, 28)), target="recall", method=method, kind="marginals")
    keys = fixing.calibration.keys
    places = np.unique((len(keys[0]) - 1) * (np.arange(1, 31) / 30) ** 2).astype(int)
    passed, last = 0, None
    testing = rs.calibrate(PROBS[rows], np.ones((600, 28)), target="recall", method=method, kind="marginals")
    for place in places:
        at = testing.at(0.5)
        bound = tuple(np.array([key[place]] * 2) for key in keys)
        at = type(at)(at.spec, at.level, type(at.thresholds)(bound, np.array([False, True])), at.counts, None)
        mask = at.predict(PROBS[rows]).mask
        share = false_shares(mask, LABELS[rows]).mean()
        if share >= error or p_value_of_mean(share, 600, error) > 0.1:
            break
        passed, last = passed + 1, mask
    assert rule.tested == passed
    if passed:
        assert np.array_equal(rule.predict(PROBS[rows]).mask, last)
        assert rule.false_share == pytest.approx(false_shares(last, LABELS[rows]).mean())
        assert rule.mean_size == pytest.approx(last.sum(axis=1).mean())
        assert rule.recall == pytest.approx(((last & LABELS[rows]).sum(axis=1) / LABELS[rows].sum(axis=1)).mean())


def draw(rng, n):
    """Rows whose labels follow their probabilities."""
    probs = rng.beta(0.4, 1.5, (n, 6))
    return probs, rng.random((n, 6)) < probs


def test_the_confidence_holds_in_simulations():
    rng, error, runs = np.random.default_rng(4), 0.3, 300
    new, truth = draw(rng, 40_000)
    failed = 0
    for _ in range(runs):
        rule = rs.precise(*draw(rng, 300), error=error, confidence=0.9)
        failed += false_shares(rule.predict(new).mask, truth).mean() > error
    assert failed / runs <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / runs)


def test_an_error_that_cannot_be_reached_gives_empty_sets_and_a_warning():
    probs = np.full((40, 2), 0.5)
    labels = np.zeros((40, 2), bool)
    with pytest.warns(
        rs.RanksetWarning, match="no threshold keeps the share of false labels at 0.1 or below with 32 rows"
    ) as told:
        rule = rs.precise(probs, labels, error=0.1)
    assert str(told[0].message).endswith("Pass more rows, a larger error or a smaller confidence.")
    assert rule.at is None
    sets = rule.predict(probs)
    assert sets.sizes.tolist() == [0] * 40
    assert "no threshold passed" in repr(rule)


def test_sets_of_precise_can_be_evaluated():
    rule = rs.precise(PROBS[:2000], LABELS[:2000], error=0.3)
    found = rs.evaluate(rule.predict(PROBS[2000:]), LABELS[2000:])
    assert found.precision > 0.6
    assert "Precision()" in repr(found)
    assert np.array_equal(rule.at(PROBS[7]).mask[0], rule.predict(PROBS[:10]).mask[7])


@pytest.mark.parametrize("error", [0, 1, 1.5, "much", None])
def test_an_error_that_is_no_share_is_refused(error):
    with refused(KindError.argument("error", "a share of false labels, strictly between 0 and 1", error)):
        rs.precise(PROBS[:10], LABELS[:10], error=error)


def test_other_bad_arguments_are_refused():
    with refused(KindError.argument("steps", "an integer from 1 to 10,000", 0)):
        rs.precise(PROBS[:10], LABELS[:10], error=0.1, steps=0)
    with refused(InputError.too_few_rows_for_precise(1)):
        rs.precise(PROBS[:1], LABELS[:1], error=0.1)
    with refused(InputError.no_rows()):
        rs.precise(PROBS[:5], LABELS[:5], error=0.1, unlabelled=PROBS[:0])
    with pytest.raises(rs.errors.LabelError, match="be a 0/1 matrix"):
        rs.precise(PROBS[:10], np.zeros(10, int), error=0.1)
    from rankset.targets.precision import Precision

    with refused(RuleError.precise_only()):
        rs.calibrate(PROBS[:10], LABELS[:10], target=Precision(), kind="marginals")
