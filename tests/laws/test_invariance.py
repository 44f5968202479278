"""Blocks, threads, order, dtypes, relabelling, monotone transforms: what must not matter does not matter."""

import os
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankset as rs
from rankset.core import kernels
from rankset.core.alpha import exact_alpha, threshold_position
from rankset.core.cells import LabelCells, RankedCells
from rankset.core.noise import NoiseSeed, draws
from rankset.core.parallel import BLOCK_BYTES, THREADS
from rankset.core.rows import Rows
from strategies import DETERMINISTIC, ORDER_ONLY, SCORES, Problem, alphas, problems, problems_with_news, rows, sized

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")


def answers(problem, news, alpha):
    rule = problem.calibrate()
    sets = news.predict(rule, alpha)
    return (
        [key.tobytes() for key in rule.calibration.keys],
        sets.offsets.tobytes(),
        sets.codes.tobytes(),
        news.p_values(rule).tobytes(),
    )


@given(problems_with_news(), alphas, st.sampled_from([1, 17, 100, 10**6]), st.integers(1, 4))
def test_block_size_and_threads_do_not_matter(pair, alpha, block_bytes, threads):
    expected = answers(*pair, alpha)
    with mock.patch.dict(os.environ, {BLOCK_BYTES: str(block_bytes), THREADS: str(threads)}):
        assert answers(*pair, alpha) == expected


@given(problems_with_news(), alphas)
def test_loaded_loops_do_not_matter(pair, alpha):
    kernels.LOADED.clear()
    expected = answers(*pair, alpha)
    rs.warm_up()
    assert answers(*pair, alpha) == expected


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_many_blocks_of_logits_in_threads_give_the_bits_of_one_block(score):
    rng = np.random.default_rng(5)
    logits, labels = rng.normal(size=(400, 37)).astype(np.float32) * 4, rng.integers(0, 37, 400)

    def bits(block_bytes, threads):
        with mock.patch.dict(os.environ, {BLOCK_BYTES: str(block_bytes), THREADS: str(threads)}):
            rule = rs.calibrate(logits[:200], labels[:200], score=sized(score, 37), kind="logits")
            return rule.calibration.keys[-1].tobytes(), rule.predict(logits[200:], 0.1).codes.tobytes()

    whole = bits(10**9, 1)
    assert bits(1, 1) == whole
    assert bits(37 * 8 * 3, 4) == whole
    assert bits(37 * 8 * 64, 2) == whole


@given(problems_with_news(), alphas)
def test_a_row_gets_the_same_set_alone_and_in_any_order(pair, alpha):
    problem, news = pair
    rule = problem.calibrate()
    together = news.predict(rule, alpha)
    backwards = news.rows(range(news.n - 1, -1, -1)).predict(rule, alpha)
    assert together.to_lists() == backwards.to_lists()[::-1]
    for row in range(news.n):
        assert news.rows([row]).predict(rule, alpha)[0].tolist() == together[row].tolist()


@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_calibration_rows_does_not_matter(problem, random):
    shuffled = list(range(problem.n))
    random.shuffle(shuffled)
    assert problem.rows(shuffled).calibrate() == problem.calibrate()


@given(problems_with_news(), alphas)
def test_float32_and_float64_of_the_same_numbers_agree(pair, alpha):
    problem, news = (replace(part, probs=part.probs.astype(np.float32)) for part in pair)
    wide = replace(news, probs=news.probs.astype(np.float64))
    strided = replace(news, probs=np.repeat(news.probs, 2, axis=1)[:, ::2])
    rule = problem.calibrate()
    assert news.predict(rule, alpha) == wide.predict(rule, alpha) == strided.predict(rule, alpha)


@given(st.data(), alphas)
def test_relabelling_classes_permutes_columns_of_sets(data, alpha):
    n_columns = data.draw(st.integers(2, 5))
    distinct = st.permutations(range(1, n_columns + 1)).map(lambda row: np.array(row) / sum(row))
    probs = np.array(data.draw(st.lists(distinct, min_size=4, max_size=20)))
    labels = np.array(data.draw(st.lists(st.integers(0, n_columns - 1), min_size=len(probs), max_size=len(probs))))
    problem = Problem(
        probs, labels, ["all"] * len(probs), None, data.draw(st.sampled_from(DETERMINISTIC)), rs.Marginal()
    )
    shuffle = np.array(data.draw(st.permutations(range(n_columns))))
    renamed = replace(problem, probs=probs[:, shuffle], labels=np.argsort(shuffle)[labels])
    ours, theirs = (part.predict(part.calibrate(), alpha).mask for part in (problem, renamed))
    assert (ours[:, shuffle] == theirs).all()


@given(st.data(), alphas)
def test_rank_survives_one_increasing_transform_of_all_rows_and_topk_one_of_each_row(data, alpha):
    n_rows, n_columns = data.draw(st.integers(3, 15)), data.draw(st.integers(2, 5))
    entries = st.lists(st.integers(-5, 5), min_size=n_columns, max_size=n_columns)
    scores = np.array(data.draw(st.lists(entries, min_size=n_rows, max_size=n_rows)))
    labels = data.draw(st.lists(st.integers(0, n_columns - 1), min_size=n_rows, max_size=n_rows))
    slopes = np.array(data.draw(st.lists(st.integers(1, 9), min_size=n_rows, max_size=n_rows)))[:, np.newaxis]

    def sets(values, score):
        return rs.calibrate(values, labels, score=score, kind="decision").predict(values, alpha)

    assert sets(scores, rs.Rank()) == sets(scores**3 - 7, rs.Rank())
    assert sets(scores, rs.TopK()) == sets(scores * slopes + slopes**2, rs.TopK())


@pytest.mark.parametrize("score", ORDER_ONLY, ids=repr)
def test_scores_that_need_order_only_accept_any_numbers(score):
    values = np.array([[3.0, -2.0, 0.0], [-1.0, -5.0, -np.inf], [0.0, 0.0, 0.0], [1e300, -1e300, 5.0]])
    rule = rs.calibrate(values, [0, 1, 2, 1], score=score, kind="decision")
    assert rule.predict(values, 0.3).covers([0, 1, 2, 1]).sum() >= 3


@given(st.integers(1, 6).flatmap(lambda k: rows(5, k)), st.data())
def test_a_cell_found_by_counting_equals_the_cell_found_by_sorting_bit_for_bit(probs, data):
    wide = probs.astype(np.float64)
    block = Rows(wide, lambda: draws(wide, NoiseSeed.of(0)))
    everything = RankedCells(block)
    labels = np.array(data.draw(st.lists(st.integers(0, wide.shape[1] - 1), min_size=5, max_size=5)))
    counted = LabelCells(block, labels)
    for name in ("column", "prob", "rank", "mass", "before", "top", "second", "noise"):
        ranked = getattr(everything, name).reshape(wide.shape)
        sorted_out = ranked[np.arange(5), counted.rank - 1]
        assert getattr(counted, name).tobytes() == sorted_out.tobytes(), name


@given(st.integers(1, 10**6), st.integers(1, 999))
def test_every_way_to_write_a_level_gives_the_same_position(n, thousandths):
    decimal = f"{thousandths / 1000:.3f}"
    ways = [float(decimal), decimal, Fraction(thousandths, 1000), np.float32(decimal), np.float64(decimal)]
    expected = n + 1 - (n + 1) * thousandths // 1000
    assert {threshold_position(n, exact_alpha(way)) for way in ways} == {expected}
