"""Real scores with heavy ties: every score keeps its level."""

import math
from pathlib import Path

import numpy as np
import pytest

import rankset as rs
from rankset.core.alpha import exact_alpha, threshold_position
from strategies import SCORES, sized

FILE = np.load(Path(__file__).parents[1] / "data" / "heavy_ties.npz")
INTERNLM = FILE["internlm_logits"], FILE["internlm_labels"], "logits"
NEWSGROUPS = FILE["newsgroups_probs"], FILE["newsgroups_labels"], "probs"


def test_the_data_is_as_tied_as_it_is_meant_to_be():
    logits, labels, _ = INTERNLM
    own = np.take_along_axis(logits, labels[:, np.newaxis].astype(int), axis=1)
    assert ((logits == own).sum(axis=1) > 1).mean() > 0.3
    assert (NEWSGROUPS[0] == 0).mean() > 0.7


@pytest.mark.parametrize("score", SCORES, ids=repr)
@pytest.mark.parametrize(("scores", "labels", "kind"), [INTERNLM, NEWSGROUPS], ids=["internlm", "newsgroups"])
def test_every_score_keeps_its_level_on_heavily_tied_scores(scores, labels, kind, score):
    rng = np.random.default_rng(6)
    repeats, n, alpha = 40, len(labels) // 2, 0.1
    coverages = []
    for _ in range(repeats):
        rows = rng.permutation(len(labels))
        rule = rs.calibrate(scores[rows[:n]], labels[rows[:n]], score=sized(score, scores.shape[1]), kind=kind)
        coverages.append(rule.predict(scores[rows[n:]], alpha).covers(labels[rows[n:]]).mean())
    k = threshold_position(n, exact_alpha(alpha))
    share, m = k / (n + 1), len(labels) - n
    spread = math.sqrt(share * (1 - share) * (n + 1 + m) / (n + 2) / m / repeats)
    assert np.mean(coverages) > share - 4.9 * spread


@pytest.mark.parametrize("score", [rs.Rank(), rs.Thr(), rs.Aps(), rs.Saps()], ids=repr)
@pytest.mark.parametrize(("scores", "labels", "kind"), [INTERNLM, NEWSGROUPS], ids=["internlm", "newsgroups"])
def test_with_ids_a_tie_break_covers_exactly_on_leaving_rows_out(scores, labels, kind, score):
    """Leave-one-out by p-values: row i's own p-value on all rows is its p-value on the others, plus itself."""
    n = len(labels)
    rule = rs.calibrate(scores, labels, score=rs.TieBreak(score), kind=kind, ids=range(n))
    p_values = rule.p_values(scores, ids=range(n))[np.arange(n), labels]
    ranks = np.rint(p_values * (n + 1)).astype(int) - 1
    assert sorted(ranks) == list(range(1, n + 1))
