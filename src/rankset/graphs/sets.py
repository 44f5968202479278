"""From keys and thresholds to sets: which cells are kept, and the outputs ``mask``, ``sizes`` and ``codes``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.calibration import Thresholds
from rankset.graphs.cells import GraphCells
from rankset.graphs.keys import Keys
from rankset.graphs.nodes import Nodes, Operand, Value

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Groups:
    """Which threshold belongs to which cell.

    Attributes
    ----------
    table : numbers of thresholds by (row group, column); an axis that does not matter has length 1. The last line
        belongs to rows of unknown groups, if rows have groups.
    rows : the group of each row (n,), a tensor; None if rows have no groups.
    """

    table: Ints
    rows: Value | None

    def lines(self, nodes: Nodes) -> Value:
        """Return the line of each row: all negative numbers mean an unknown group."""
        assert self.rows is not None
        return nodes.add("Max", self.rows, -1)

    def of_cells(self, cells: GraphCells, numbers: NDArray[Any]) -> Operand:
        """Return the number of each cell's threshold, from numbers of all thresholds."""
        table, nodes = numbers[self.table], cells.nodes
        if (table == table.flat[0]).all():
            return table.flat[:1]
        if self.rows is None:
            return cells.of_label(table[0])
        of_rows = nodes.add("Gather", table, self.lines(nodes), axis=0)
        return of_rows if table.shape[1] == 1 else nodes.add("GatherElements", of_rows, cells.column, axis=1)


def kept_cells(cells: GraphCells, keys: Keys, thresholds: Thresholds, groups: Groups) -> Value:
    """Return which cells are in the sets (n, K), in ranking order: ``Thresholds.keep`` in nodes."""
    nodes = cells.nodes
    bounds = [groups.of_cells(cells, bound) for bound in thresholds.keys]
    strict = thresholds.strict
    kept = nodes.add("Not", _not_after(nodes, bounds, keys)) if strict else _not_after(nodes, keys, bounds)
    if thresholds.everything[groups.table].any():
        kept = nodes.add("Or", kept, groups.of_cells(cells, thresholds.everything))
    if thresholds.nothing is not None and thresholds.nothing[groups.table].any():
        kept = nodes.add("And", kept, groups.of_cells(cells, ~thresholds.nothing))
    return kept


def _not_after(nodes: Nodes, first: Sequence[Operand], second: Sequence[Operand]) -> Value:
    """Return ``first <= second``, as Python compares tuples."""
    answer = nodes.add("LessOrEqual", first[-1], second[-1])
    for ours, theirs in zip(first[-2::-1], second[-2::-1], strict=True):
        equal = nodes.add("And", nodes.add("Equal", ours, theirs), answer)
        answer = nodes.add("Or", nodes.add("Less", ours, theirs), equal)
    return answer


def add_outputs(cells: GraphCells, kept: Value, *, top: bool, prefixes: bool) -> None:
    """Add the outputs of the graph.

    ``top``: the most likely label is put into empty sets. ``prefixes``: kept cells are always the first of their row.
    """
    nodes = cells.nodes
    shape = nodes.add("Shape", cells.column)
    kept = nodes.add(
        "And", kept, nodes.add("Expand", np.array([[True]]), shape)
    )  # scores of constants alone are (1, K)
    sizes = _sizes(nodes, kept)
    if top:
        kept = nodes.add("Or", kept, nodes.add("And", nodes.add("Equal", sizes, 0), cells.first))
        sizes = nodes.add("Max", sizes, 1)
    nothing = nodes.add("Expand", np.array([[False]]), shape)
    nodes.name(nodes.add("ScatterElements", nothing, cells.column, kept, axis=1), "mask")
    nodes.name(nodes.add("Squeeze", sizes, np.array([1])), "sizes")
    codes = nodes.add("Where", kept, cells.column, -1)
    nodes.name(codes if prefixes else _moved_to_the_left(cells, kept, sizes, codes), "codes")


def _sizes(nodes: Nodes, kept: Value) -> Value:
    return nodes.add("ReduceSum", nodes.cast(kept, np.int64), np.array([1]), keepdims=1)


def _moved_to_the_left(cells: GraphCells, kept: Value, sizes: Value, codes: Value) -> Value:
    """Return the codes of kept cells first, in their order, and then those of the others."""
    nodes = cells.nodes
    counted = nodes.add("CumSum", nodes.cast(kept, np.int64), np.array(1))
    of_others = nodes.add("Sub", nodes.add("Add", sizes, cells.rank - 1), counted)
    places = nodes.add("Where", kept, nodes.add("Sub", counted, 1), of_others)
    return nodes.add("ScatterElements", codes, places, codes, axis=1)
