"""Clusters of classes whose scores are distributed alike."""

import numpy as np
import pandas as pd
import pytest

import rankset as rs
from rankset.errors import InputError, KindError, LevelError, ScoreError
from refusals import like, refused

pytest.importorskip("sklearn")

EASY, HARD = 0.9, 0.4


def rows_of(counts, probs, seed=0):
    """Rows in which the true label of class y has about the probability ``probs[y]``, ``counts[y]`` of each class."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    own = np.array(probs)[labels] + rng.uniform(-0.05, 0.05, len(labels))
    rows = np.repeat((1 - own[:, np.newaxis]) / (len(counts) - 1), len(counts), axis=1)
    rows[np.arange(len(labels)), labels] = own
    return rows, labels


LEVELS = [EASY, HARD, EASY, HARD, HARD, EASY]
ROWS, LABELS = rows_of([30, 25, 40, 20, 60, 3], LEVELS)
EXPECTED = ("cluster 1", "cluster 2", "cluster 1", "cluster 2", "cluster 2", "rare")


@pytest.mark.parametrize("method", ["thr", rs.Margin(), rs.Rank(), rs.TieBreak(rs.Thr())], ids=repr)
def test_classes_with_similar_scores_share_a_cluster_and_rare_ones_another(method):
    assert rs.cluster_labels(ROWS, LABELS, n_clusters=2, method=method) == rs.PerLabel(EXPECTED)


def test_the_order_of_rows_does_not_matter_and_a_seed_repeats():
    order = np.random.default_rng(1).permutation(len(ROWS))
    expected = rs.cluster_labels(ROWS, LABELS, seed=3)
    assert rs.cluster_labels(ROWS[order], LABELS[order], seed=3) == expected
    assert rs.cluster_labels(ROWS, LABELS, seed=3) == expected


@pytest.mark.parametrize(
    ("counts", "alpha", "clusters"),
    [
        ([30, 30, 30, 30, 30, 30], 0.1, 6),  # 15 clusters are wanted, but there are 6 classes
        ([10, 30, 30, 30, 30, 30], 0.1, 5),
        ([9, 30, 30, 30, 30, 30], 0.1, 4),  # half of 9, the fewest rows with a threshold
        ([8, 30, 30, 30, 30, 30], 0.1, 4),  # half of 9; the first class is rare
        ([4, 5, 6, 7, 8, 9], 0.2, 2),
        ([3, 5, 6, 7, 8, 9], 0.2, 2),
    ],
)
def test_the_number_of_clusters_is_half_the_rows_of_the_rarest_class(counts, alpha, clusters):
    rows, labels = rows_of(counts, np.linspace(0.3, 0.9, 6))
    found = rs.cluster_labels(rows, labels, alpha).clusters
    rare = [place for place, count in enumerate(counts) if count < 1 / alpha - 1]
    assert [place for place, name in enumerate(found) if name == "rare"] == rare
    assert len({*found} - {"rare"}) == clusters


def test_clusters_are_numbered_from_the_least_unusual_labels_on():
    rows, labels = rows_of([40] * 4, [0.3, 0.9, 0.5, 0.7])
    assert rs.cluster_labels(rows, labels, n_clusters=4).clusters == tuple(f"cluster {n}" for n in (4, 1, 3, 2))


def test_without_frequent_classes_all_are_rare_and_equal_classes_are_one_cluster():
    assert rs.cluster_labels(ROWS[:5], LABELS[:5]).clusters == ("rare",) * 6
    assert rs.cluster_labels([[0.5, 0.5]] * 40, [0, 1] * 20).clusters == ("cluster 1",) * 2
    assert rs.cluster_labels(ROWS, LABELS, n_clusters=1).clusters == ("cluster 1",) * 5 + ("rare",)


def test_rows_come_in_every_form():
    names = list("abcdef")
    frame, truth = pd.DataFrame(ROWS, columns=names), [names[label] for label in LABELS]
    expected = rs.PerLabel(EXPECTED)
    assert rs.cluster_labels(frame, truth, n_clusters=2) == expected
    assert rs.cluster_labels(ROWS, truth, n_clusters=2, classes=names) == expected
    assert rs.cluster_labels(np.log(ROWS) - 1, LABELS, n_clusters=2, kind="logits") == expected
    assert rs.cluster_labels(ROWS, LABELS, n_clusters=2, kind="decision", method="margin") == expected
    more = [*ROWS.tolist(), ROWS[0].tolist()]
    assert rs.cluster_labels(more, [*LABELS.tolist(), rs.ABSENT], n_clusters=2) == expected


def test_coverage_holds_in_every_cluster():
    rows, labels = rows_of([150] * 6, LEVELS, seed=5)
    new, truth = rows_of([500] * 6, LEVELS, seed=6)
    rule = rs.calibrate(rows, labels, method="thr", condition=rs.PerLabel((*EXPECTED[:5], "cluster 1")))
    inside = rule.predict(new, 0.1).covers(truth)
    for group in ([0, 2, 5], [1, 3, 4]):
        assert abs(inside[np.isin(truth, group)].mean() - 0.9) < 0.04


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"n_clusters": 0}, KindError.argument("n_clusters", "an integer of at least 1, or None", 0)),
        ({"n_clusters": 2.0}, KindError.argument("n_clusters", "an integer of at least 1, or None", 2.0)),
        ({"alpha": 2}, like(LevelError, received="2")),
        ({"method": "auto"}, ScoreError.auto_is_no_score("method")),
        ({"method": rs.Thr}, like(KindError, what="method", received="the class Thr")),
        ({"method": rs.Aps(), "kind": "decision"}, ScoreError.needs_probabilities(rs.Aps())),
        ({"seed": "x"}, like(KindError, what="seed")),
    ],
)
def test_what_cannot_be_is_told(options, refusal):
    with refused(refusal):
        rs.cluster_labels(ROWS, LABELS, **options)


def test_rows_that_cannot_be_are_told():
    with refused(InputError.no_rows()):
        rs.cluster_labels(ROWS[:0], [])
    ragged = rs.Ragged.of([[0.5, 0.5], [1.0]])
    with refused(KindError, what="probs", expected="be a matrix with the same classes in all rows"):
        rs.cluster_labels(ragged, [0, 0])
