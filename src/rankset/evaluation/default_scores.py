"""The scores that are compared by default."""

from __future__ import annotations

from rankset.inputs.matrix import Kind
from rankset.scores import NAMED_SCORES, Margin, Score, traits

DEFAULT_SCORES: tuple[Score, ...] = tuple(NAMED_SCORES[name] for name in ("rank", "thr", "aps", "raps", "saps"))
"""The scores of the paper with the parameters of the paper, and THR."""


def default_scores(kind: Kind | None = None) -> tuple[Score, ...]:
    """Return the default scores for rows of ``kind``; for ``"decision"`` those that need no probabilities."""
    if kind != "decision":
        return DEFAULT_SCORES
    return (*(score for score in DEFAULT_SCORES if not traits(score).needs_probs), Margin())
