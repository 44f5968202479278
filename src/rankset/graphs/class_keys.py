"""Keys of scores that use another score, and numbers of classes: their methods ``keys`` in nodes."""

from __future__ import annotations

import numpy as np

from rankset.graphs.cells import GraphCells
from rankset.graphs.keys import Keys
from rankset.graphs.nodes import Nodes, Operand, Value
from rankset.scores import ClassOffsets, FuzzyClasses, RankLimited, Seen


def seen(score: Seen, cells: GraphCells, inner: Keys) -> Keys:
    """Return 0 for seen and 1 for unseen classes, then the keys of the inner score."""
    return cells.of_label(unseen_columns(score).astype(np.int64)), *inner


def unseen_columns(score: Seen) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which columns belong to classes that were not seen (K,)."""
    unseen = np.ones(score.n_columns, dtype=np.bool_)
    unseen[list(score.columns)] = False
    return unseen


def rank_limited(score: RankLimited, cells: GraphCells, inner: Keys) -> Keys:
    """Return 1 for labels behind the limit of their class and 0 for others, then the keys of the inner score."""
    behind = cells.nodes.add("Greater", cells.rank, cells.of_label(np.array(score.limits, dtype=np.int64)))
    return cells.nodes.cast(behind, np.int64), *inner


def class_offsets(score: ClassOffsets, cells: GraphCells, inner: Keys) -> Keys:
    """Return the key of the inner score minus the offset of the class."""
    (key,) = inner
    return (cells.nodes.add("Sub", cells.nodes.cast(key, np.float64), cells.of_label(np.array(score.offsets))),)


def fuzzy_classes(score: FuzzyClasses, cells: GraphCells, inner: Keys) -> Keys:
    """Return the weighted share of fitting rows whose score is smaller than that of the label."""
    (key,) = inner
    nodes = cells.nodes
    lines, distinct, table = score._steps
    starts = cells.of_label(lines * table.shape[1])
    below = _count_below(nodes, distinct, nodes.cast(key, np.float64))
    return (nodes.add("Gather", table.ravel(), nodes.add("Add", starts, below)),)


def _count_below(nodes: Nodes, ascending: np.ndarray[tuple[int], np.dtype[np.float64]], key: Operand) -> Value:
    """Return how many of some numbers in ascending order are smaller than each key, by bisection."""
    step = 1 << (len(ascending).bit_length() - 1)
    padded = np.concatenate((ascending, np.full(2 * step - 1 - len(ascending), np.inf)))
    count: Operand = np.array(0)
    while step:
        probe = nodes.add("Add", count, step - 1)
        smaller = nodes.add("Less", nodes.add("Gather", padded, probe), key)
        count = nodes.add("Add", count, nodes.add("Mul", nodes.cast(smaller, np.int64), step))
        step //= 2
    return str(count)
