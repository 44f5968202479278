"""Keys of scores that need no fit: each function is the method ``keys`` of a score in nodes."""

from __future__ import annotations

import numpy as np

from rankset.graphs.cells import GraphCells
from rankset.graphs.nodes import Operand, Value
from rankset.scores import Aps, Average, Margin, Rank, Raps, Saps, Share, Thr, TopK

Keys = tuple[Operand, ...]


def thr(score: Thr, cells: GraphCells) -> Keys:
    """Return minus the probability, or minus the ratio of probability and share."""
    return (_minus_ratio(score, cells),)


def rank(score: Rank, cells: GraphCells) -> Keys:
    """Return the rank, then minus the probability or ratio."""
    return cells.rank, _minus_ratio(score, cells)


def _minus_ratio(score: Thr | Rank, cells: GraphCells) -> Value:
    if score.shares is None:
        return cells.nodes.add("Neg", cells.prob)
    return cells.nodes.add("Neg", cells.nodes.add("Div", cells.prob, cells.of_label(np.array(score.shares))))


def top_k(score: TopK, cells: GraphCells) -> Keys:  # noqa: ARG001
    """Return the rank."""
    return (cells.rank,)


def margin(score: Margin, cells: GraphCells) -> Keys:  # noqa: ARG001
    """Return the largest other entry minus the label's own."""
    others = cells.nodes.add("Where", cells.first, cells.second, cells.top)
    return (cells.nodes.add("Sub", others, cells.prob),)


def share(score: Share, cells: GraphCells) -> Keys:  # noqa: ARG001
    """Return minus p / (1 + (total - p))."""
    add = cells.nodes.add
    return (add("Div", add("Neg", cells.prob), add("Add", add("Sub", cells.total, cells.prob), 1.0)),)


def aps(score: Aps, cells: GraphCells) -> Keys:  # noqa: ARG001
    """Return the mass up to the label."""
    return (cells.mass,)


def raps(score: Raps, cells: GraphCells) -> Keys:
    """Return the mass up to the label, plus the penalty of its rank."""
    return (cells.nodes.add("Add", cells.mass, score.penalty * np.maximum(cells.rank - score.free_ranks, 0)),)


def saps(score: Saps, cells: GraphCells) -> Keys:
    """Return the largest entry, plus a weight for every further rank."""
    later = cells.nodes.add("Add", cells.top, (cells.rank - 2 + 1.0) * score.weight)
    return (cells.nodes.add("Where", cells.first, cells.top, later),)


def average(score: Average, cells: GraphCells) -> Keys:
    """Return the weighted sum of 1 - probability, the mass up to the label, and rank / K."""
    add = cells.nodes.add
    thr_and_aps = add("Add", add("Mul", add("Sub", 1.0, cells.prob), score.thr), add("Mul", cells.mass, score.aps))
    return (add("Add", thr_and_aps, score.rank / cells.n_columns * cells.rank),)
