"""Rows after the ``transform`` of ``Temperature`` and ``Recalibrated``, in nodes."""

from __future__ import annotations

import math

import numpy as np

from rankset.graphs.cells import sum_of_units
from rankset.graphs.exponential import exp_of_nonpositive
from rankset.graphs.logarithm import log_of_nonnegative
from rankset.graphs.nodes import Nodes, Value
from rankset.graphs.ranking import ranked
from rankset.scores import Recalibrated, Temperature
from rankset.scores.recalibration.features import ENTROPY_CENTRE, LOG_RANKS, MOST_RANKS
from rankset.scores.recalibration.logarithms import LEAST_LOG, ZERO_LOG, units_of

ROW = np.array([1])
"""The axis of the entries of a row."""


def temperature(score: Temperature, nodes: Nodes, rows: Value, n_columns: int) -> Value:
    """Return the logarithms of the new probabilities."""
    return _scaled_logs(nodes, rows, score.scale, n_columns)


def recalibrated(score: Recalibrated, nodes: Nodes, rows: Value, n_columns: int) -> Value:
    """Return the logarithms of the new probabilities."""
    logs = _scaled_logs(nodes, rows, score.scale, n_columns)
    products = nodes.add("Mul", nodes.add("Neg", exp_of_nonpositive(nodes, logs)), logs)
    sums = sum_of_units(nodes, products, units_of(n_columns))
    entropy = nodes.add("Sub", nodes.add("Div", sums, math.log(max(2, n_columns))), ENTROPY_CENTRE)
    by_log, by_rank, by_first = (
        nodes.add("Add", nodes.add("Mul", entropy, score.weights[place + 4]), score.weights[place])
        for place in range(3)
    )
    log_ranks, first = _log_ranks(nodes, rows, n_columns)
    scores = nodes.add("Sub", nodes.add("Mul", by_log, logs), nodes.add("Mul", by_rank, log_ranks))
    floored = nodes.add("Max", logs, ZERO_LOG)
    squares = nodes.add("Mul", nodes.add("Mul", floored, floored), score.weights[3] / 10)
    scores = nodes.add("Add", nodes.add("Add", scores, squares), nodes.add("Mul", by_first, first))
    with_factors = nodes.add("Add", scores, np.array(score.factors)) if score.factors else scores
    return _normalised(nodes, with_factors, n_columns)


def _scaled_logs(nodes: Nodes, rows: Value, scale: float, n_columns: int) -> Value:
    return _normalised(nodes, nodes.add("Mul", _logs(nodes, rows), scale), n_columns)


def _logs(nodes: Nodes, rows: Value) -> Value:
    """Return logarithms, all finite; those of exact zeros lie below the smallest other one of their row."""
    zero = nodes.add("Equal", rows, 0.0)
    logs = log_of_nonnegative(nodes, rows)
    lowest = nodes.add("ReduceMin", nodes.add("Where", zero, math.inf, logs), ROW, keepdims=1)
    instead = nodes.add("Min", nodes.add("Sub", lowest, 1.0), ZERO_LOG)
    return nodes.add("Max", nodes.add("Where", zero, instead, logs), LEAST_LOG)


def _normalised(nodes: Nodes, scores: Value, n_columns: int) -> Value:
    """Return log-probabilities from unnormalised ones."""
    shifted = nodes.add("Sub", scores, nodes.add("ReduceMax", scores, ROW, keepdims=1))
    total = sum_of_units(nodes, exp_of_nonpositive(nodes, shifted), units_of(n_columns))
    return nodes.add("Sub", shifted, log_of_nonnegative(nodes, total))


def _log_ranks(nodes: Nodes, rows: Value, n_columns: int) -> tuple[Value, Value]:
    """Return the logarithm of each entry's rank (n, K), and 1 for the largest entry and 0 for others."""
    count = min(n_columns, MOST_RANKS)
    _, columns = ranked(nodes, rows, count)
    shape, of_ranks = nodes.add("Shape", rows), nodes.add("Shape", columns)
    later = nodes.add("Expand", LOG_RANKS[-1:], shape)
    own = nodes.add("Expand", LOG_RANKS[np.newaxis, :count], of_ranks)
    place = nodes.add("Expand", (np.arange(count) == 0).astype(np.float64)[np.newaxis], of_ranks)
    zeros = nodes.add("Expand", np.zeros(1), shape)
    return (
        nodes.add("ScatterElements", later, columns, own, axis=1),
        nodes.add("ScatterElements", zeros, columns, place, axis=1),
    )
