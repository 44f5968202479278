"""``core.logarithm`` as a graph: the same operations in the same order, so the same bits."""

from __future__ import annotations

import math

import numpy as np

from rankset.core.exponential import LN2_HIGH, LN2_LOW, LOG2_E
from rankset.core.logarithm import LEAST_PART, SERIES
from rankset.graphs.nodes import Nodes, Value

SMALL = 2.0**-500
"""Numbers below this are multiplied by 2**LIFT, so that no power of 2 of the table is infinite."""
LIFT = 600
LARGEST = 2.0**1000
LOWEST_POWER, HIGHEST_POWER = -500, 1000
INVERSES = np.ldexp(1.0, -np.arange(LOWEST_POWER, HIGHEST_POWER + 1))
"""2**-k, from the lowest power k to the highest."""


def log_of_nonnegative(nodes: Nodes, x: Value) -> Value:
    """Return ln(x) for x >= 0; ln(0) is -inf. NaN and negative numbers count as 1."""
    inside = nodes.add("Where", nodes.add("Greater", x, 0.0), nodes.add("Min", x, LARGEST), 1.0)
    small = nodes.add("Less", inside, SMALL)
    lifted = nodes.add("Where", small, nodes.add("Mul", inside, 2.0**LIFT), inside)
    above, powers = _parts(nodes, lifted)
    powers = nodes.add("Where", small, nodes.add("Sub", powers, float(LIFT)), powers)
    ratios = nodes.add("Div", above, nodes.add("Add", above, 2.0))
    squares = nodes.add("Mul", ratios, ratios)
    series = nodes.add("Mul", squares, SERIES[-1])
    for term in SERIES[-2::-1]:
        series = nodes.add("Mul", nodes.add("Add", series, term), squares)
    rest = nodes.add("Mul", nodes.add("Sub", above, series), ratios)
    rest = nodes.add("Sub", nodes.add("Sub", rest, nodes.add("Mul", powers, LN2_LOW)), above)
    logs = nodes.add("Sub", nodes.add("Mul", powers, LN2_HIGH), rest)
    return nodes.add("Where", nodes.add("Equal", x, 0.0), -math.inf, logs)


def _parts(nodes: Nodes, x: Value) -> tuple[Value, Value]:
    """Return m - 1 and k of x = m * 2**k with m from ``LEAST_PART`` to less than its double.

    The runtime's own logarithm only guesses k. The guess is wrong by at most 1 and only near the ends, and corrected.
    """
    guess = nodes.add("Round", nodes.add("Mul", nodes.add("Log", x), LOG2_E))
    places = nodes.cast(nodes.add("Sub", guess, float(LOWEST_POWER)), np.int64)
    part = nodes.add("Mul", x, nodes.add("Gather", INVERSES, places))
    less, more = nodes.add("Less", part, LEAST_PART), nodes.add("GreaterOrEqual", part, 2 * LEAST_PART)
    factor = nodes.add("Where", less, 2.0, nodes.add("Where", more, 0.5, 1.0))
    step = nodes.add("Where", less, -1.0, nodes.add("Where", more, 1.0, 0.0))
    return nodes.add("Sub", nodes.add("Mul", part, factor), 1.0), nodes.add("Add", guess, step)
