"""Sets found on the labels within a score's reach are those found by looking at every label."""

import os
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset.core import lexicographic, ranking
from rankset.core.cells import RankedCells
from rankset.core.parallel import BLOCK_BYTES
from rankset.core.rows import Rows
from rankset.inputs.prepare import prepare
from rankset.rules.batch import Batch
from rankset.scores import traits
from strategies import IN_RANKING_ORDER, PER_SCORE, SCORES, alphas, cases, sized, wide_rows

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")


class Plainly:
    """A score that keeps its reach to itself."""

    def __init__(self, score):
        self.score = score

    def keys(self, cells):
        return self.score.keys(cells)


class PlainlyTransforming(Plainly):
    """The same for a score that maps rows first."""

    def transform(self, probs):
        return self.score.transform(probs)


def plainly(score):
    return PlainlyTransforming(score) if traits(score).transforms else Plainly(score)


@pytest.mark.parametrize("score", SCORES, ids=repr)
@PER_SCORE
@given(cases, alphas, st.sampled_from(["allow", "top"]))
def test_what_is_within_reach_is_all_there_is(score, case, alpha, empty):
    probs, labels = wide_rows(*case)
    score = sized(score, probs.shape[1])
    groups = {"groups": np.arange(len(labels)) % 2}
    for condition, keywords in (
        (rs.Marginal(), {}),
        (rs.PerGroup(), groups),
        (rs.PerLabel(np.arange(probs.shape[1]) % 3), {}),
        (rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel()), groups),
    ):
        fast, full = (
            rs.calibrate(probs, labels, score=way, condition=condition, **keywords) for way in (score, plainly(score))
        )
        with (
            mock.patch.object(ranking, "FEW", 0),
            mock.patch.dict(os.environ, {BLOCK_BYTES: str(probs.nbytes // 3 + 1)}),
        ):
            assert fast.predict(probs, alpha, empty=empty, **keywords) == full.predict(
                probs, alpha, empty=empty, **keywords
            )


@given(cases, st.integers(1, 400), st.sampled_from([0.05, 0.5, 0.8, 0.95, 0.999, 1.0, 1.5, np.inf]), st.booleans())
def test_the_likeliest_labels_are_those_within_the_limits_and_few_others(case, rank, mass, floored):
    probs, _ = wide_rows(*case)
    cutoffs = np.quantile(probs, 0.7, axis=1).astype(probs.dtype) if floored else None
    everything = RankedCells(Rows(probs, lambda: None))
    inside = (everything.rank <= rank) & (everything.before <= mass)
    if floored:
        inside &= everything.prob >= cutoffs[everything.row]
    listed = RankedCells(Rows(probs, lambda: None), ranking.likeliest(probs, rank, mass, cutoffs))
    assert set(everything.flat[inside]) <= set(listed.flat)
    for feature in ("rank", "mass", "prob"):
        known = dict(zip(everything.flat, getattr(everything, feature), strict=True))
        assert [known[place] for place in listed.flat] == getattr(listed, feature).tolist()


def test_limits_keep_most_of_a_row_out():
    probs, _ = wide_rows(8, 200, 1000, 1e6, np.float32)
    within = np.cumsum(-np.sort(-probs, axis=1), axis=1)
    assert ranking.likeliest(probs, 5, np.inf, None).sizes.mean() < 7
    needed = (within < 0.9).sum(axis=1).mean() + 1
    assert ranking.likeliest(probs, np.inf, 0.9, None).sizes.mean() < 2 * needed


@given(cases, st.sampled_from(IN_RANKING_ORDER))
def test_keys_never_fall_along_the_ranking(case, score):
    probs, labels = wide_rows(*case)
    batch = Batch.of(rs.calibrate(probs, labels, score=score).spec, prepare(probs))
    _, _, keys = batch.all_keys(slice(0, len(probs)))
    falling = [key.reshape(probs.shape) for key in keys]
    assert lexicographic.not_after(tuple(key[:, :-1] for key in falling), tuple(key[:, 1:] for key in falling)).all()


@given(cases, st.sampled_from(SCORES))
def test_the_key_at_calibration_is_the_key_of_that_column_at_prediction(case, score):
    probs, labels = wide_rows(*case)
    score = sized(score, probs.shape[1])
    batch = Batch.of(rs.calibrate(probs, labels, score=score).spec, prepare(probs))
    part = slice(0, len(probs))
    cells, _, everything = batch.all_keys(part)
    _, own = batch.label_keys(labels, part)
    chosen = cells.column == labels[cells.row]
    for ours, theirs in zip(own, everything, strict=True):
        assert ours.tobytes() == theirs[chosen].tobytes()


@pytest.mark.parametrize("score", SCORES, ids=repr)
@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.9])
def test_a_model_that_is_always_right_has_no_other_reach(score, alpha):
    probs, _ = wide_rows(5, 40, 90, 3, np.float64)
    score = sized(score, 90)
    fast, full = (rs.calibrate(probs, probs.argmax(axis=1), score=way) for way in (score, plainly(score)))
    with mock.patch.object(ranking, "FEW", 0):
        assert fast.predict(probs, alpha) == full.predict(probs, alpha)
