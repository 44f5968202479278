"""Scores: how strange a label looks in its row, as keys that are compared like tuples (smaller is kept first)."""

from typing import Any

from rankset.scores.base import Reach, Score, checked_score, traits
from rankset.scores.builtin import Aps, Average, Margin, Rank, Raps, Saps, Thr, TopK
from rankset.scores.seen import Seen
from rankset.scores.wrappers import Chosen, TieBreak, Wrapper

__all__ = [
    "BUILT_IN",
    "Aps",
    "Average",
    "Chosen",
    "Margin",
    "Rank",
    "Raps",
    "Reach",
    "Saps",
    "Score",
    "Seen",
    "Thr",
    "TieBreak",
    "TopK",
    "Wrapper",
    "checked_score",
    "traits",
]

BUILT_IN: tuple[type[Any], ...] = (Rank, TopK, Thr, Margin, Aps, Raps, Saps, Average, TieBreak, Chosen, Seen)
"""The scores without fitted numbers that a file may name."""
