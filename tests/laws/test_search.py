"""Sets found on the most likely labels alone are those found by looking at every label."""

import os
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset import order, ranking, recipe, selection
from rankset.blocks import BLOCK_BYTES
from strategies import SCORES, alphas, cases, wide_rows

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")


class Plainly:
    """A score that keeps to itself that its keys follow the ranking."""

    def __init__(self, score):
        self.score = score

    def keys(self, cells):
        return self.score.keys(cells)


@given(cases, st.sampled_from(SCORES), alphas, st.sampled_from(["allow", "top"]), st.sampled_from([1, 2, 16]))
def test_the_search_finds_what_the_full_path_finds(case, score, alpha, empty, first_guess):
    probs, labels = wide_rows(*case)
    groups = np.arange(len(labels)) % 2
    for condition, keywords in ((rs.Marginal(), {}), (rs.PerRow(), {"groups": groups})):
        fast, full = (
            rs.calibrate(probs, labels, score=way, condition=condition, **keywords) for way in (score, Plainly(score))
        )
        assert fast.recipe.takes_prefixes
        assert not full.recipe.takes_prefixes
        with (
            mock.patch.object(selection, "FIRST_GUESS", first_guess),
            mock.patch.object(ranking, "FEW", 0),
            mock.patch.dict(os.environ, {BLOCK_BYTES: str(probs.nbytes // 3 + 1)}),
        ):
            assert fast.predict(probs, alpha, empty=empty, **keywords) == full.predict(
                probs, alpha, empty=empty, **keywords
            )


@given(cases, st.sampled_from(SCORES))
def test_keys_never_fall_along_the_ranking(case, score):
    probs, labels = wide_rows(*case)
    batch = recipe.Batch.of(rs.calibrate(probs, labels, score=score).recipe, probs, None, None)
    _, _, keys = batch.all_keys(slice(0, len(probs)))
    assert order.not_after(tuple(key[:, :-1] for key in keys), tuple(key[:, 1:] for key in keys)).all()


@given(cases, st.sampled_from(SCORES))
def test_the_key_at_calibration_is_the_key_of_that_column_at_prediction(case, score):
    probs, labels = wide_rows(*case)
    batch = recipe.Batch.of(rs.calibrate(probs, labels, score=score).recipe, probs, None, None)
    part = slice(0, len(probs))
    cells, _, everything = batch.all_keys(part)
    _, own = batch.label_keys(labels, part)
    chosen = cells.column == labels[:, np.newaxis]
    for ours, theirs in zip(own, everything, strict=True):
        assert ours.tobytes() == theirs[chosen].tobytes()
