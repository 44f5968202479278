"""Weights by age, and how many rows weights are worth."""

import numpy as np
import pytest

import rankset as rs
from rankset.errors import InputError, KindError, LabelError
from refusals import refused


def test_weights_fall_with_age():
    np.testing.assert_allclose(rs.shift.ageing([0, 1, 2.5], 0.9), [1, 0.9, 0.9**2.5])
    np.testing.assert_array_equal(rs.shift.ageing(range(4), 1), 1)


def test_without_ageing_the_rule_is_the_usual_one():
    probs, labels = rs.datasets.load("marketing")
    weights = rs.shift.ageing(np.arange(200), 1.0)
    rule = rs.calibrate(probs[:200], labels[:200], weights=weights)
    usual = rs.calibrate(probs[:200], labels[:200])
    assert rule.predict(probs[200:], 0.1, weights=1).to_lists() == usual.predict(probs[200:], 0.1).to_lists()


def test_new_rows_decide_after_a_change():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(5), 4000)
    labels = np.array([rng.choice(5, p=row) for row in probs])
    labels[2000:] = np.argmin(probs[2000:], axis=1)  # from here on the least likely label is the true one
    weights = rs.shift.ageing(np.arange(3000, 0, -1), 0.995)
    aged = rs.calibrate(probs[:3000], labels[:3000], method="thr", weights=weights)
    usual = rs.calibrate(probs[:3000], labels[:3000], method="thr")
    covered = aged.predict(probs[3000:], 0.1, weights=1).covers(labels[3000:]).mean()
    assert covered > 0.85
    assert usual.predict(probs[3000:], 0.1).covers(labels[3000:]).mean() < covered - 0.05


@pytest.mark.parametrize("rho", [0, -1, 1.01, float("nan"), "0.9", None, True])
def test_rho_is_between_0_and_1(rho):
    with refused(KindError, what="rho"):
        rs.shift.ageing([1, 2], rho)


@pytest.mark.parametrize(
    ("ages", "wanted", "fields"),
    [
        ([0, -1], InputError, {"what": "ages", "row": 1}),
        ([0, np.inf], InputError, {"what": "ages", "row": 1}),
        ([0, np.nan], LabelError, {"what": "ages", "row": 1}),
        (["a"], InputError, {"what": "ages", "row": 0}),
    ],
)
def test_ages_are_numbers_from_0_on(ages, wanted, fields):
    with refused(wanted, **fields):
        rs.shift.ageing(ages, 0.9)


def test_effective_rows():
    assert rs.shift.effective_rows([2, 2, 2]) == pytest.approx(3)
    assert rs.shift.effective_rows([1, 0, 0]) == 1
    assert rs.shift.effective_rows([0, 0]) == 0
    with refused(InputError, what="weights", row=1):
        rs.shift.effective_rows([1, -1])
