"""Rows after the ``transform`` of ``Marginals``, in nodes."""

from __future__ import annotations

import numpy as np

from rankset.graphs.cells import sum_of_units
from rankset.graphs.kinds import sigmoid
from rankset.graphs.logarithm import log_of_nonnegative
from rankset.graphs.nodes import Nodes, Value
from rankset.graphs.ranking import ranked
from rankset.scores import Marginals
from rankset.scores.label_dependence.exact_products import LARGEST, UNITS
from rankset.scores.label_dependence.features import LEAST, SUM_UNITS

ROW = np.array([1])


def marginals(score: Marginals, nodes: Nodes, rows: Value, n_columns: int) -> Value:
    """Return the new probabilities."""
    inner = nodes.add("Min", nodes.add("Max", rows, LEAST), 1 - LEAST)
    log = log_of_nonnegative(nodes, inner)
    logits = nodes.add("Sub", log, log_of_nonnegative(nodes, nodes.add("Sub", 1.0, inner)))
    largest = nodes.add("ReduceMax", logits, ROW, keepdims=1)
    log_sums = log_of_nonnegative(nodes, sum_of_units(nodes, inner, SUM_UNITS))
    features = [
        log_of_nonnegative(nodes, _ranks(nodes, logits, n_columns)),
        nodes.add("Sub", largest, logits),
        log_sums,
        nodes.add("Sub", log, log_sums),
    ]
    intercepts = np.array(score.intercepts) if score.intercepts else np.zeros(n_columns)
    own, constant, *others = score.weights
    answer = nodes.add("Add", nodes.add("Add", nodes.add("Mul", logits, own), intercepts), constant)
    for weight, feature in zip(others, features, strict=True):
        answer = nodes.add("Add", answer, nodes.add("Mul", feature, weight))
    if score.matrix:
        answer = nodes.add("Add", answer, _of_other_labels(score, nodes, logits))
    return sigmoid(nodes, answer)


def _of_other_labels(score: Marginals, nodes: Nodes, logits: Value) -> Value:
    """Return what the logits of all labels add to each one; the sums are exact in any order."""
    scaled = nodes.add("Div", nodes.add("Sub", logits, np.array(score.means)), np.array(score.deviations))
    inside = nodes.add("Min", nodes.add("Max", scaled, -LARGEST), LARGEST)
    on_grid = nodes.add("Div", nodes.add("Round", nodes.add("Mul", inside, UNITS)), UNITS)
    return nodes.add("MatMul", on_grid, score._crossed)


def _ranks(nodes: Nodes, rows: Value, n_columns: int) -> Value:
    """Return one plus the number of larger entries of the row, for all entries (n, K), as floats.

    In ranking order, equal entries make a run; the rank of all of them is the first place of the run.
    """
    entries, columns = ranked(nodes, rows, n_columns)
    shape = nodes.add("Shape", rows)
    before = nodes.add("Pad", entries, np.array([0, 1, 0, -1]), np.inf)
    begins = nodes.cast(nodes.add("Less", entries, before), np.int64)
    runs = nodes.add("Sub", nodes.add("CumSum", begins, np.array(1)), 1)
    places = nodes.add("Expand", np.arange(1, n_columns + 1)[np.newaxis], shape)
    last = nodes.add("Expand", np.array([[n_columns]]), shape)
    firsts = nodes.add("ScatterElements", last, runs, places, axis=1, reduction="min")
    ranks = nodes.add("GatherElements", firsts, runs, axis=1)
    return nodes.cast(nodes.add("ScatterElements", last, columns, ranks, axis=1), np.float64)
