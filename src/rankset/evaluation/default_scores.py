"""The scores that are compared by default."""

from __future__ import annotations

from rankset.inputs.matrix import MARGINAL, Kind
from rankset.scores import NAMED_SCORES, Margin, Score, traits
from rankset.targets import OneLabel, Recall, Target

DEFAULT_SCORES: tuple[Score, ...] = tuple(NAMED_SCORES[name] for name in ("rank", "thr", "aps", "raps", "saps"))
"""The scores of the paper with the parameters of the paper, and THR."""

ONE_LABEL = OneLabel()


def default_score(kind: str, target: Target) -> Score:
    """Return the score that is used if users pass none: RANK, or for marginals the best for the target."""
    if not isinstance(kind, str) or kind not in MARGINAL:
        return NAMED_SCORES["rank"]
    return NAMED_SCORES["share" if isinstance(target, Recall) else "thr"]


def default_scores(kind: Kind | None = None, target: Target = ONE_LABEL) -> tuple[Score, ...]:
    """Return the default scores for rows of ``kind``; for ``"decision"`` those that need no probabilities.

    For several labels per row, and costs, those that do not add up probabilities.
    """
    if target != ONE_LABEL:
        marginal = isinstance(kind, str) and kind in MARGINAL
        return tuple(NAMED_SCORES[name] for name in (("share", "thr", "rank") if marginal else ("rank", "thr")))
    if kind != "decision":
        return DEFAULT_SCORES
    return (*(score for score in DEFAULT_SCORES if not traits(score).needs_probs), Margin())
