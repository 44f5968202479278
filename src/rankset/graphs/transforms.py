"""Rows after the ``transform`` of a score, in nodes."""

from __future__ import annotations

import numpy as np

from rankset.graphs.cells import FOUR, sum_of_units
from rankset.graphs.class_keys import unseen_columns
from rankset.graphs.exponential import exp_of_nonpositive
from rankset.graphs.logarithm import log_of_nonnegative
from rankset.graphs.nodes import Nodes, Value
from rankset.scores import Seen, Tempered
from rankset.scores.recalibration.logarithms import units_of
from rankset.scores.seen import UNSEEN_FACTOR


def seen(score: Seen, nodes: Nodes, rows: Value, n_columns: int) -> Value:  # noqa: ARG001
    """Divide the rows by the total probability of the seen classes; the others become tiny. All bits are the same."""
    unseen = unseen_columns(score)[np.newaxis]
    known = nodes.add("Where", unseen, 0.0, rows)
    on_grid = nodes.add("Sub", nodes.add("Add", known, FOUR), FOUR)
    totals = nodes.add("ReduceSum", on_grid, np.array([1]), keepdims=1)  # exact in any order
    divisors = nodes.add("Where", nodes.add("Greater", totals, 0.0), totals, 1.0)
    return nodes.add("Where", unseen, nodes.add("Mul", rows, UNSEEN_FACTOR), nodes.add("Div", rows, divisors))


def tempered(score: Tempered, nodes: Nodes, rows: Value, n_columns: int) -> Value:
    """Raise rows to a power and divide them by their sums."""
    if score.temperature == 1:
        return rows
    largest = nodes.add("ReduceMax", rows, np.array([1]), keepdims=1)
    logs = nodes.add("Mul", log_of_nonnegative(nodes, nodes.add("Div", rows, largest)), 1 / score.temperature)
    powers = exp_of_nonpositive(nodes, logs)
    return nodes.add("Div", powers, sum_of_units(nodes, powers, units_of(n_columns)))
