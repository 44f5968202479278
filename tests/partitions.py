"""Rows that all engines are tried on, and ways to cut them."""

import numpy as np

import rankset as rs

LOGITS, LABELS = rs.datasets.load("carer")
N = 240
ROWS = np.stack([np.flatnonzero(label == LABELS)[:40] for label in range(6)]).T.ravel()  # forty of each class
PROBS = rs.softmax(LOGITS[ROWS]).round(3)  # some ties
PROBS /= PROBS.sum(axis=1, keepdims=True)
LABELS = LABELS[ROWS]
NAMES = ["sadness", "joy", "love", "anger", "fear", "surprise"]
WORDS = np.array(NAMES)[LABELS]
SITES = np.array(["north", "south", "east"])[np.arange(N) // 6 % 3]
IDS = np.array([f"row {number}" for number in range(N)])

SCORES = [
    rs.Rank(),
    rs.Thr(),
    rs.Aps(),
    rs.Aps(randomized=False),
    rs.Raps(penalty=0.2, free_ranks=2),
    rs.Saps(weight=0.2),
    rs.TopK(),
    rs.Margin(),
    rs.TieBreak(rs.Rank()),
    rs.Temperature(1.5),
    rs.Tempered(rs.Aps(), 1.5),
    rs.RankLimited(rs.Thr(range(1, 7)), (3, 2, 2, 3, 2, 1)),
]
CONDITIONS = [rs.Marginal(), rs.PerLabel(), rs.PerGroup(), rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel())]
SHARING = [rs.Pooled(rs.PerLabel()), rs.Pooled(rs.PerGroup()), rs.Balanced([4666, 5362, 1304, 2159, 1937, 572])]
"""Conditions whose groups share rows. There are no triages with them."""
QUESTIONS = [
    *((score, condition) for score in SCORES for condition in CONDITIONS),
    *((score, condition) for score in SCORES[::3] for condition in SHARING),
]
names = [f"{type(score).__name__}-{type(condition).__name__}" for score, condition in QUESTIONS]


def known(condition, groups=SITES):
    """What is told of the rows besides their scores."""
    return {"groups": groups} if condition.needs_groups else {}


def cuts(rng, parts, n=N):
    """Sizes of random parts, some of them empty."""
    ends = np.sort(rng.integers(0, n + 1, parts - 1))
    return tuple(np.diff([0, *ends, n]).tolist())


def kept(mask):
    """Sets as sorted lists, to compare with masks."""
    return [np.flatnonzero(row).tolist() for row in mask]
