"""Prefixes, reductions of one score to another, and the paper's theory."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rankset as rs
from rankset.core.alpha import exact_alpha
from rankset.core.promise import Promise
from reference import ranking
from strategies import IN_RANKING_ORDER, alphas, problems_with_news

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

label_blind = st.sampled_from([rs.Marginal(), rs.PerGroup(), rs.PerLabelAndGroup(rs.PerGroup(), rs.Marginal())])


def sets_of(pair, alpha, score, **changes):
    problem, news = pair
    return news.predict(problem.calibrate(score=score, **changes), alpha)


@given(problems_with_news(score=st.sampled_from(IN_RANKING_ORDER), condition=label_blind), alphas)
def test_sets_are_prefixes_of_the_ranking_unless_the_condition_looks_at_the_label(pair, alpha):
    problem, news = pair
    for row, labels in zip(news.probs.tolist(), news.predict(problem.calibrate(), alpha), strict=True):
        assert labels.tolist() == ranking(row)[: len(labels)]


@given(problems_with_news(), alphas, st.booleans())
def test_raps_without_penalty_is_aps(pair, alpha, randomized):
    aps = sets_of(pair, alpha, rs.Aps(randomized))
    assert sets_of(pair, alpha, rs.Raps(penalty=0, free_ranks=3, randomized=randomized)) == aps


@given(problems_with_news(shared=False), alphas)
def test_topk_contains_rank(pair, alpha):
    """Groups that share rows are left out: ties change how unusual their rows are, not only which are counted."""
    inside, outside = (sets_of(pair, alpha, score).mask for score in (rs.Rank(), rs.TopK()))
    assert not (inside & ~outside).any()


@given(problems_with_news(condition=st.just(rs.Marginal()), max_columns=3), alphas)
def test_thr_is_rank_when_its_threshold_exceeds_half_of_every_row(pair, alpha):
    problem, news = pair
    rule = problem.calibrate(score=rs.Thr())
    thresholds = rule.calibration.thresholds(Promise(exact_alpha(alpha)))
    totals = np.concatenate((problem.probs.sum(axis=1), news.probs.sum(axis=1)))
    assume(not thresholds.everything[0] and -thresholds.keys[0][0] > totals.max() / 2)
    assert sets_of(pair, alpha, rs.Rank()) == sets_of(pair, alpha, rs.Thr())


@given(problems_with_news(condition=st.just(rs.Marginal())), alphas)
def test_rank_sets_hold_all_labels_before_r_star_and_none_after(pair, alpha):
    problem, news = pair
    rule = problem.calibrate(score=rs.Rank())
    profile = rule.rank_profile(alpha)
    low, high = profile.size_bounds
    sizes = news.predict(rule, alpha).sizes
    assert ((sizes >= low) & (sizes <= high)).all()
    assert high <= profile.r_star


@given(problems_with_news(condition=st.just(rs.Marginal())), alphas)
def test_the_expected_size_of_rank_is_r_star_minus_one_plus_how_often_the_next_label_reaches_its_threshold(pair, alpha):
    problem, news = pair
    assume(news.n > 0)
    rule = problem.calibrate(score=rs.Rank())
    profile = rule.rank_profile(alpha)
    assume(profile.threshold_prob is not None)
    at_r_star = np.sort(news.probs.astype(float), axis=1)[:, -profile.r_star]
    expected = profile.r_star - 1 + (at_r_star >= profile.threshold_prob).mean()
    assert rule.expected_size(news.probs, alpha).mean == pytest.approx(expected, abs=1e-12)


@given(
    problems_with_news(condition=st.just(rs.Marginal()), score=st.sampled_from([rs.Rank(), rs.Margin(), rs.TopK()])),
    alphas,
)
def test_rank_and_margin_leave_sets_empty_only_if_the_model_is_right_often_enough(pair, alpha):
    problem, news = pair
    rule = problem.calibrate()
    if (news.predict(rule, alpha).sizes == 0).any():
        right = problem.probs.argmax(axis=1) == problem.labels
        assert right.mean() >= 1 - float(exact_alpha(alpha))
        assert problem.score != rs.TopK()


EMPTY = {
    "rank": (rs.Rank(), 0, 0),
    "margin": (rs.Margin(), 0, 0),
    "thr": (rs.Thr(), 0.003, 0.01),
    "aps": (rs.Aps(), 0.05, 0.09),
    "aps without a draw": (rs.Aps(randomized=False), 0.14, 0.2),
    "raps": (rs.Raps(0.2, 2), 0.03, 0.05),
    "saps": (rs.Saps(), 0.04, 0.07),
}


@pytest.mark.parametrize(("score", "least", "most"), EMPTY.values(), ids=EMPTY.keys())
def test_empty_sets_of_a_model_that_is_right_less_often_than_the_level_asks(score, least, most):
    """Figures of README: 20 Newsgroups, accuracy 0.75, alpha 0.2."""
    logits, labels = rs.datasets.load("news20")
    assert (logits.argmax(axis=1) == labels).mean() < 0.76
    rows = np.random.default_rng(0).permutation(len(labels))
    held_out, new = rows[::2], rows[1::2]
    rule = rs.calibrate(logits[held_out], labels[held_out], kind="logits", score=score)
    empty = (rule.predict(logits[new], 0.2).sizes == 0).mean()
    assert least <= empty <= most
    assert (rule.predict(logits[new], 0.2, empty="top").sizes > 0).all()
