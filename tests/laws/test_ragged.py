"""Padding is as if it were not there, whatever it holds, and rows of different widths keep the guarantee."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset.core.alpha import exact_alpha
from rankset.scores import traits
from strategies import DETERMINISTIC, alphas, problems, scores, sized

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

junk = st.sampled_from([0.0, 0.5, -7.0, 1e30, math.inf, -math.inf, math.nan])


def padded(values, extra, filler):
    return np.pad(values.astype(float), ((0, 0), (0, extra)), constant_values=filler)


@given(
    problems(score=st.sampled_from(DETERMINISTIC)), st.integers(0, 3), junk, alphas, st.sampled_from(["allow", "top"])
)
def test_padding_is_as_if_it_were_not_there(problem, extra, filler, alpha, empty):
    if not isinstance(problem.condition, rs.Marginal | rs.PerGroup) or problem.probs.shape[1] < 2:
        return
    width = problem.probs.shape[1]
    wide = rs.Ragged(padded(problem.probs, extra, filler), np.full(problem.n, width))
    options = {"score": problem.score, "condition": problem.condition, **problem.keywords}
    plain, ragged = (rs.calibrate(rows, problem.labels, **options) for rows in (problem.probs, wide))
    assert plain.calibration == ragged.calibration
    asked = {"alpha": alpha, "empty": empty, **problem.keywords}
    assert ragged.predict(wide, **asked).to_lists() == plain.predict(problem.probs, **asked).to_lists()
    p_values = ragged.p_values(wide, **problem.keywords)
    assert p_values[:, :width].tobytes() == plain.p_values(problem.probs, **problem.keywords).tobytes()
    assert not p_values[:, width:].any()


@given(scores, st.integers(0, 2**32), st.integers(2, 14), st.sampled_from(["probs", "logits", "decision"]), alphas)
def test_leaving_each_row_out_covers_whatever_the_widths(score, seed, n, kind, alpha):
    rng = np.random.default_rng(seed)
    rows = [rng.multinomial(6, np.ones(k) / k) / 6 for k in rng.integers(1, 6, n)]
    if kind != "probs":
        rows = [np.log(row, where=row > 0, out=np.full(len(row), -np.inf)) for row in rows]
    if kind == "decision" and traits(score).needs_probs:
        return
    labels = [int(rng.integers(len(row))) for row in rows]
    score = sized(score, 5)
    hits = 0
    for out in range(n):
        others = [row for row in range(n) if row != out]
        kept = rs.Ragged.of(rows[row] for row in others)
        rule = rs.calibrate(kept, [labels[row] for row in others], kind=kind, score=score, classes=range(5))
        sets = rule.predict(rs.Ragged.of([rows[out]]), alpha)
        assert sets.codes.max(initial=0) < len(rows[out])
        assert (sets.mask == (rule.p_values(rs.Ragged.of([rows[out]])) > float(exact_alpha(alpha)))).all()
        hits += int(sets.covers([labels[out]])[0])
    assert hits >= n - math.floor(n * exact_alpha(alpha))
