"""Compiled loops give the bits of the plain path, on every score, dtype, tie and thread count."""

import os
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset.core import kernels, noise, ranking
from rankset.core.cells import LabelCells, RankedCells
from rankset.core.parallel import BLOCK_BYTES, THREADS
from rankset.core.rows import Rows
from rankset.errors import InputError, KindError
from refusals import refused
from strategies import ORDER_ONLY, PER_SCORE, SCORES, alphas, cases, sized, wide_rows

pytest.importorskip("numba")
pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

DTYPES = [np.float16, np.float32, np.float64]


def both_ways(ask):
    """The answers of the compiled and of the plain path."""
    with mock.patch.object(kernels, "WORTHWHILE", 0), mock.patch.object(ranking, "FEW", 0):
        compiled = ask()
        with mock.patch.dict(os.environ, {kernels.PLAIN: "1"}):
            return compiled, ask()


def bits(probs, labels, score, alpha, **options):
    rule = rs.calibrate(probs, labels, score=sized(score, probs.shape[1]), **options)
    sets = rule.predict(probs, alpha)
    return [key.tobytes() for key in rule.calibration.keys], sets.offsets.tobytes(), sets.codes.tobytes()


@pytest.mark.parametrize("score", SCORES, ids=repr)
@PER_SCORE
@given(cases, alphas, st.integers(1, 3), st.sampled_from([1, 3, 100]))
def test_calibration_and_sets_are_bit_equal(score, case, alpha, threads, parts):
    probs, labels = wide_rows(*case)
    settings = {THREADS: str(threads), BLOCK_BYTES: str(probs.nbytes // parts + 1)}
    with mock.patch.dict(os.environ, settings):
        compiled, plain = both_ways(lambda: bits(probs, labels, score, alpha))
    assert compiled == plain


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_small_matrices_are_bit_equal_once_loops_are_loaded(score, dtype):
    assert rs.warm_up()
    for n, k in ((1, 1), (1, 2), (1, 10), (1, 300), (2, 1), (40, 3), (300, 10)):
        probs, labels = wide_rows(n * k, max(n, 2), k, 2, np.float64)
        probs, labels = probs[:n].astype(dtype), labels[:n]

        def small(probs=probs, labels=labels):
            return bits(probs, labels, score, 0.1)

        with mock.patch.dict(os.environ, {kernels.PLAIN: "1"}):
            plain = small()
        with mock.patch.object(kernels, "_installed", wraps=kernels._installed) as asked:
            assert small() == plain
        assert asked.called


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_every_dtype_is_bit_equal(score, dtype):
    probs, labels = wide_rows(3, 200, 300, 2, np.float64)
    compiled, plain = both_ways(lambda: bits(probs.astype(dtype), labels, score, 0.1))
    assert compiled == plain


@pytest.mark.parametrize("condition", [rs.Marginal(), rs.PerLabel(), rs.PerGroup()], ids=repr)
@pytest.mark.parametrize("score", SCORES, ids=repr)
@PER_SCORE
@given(cases, st.integers(1, 3), st.sampled_from([0.1, 3, 100]))
def test_p_values_are_bit_equal(score, condition, case, threads, parts):
    probs, labels = wide_rows(*case)
    groups = {"groups": np.arange(len(probs)) % 3} if condition.needs_groups else {}
    rule = rs.calibrate(probs, labels, score=sized(score, probs.shape[1]), condition=condition, **groups)
    settings = {THREADS: str(threads), BLOCK_BYTES: str(int(probs.nbytes / parts) + 1)}
    with mock.patch.dict(os.environ, settings):
        compiled, plain = both_ways(lambda: rule.p_values(probs, **{name: g + 1 for name, g in groups.items()}))
    assert compiled.tobytes() == plain.tobytes()


@pytest.mark.parametrize("score", ORDER_ONLY, ids=repr)
def test_p_values_of_any_numbers_are_bit_equal(score):
    rng = np.random.default_rng(4)
    values = rng.choice(np.array([-np.inf, -2.5, -0.0, 0.0, 1e-30, 3.0], dtype=np.float32), (150, 200))
    values[:, 3] = np.round(rng.normal(size=150))
    rule = rs.calibrate(values, np.full(150, 3), score=score, kind="decision")
    compiled, plain = both_ways(lambda: rule.p_values(values))
    assert compiled.tobytes() == plain.tobytes()


@pytest.mark.parametrize("score", ORDER_ONLY, ids=repr)
def test_any_numbers_are_bit_equal(score):
    rng = np.random.default_rng(4)
    values = np.round(rng.normal(size=(150, 200)) * 3).astype(np.float32)
    values[:, 7] = -np.inf
    values[0, 1:] = -np.inf
    compiled, plain = both_ways(lambda: bits(values, rng.integers(0, 200, 150) * 0 + 3, score, 0.2, kind="decision"))
    assert compiled == plain


@given(cases, st.booleans())
def test_labels_are_read_as_by_the_plain_path(case, with_ids):
    probs, labels = wide_rows(*case)
    noise_seed = noise.NoiseSeed.of(3, np.arange(len(probs), dtype=np.uint64) if with_ids else None)
    plain = LabelCells(Rows(probs, lambda: noise.draws(probs, noise_seed)), labels)
    read = kernels.compiled.CompiledLoops().label_ranks(probs, labels, noise_seed, masses=True)
    assert read.clear
    told = LabelCells(Rows(probs, None).with_noise(read.draws), labels, read)
    for feature in ("prob", "rank", "mass", "before", "noise"):
        assert getattr(told, feature).tobytes() == getattr(plain, feature).tobytes(), feature


@given(cases)
def test_entries_are_read_as_by_the_plain_path(case):
    probs, labels = wide_rows(*case)
    read = kernels.compiled.CompiledLoops().label_entries(probs, labels)
    assert read.clear
    plain, told = LabelCells(Rows(probs, None), labels), LabelCells(Rows(probs, None), labels, read)
    for feature in ("prob", "rank", "mass"):
        assert getattr(told, feature).tobytes() == getattr(plain, feature).tobytes(), feature


@given(
    cases,
    st.integers(1, 400),
    st.sampled_from([0.05, 0.5, 0.95, 0.999, 1.0, 1.5, np.inf]),
    st.booleans(),
    st.sampled_from([0, 128, np.inf]),
)
def test_labels_are_listed_as_by_the_plain_path(case, rank, mass, floored, crowded):
    probs, _ = wide_rows(*case)
    cutoffs = np.quantile(probs, 0.7, axis=1).astype(probs.dtype) if floored else None
    noise_seed = noise.NoiseSeed.of(5)
    everything = RankedCells(Rows(probs, None).with_noise(noise.draws(probs, noise_seed)))
    inside = (everything.rank <= rank) & (everything.before <= mass)
    if floored:
        inside &= everything.prob >= cutoffs[everything.row]
    compiled = kernels.compiled.CompiledLoops()
    with mock.patch.multiple(kernels.compiled, FIRST_CAPACITY=1, LONG_LISTS=crowded):
        listed = compiled.likeliest(probs, rank, mass, cutoffs, noise_seed, masses=True)
    assert listed.clear is (listed.units is not None)
    told = RankedCells(everything.rows if listed.draws is None else Rows(probs, None).with_noise(listed.draws), listed)
    assert set(everything.flat[inside]) <= set(told.flat)
    for feature in ("rank", "mass", "before", "prob", "noise"):
        known = dict(zip(everything.flat, getattr(everything, feature), strict=True))
        assert [known[place] for place in told.flat] == getattr(told, feature).tolist(), feature


@pytest.mark.parametrize("spoil", [np.nan, -1e-9, 0.5, np.inf, -np.inf])
@pytest.mark.parametrize("score", [rs.Rank(), rs.Aps(), rs.Thr()], ids=repr)
def test_bad_values_get_the_same_words(score, spoil):
    probs, labels = wide_rows(5, 100, 90, 1e6, np.float32)
    rule = rs.calibrate(probs, labels, score=score)
    probs[70, 4] = spoil

    def words():
        said = []
        for ask in (lambda: rs.calibrate(probs, labels, score=score), lambda: rule.predict(probs, 0.1)):
            with refused(InputError, what="probs", row=70) as caught:
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
    large = kernels.WORTHWHILE // 10 + 1, 10
    assert kernels.choose(100, 10) is None
    assert kernels.choose(*large) is not None
    assert kernels.choose(2, kernels.MOST_COLUMNS + 1) is None
    with mock.patch.dict(os.environ, {kernels.PLAIN: "1"}):
        assert kernels.choose(*large) is None
    with mock.patch.dict(os.environ, {kernels.PLAIN: "0"}):
        assert kernels.choose(*large) is not None
    with (
        mock.patch.dict(os.environ, {kernels.PLAIN: "yes"}),
        refused(KindError.argument("the environment variable RANKSET_PLAIN", "0 or 1", "yes")),
    ):
        kernels.choose(*large)


def test_small_matrices_use_loops_that_have_run():
    needed = [("list_rows", "f"), ("read_labels", "f")]
    assert kernels.choose(1, 10, needed) is None
    kernels.LOADED.add(needed[0])
    assert kernels.choose(1, 10, needed) is None
    kernels.LOADED.update(needed)
    assert kernels.choose(1, 10, needed) is not None
    assert kernels.choose(1, 10) is None
    assert kernels.choose(1, 10, [("list_rows", "d")]) is None
    with mock.patch.dict(os.environ, {kernels.PLAIN: "1"}):
        assert kernels.choose(1, 10, needed) is None
        assert not rs.warm_up()


def test_loops_are_compiled_once_for_each_dtype():
    from rankset.core.kernels.loops import counting, listing, sorting

    assert rs.warm_up()
    loops = (counting.read_entries, counting.read_labels, listing.list_rows, sorting.sort_words)
    known = [loop.signatures[:] for loop in loops]
    rows = np.tile([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3]], (10, 1))
    locked = rows.astype(np.float32)
    locked.flags.writeable = False
    odd = (
        rows,
        locked,
        rows.astype(np.float16),
        np.asfortranarray(rows),
        rows[::-1],
        (rows > 0.4).astype(int),
        rows.tolist(),
    )
    for probs in (*odd, rs.Ragged.of([row[:2] / row[:2].sum() for row in rows])):
        for score in (rs.Rank(), rs.Thr(), rs.Aps(), rs.Margin(), rs.Tempered(rs.Aps(), 1.5)):
            for labels, ids in ((np.zeros(20, np.int8), None), (np.ones(20), list(range(20)))):
                options = {"ids": ids} if ids and rs.scores.traits(score).uses_noise else {}
                rule = rs.calibrate(probs, labels, method=score, **options)
                rule.predict(probs, 0.3, **options)
                rule.predict(probs, 0.3, empty="top", **options)
        rs.calibrate(rows, labels, kind="logits").predict(rows, 0.3)
    assert [loop.signatures for loop in loops] == known
    assert all(len(signatures) <= 2 for signatures in known)


def test_no_small_call_waits_for_numba():
    code = (
        "import sys, numpy, rankset as rs; from rankset.core import kernels; "
        "rows = numpy.tile([[0.7, 0.3]], (40, 1)); "
        "rs.calibrate(rows, numpy.arange(40) % 2).predict(rows, alpha=0.1); assert 'numba' not in sys.modules; "
        "assert rs.warm_up(); assert kernels.choose(1, 2, [('list_rows', 'd'), ('read_labels', 'd')]) is not None"
    )
    subprocess.run([sys.executable, "-c", code], timeout=300, check=True)


def test_a_numba_that_does_not_work_is_done_without(tmp_path):
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "__init__.py").write_text("raise ImportError('needs another NumPy')")
    code = (
        "import warnings, numpy, rankset.core.kernels; rankset.core.kernels.WORTHWHILE = 0; "
        "warnings.simplefilter('error'); rows = numpy.tile([[0.7, 0.3]], (40, 1)); "
        "rankset.calibrate(rows, numpy.arange(40) % 2)"
    )
    variables = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-c", code.replace("warnings.simplefilter('error'); ", "")]
    quiet = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60, check=True)
    assert quiet.stderr.count("Numba is installed but cannot be used (needs another NumPy)") == 1
    told = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, timeout=60, check=False
    )
    assert "RanksetWarning" in told.stderr


def test_loops_are_compiled_where_they_cannot_be_remembered(monkeypatch):
    import numba

    from rankset.core.kernels.loops.compiling import compiled

    njit = numba.njit

    def forgetful(*functions, cache=False, **options):
        if cache:
            raise RuntimeError("no locator available")
        return njit(*functions, **options)

    monkeypatch.setattr(numba, "njit", forgetful)
    assert compiled()(lambda number: number + 1)(1) == 2


@pytest.mark.parametrize("total", [0.9895, 1.0105, 0.9905, 1.0095])
def test_long_rows_are_checked_as_the_plain_path_checks_them(total):
    rows, labels = np.full((2, 3_000_000), total / 3_000_000, dtype=np.float32), [0, 1]

    def accepted():
        try:
            rs.calibrate(rows, labels)
        except rs.RanksetError as error:
            return str(error)
        return None

    compiled, plain = both_ways(accepted)
    assert compiled == plain
