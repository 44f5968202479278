"""The scores that are compared by default."""

from __future__ import annotations

from rankset.inputs.matrix import Kind
from rankset.scores import Aps, Margin, Rank, Raps, Saps, Score, Thr, traits

DEFAULT_SCORES: tuple[Score, ...] = (Rank(), Thr(), Aps(), Raps(penalty=0.2, free_ranks=2), Saps(weight=0.2))
"""The scores of the paper with the parameters of the paper, and THR."""


def default_scores(kind: Kind | None = None) -> tuple[Score, ...]:
    """Return the default scores for rows of ``kind``; for ``"decision"`` those that need no probabilities."""
    if kind != "decision":
        return DEFAULT_SCORES
    return (*(score for score in DEFAULT_SCORES if not traits(score).needs_probs), Margin())
