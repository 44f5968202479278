"""Compiled loops give the bits of the plain path, on every score, dtype, tie and thread count."""

import os
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset import _kernels, noise, ranking
from rankset.blocks import BLOCK_BYTES, THREADS
from rankset.cells import LabelCells, Rows
from strategies import ORDER_ONLY, SCORES, alphas, cases, wide_rows

pytest.importorskip("numba")
pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

DTYPES = [np.float16, np.float32, np.float64]


def both_ways(ask):
    """The answers of the compiled and of the plain path."""
    with mock.patch.object(_kernels, "WORTHWHILE", 0), mock.patch.object(ranking, "FEW", 0):
        compiled = ask()
        with mock.patch.dict(os.environ, {_kernels.PLAIN: "1"}):
            return compiled, ask()


def bits(probs, labels, score, alpha, **options):
    rule = rs.calibrate(probs, labels, score=score, **options)
    sets = rule.predict(probs, alpha)
    return [key.tobytes() for key in rule.calibration.keys], sets.offsets.tobytes(), sets.codes.tobytes()


@given(cases, st.sampled_from(SCORES), alphas, st.integers(1, 3), st.sampled_from([1, 3, 100]))
def test_calibration_and_sets_are_bit_equal(case, score, alpha, threads, parts):
    probs, labels = wide_rows(*case)
    settings = {THREADS: str(threads), BLOCK_BYTES: str(probs.nbytes // parts + 1)}
    with mock.patch.dict(os.environ, settings):
        compiled, plain = both_ways(lambda: bits(probs, labels, score, alpha))
    assert compiled == plain


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_every_dtype_is_bit_equal(score, dtype):
    probs, labels = wide_rows(3, 200, 300, 2, np.float64)
    compiled, plain = both_ways(lambda: bits(probs.astype(dtype), labels, score, 0.1))
    assert compiled == plain


@pytest.mark.parametrize("score", ORDER_ONLY, ids=repr)
def test_any_numbers_are_bit_equal(score):
    rng = np.random.default_rng(4)
    values = np.round(rng.normal(size=(150, 200)) * 3).astype(np.float32)
    values[:, 7] = -np.inf
    values[0, 1:] = -np.inf
    compiled, plain = both_ways(lambda: bits(values, rng.integers(0, 200, 150) * 0 + 3, score, 0.2, kind="scores"))
    assert compiled == plain


@given(cases, st.integers(1, 12))
def test_the_loops_are_their_plain_twins(case, m):
    probs, labels = wide_rows(*case)
    twins = _kernels.twins.Twins()
    plain = LabelCells(Rows(probs, lambda: None), labels)
    ranks, owns, clear = twins.ranks(probs, labels)
    assert owns.astype(np.float64).tobytes() == plain.prob.tobytes()
    assert noise.draws(probs, 3, None, twins.uniform).tobytes() == noise.draws(probs, 3).tobytes()
    assert ranks.tolist() == plain.rank[:, 0].tolist()
    assert clear
    assert twins.masses(probs, labels).tobytes() == plain.mass.tobytes()
    columns, clear = twins.first(probs, m)
    assert clear is (columns is not None)
    if columns is not None:
        assert (columns == ranking.first(probs, m)).all()


@pytest.mark.parametrize("spoil", [np.nan, -1e-9, 0.5, np.inf, -np.inf])
@pytest.mark.parametrize("score", [rs.Rank(), rs.Aps(), rs.Thr()], ids=repr)
def test_bad_values_get_the_same_words(score, spoil):
    probs, labels = wide_rows(5, 100, 90, 1e6, np.float32)
    rule = rs.calibrate(probs, labels, score=score)
    probs[70, 4] = spoil

    def words():
        said = []
        for ask in (lambda: rs.calibrate(probs, labels, score=score), lambda: rule.predict(probs, 0.1)):
            with pytest.raises(rs.RanksetError, match="row 70") as caught:
                ask()
            said.append(str(caught.value))
        return said

    compiled, plain = both_ways(words)
    assert compiled == plain


def test_sums_in_doubt_are_judged_by_the_plain_check():
    probs, labels = wide_rows(6, 100, 90, 1e6, np.float64)
    probs[8] *= 1.0095
    compiled, plain = both_ways(lambda: bits(probs, labels, rs.Rank(), 0.1))
    assert compiled == plain


def test_small_matrices_never_load_numba():
    assert _kernels.chosen(1000) is None
    assert _kernels.chosen(_kernels.WORTHWHILE) is not None
    with mock.patch.dict(os.environ, {_kernels.PLAIN: "1"}):
        assert _kernels.chosen(_kernels.WORTHWHILE) is None
    with mock.patch.dict(os.environ, {_kernels.PLAIN: "0"}):
        assert _kernels.chosen(_kernels.WORTHWHILE) is not None
