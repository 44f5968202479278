"""The sum of each row as ``numpy.sum`` adds a contiguous row, so with the same bits.

NumPy halves a row until parts have at most 128 entries. In a part it adds entries 0, 8, 16, …, then 1, 9, 17, … and so
on, adds these eight sums in pairs, and then the entries after the last multiple of 8, one by one. Sums of parts are
added in pairs. A graph adds numbers in a certain order only if every addition is a node, or if only two numbers are
added. Additions of 0 change nothing, so all parts are filled up to the same shape.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankset.graphs.nodes import Nodes, Value

LANES = 8
MOST = 128
"""Entries of a part, at most."""

Part = tuple[int, int]
"""Start and length."""


@dataclass(frozen=True)
class Layout:
    """Where the entries of a row go.

    Attributes
    ----------
    places : columns (steps, parts * 8); the number of columns stands for 0. Steps are added one by one.
    n_parts : number of parts, a power of 2.
    n_left : how many entries at the end of the row are added to the last part one by one.
    """

    places: NDArray[np.int64]
    n_parts: int
    n_left: int


def layout_of(n_columns: int) -> Layout:
    """Return the layout of rows of this length.

    >>> layout_of(20).places.tolist(), layout_of(20).n_left
    ([[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]], 4)
    """
    depth = _depth(n_columns)
    parts = _parts(0, n_columns, depth)
    steps = max(1, *(length // LANES for _, length in parts))
    places = np.full((steps, len(parts), LANES), n_columns)
    for number, (start, length) in enumerate(parts):
        own = length // LANES
        places[:own, number] = start + np.arange(own * LANES).reshape(own, LANES)
    return Layout(places.reshape(steps, -1), len(parts), parts[-1][1] % LANES)


def _halves(length: int) -> tuple[int, int]:
    first = length // 2
    first -= first % LANES
    return first, length - first


def _depth(length: int) -> int:
    """Return how often a row is halved."""
    return 0 if length <= MOST else 1 + max(map(_depth, _halves(length)))


def _parts(start: int, length: int, depth: int) -> list[Part]:
    """Return 2**depth parts; in place of a half that is not needed there are parts without entries."""
    if depth == 0:
        return [(start, length)]
    if length <= MOST:
        return [(start, 0)] * (2**depth - 1) + [(start, length)]
    first, second = _halves(length)
    return [*_parts(start, first, depth - 1), *_parts(start + first, second, depth - 1)]


def row_sums(nodes: Nodes, rows: Value, n_columns: int) -> Value:
    """Return the sums (n, 1) of rows (n, K) of numbers of at least 0."""
    layout = layout_of(n_columns)
    padded = nodes.add("Pad", rows, np.array([0, 0, 0, 1])) if (layout.places == n_columns).any() else rows
    steps = nodes.add("Gather", padded, layout.places, axis=1)
    total = _sum_of_steps(nodes, steps, len(layout.places))
    width = layout.places.shape[1]
    while width > layout.n_parts:
        width //= 2
        total = _sum_of_pairs(nodes, total, width)
    total = _with_last_entries(nodes, total, rows, n_columns, layout)
    while width > 1:
        width //= 2
        total = _sum_of_pairs(nodes, total, width)
    return total


def _sum_of_steps(nodes: Nodes, steps: Value, count: int) -> Value:
    """Return the sum over the first axis after that of the rows, one by one."""
    parts = nodes.add_several("Split", count, steps, axis=1, num_outputs=count) if count > 1 else [steps]
    total = parts[0]
    for part in parts[1:]:
        total = nodes.add("Add", total, part)
    return nodes.add("Squeeze", total, np.array([1]))


def _sum_of_pairs(nodes: Nodes, total: Value, width: int) -> Value:
    """Return the sums of neighbours (n, width)."""
    pairs = nodes.add("Reshape", total, np.array([0, width, 2]))  # 0: as many rows as there are
    return nodes.add("ReduceSum", pairs, np.array([2]), keepdims=0)


def _with_last_entries(nodes: Nodes, total: Value, rows: Value, n_columns: int, layout: Layout) -> Value:
    """Return the sums of parts, with the entries that are left added to the last part one by one."""
    if not layout.n_left:
        return total
    last = nodes.add("Gather", total, np.array([layout.n_parts - 1]), axis=1)
    for column in range(n_columns - layout.n_left, n_columns):
        last = nodes.add("Add", last, nodes.add("Gather", rows, np.array([column]), axis=1))
    if layout.n_parts == 1:
        return last
    others = nodes.add("Gather", total, np.arange(layout.n_parts - 1), axis=1)
    return nodes.add("Concat", others, last, axis=1)
