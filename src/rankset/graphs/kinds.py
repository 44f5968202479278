"""Rows of every kind as the graph of what scores see: ``inputs.probabilities`` in nodes."""

from __future__ import annotations

import numpy as np

from rankset.graphs.exponential import exp_of_nonpositive
from rankset.graphs.nodes import Nodes, Value
from rankset.graphs.row_sums import row_sums
from rankset.inputs.matrix import AS_THEY_ARE, Kind


def rows_of(nodes: Nodes, rows: Value, kind: Kind, n_columns: int) -> Value:
    """Return rows (n, K) of numbers that scores use: as they are passed, or in float64 if they are converted."""
    if kind in AS_THEY_ARE:
        return rows
    wide = nodes.cast(rows, np.float64)
    if kind == "logits":
        return _softmax(nodes, wide, n_columns)
    return _both_classes(nodes, wide) if kind == "binary" else sigmoid(nodes, wide)


def _softmax(nodes: Nodes, rows: Value, n_columns: int) -> Value:
    largest = nodes.add("ReduceMax", rows, np.array([1]), keepdims=1)
    powers = exp_of_nonpositive(nodes, nodes.add("Sub", rows, largest))
    return nodes.add("Div", powers, row_sums(nodes, powers, n_columns))


def _both_classes(nodes: Nodes, rows: Value) -> Value:
    second = nodes.add("Unsqueeze", rows, np.array([1]))
    return nodes.add("Concat", nodes.add("Sub", 1.0, second), second, axis=1)


def sigmoid(nodes: Nodes, rows: Value) -> Value:
    """Return 1 / (1 + exp(-x)) of all entries."""
    powers = exp_of_nonpositive(nodes, nodes.add("Neg", nodes.add("Abs", rows)))
    above = nodes.add("Where", nodes.add("Less", rows, 0.0), powers, 1.0)
    return nodes.add("Div", above, nodes.add("Add", powers, 1.0))
