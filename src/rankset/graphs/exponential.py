"""``core.exponential`` as a graph: the same operations in the same order, so the same bits."""

from __future__ import annotations

import numpy as np

from rankset.core.exponential import LN2_HIGH, LN2_LOW, LOG2_E, SERIES, SMALLEST
from rankset.graphs.nodes import Nodes, Value

LIFT = 500
"""Powers of 2 are lifted by so many, so that no product is rounded before the last one, which may be subnormal."""
LOWEST = int(np.rint(SMALLEST * LOG2_E))
POWERS = np.ldexp(1.0, np.arange(0, LOWEST - 1, -1) + LIFT)
"""2**(LIFT - i) at place i."""


def exp_of_nonpositive(nodes: Nodes, x: Value) -> Value:
    """Return exp(x) for x <= 0; exp(-inf) is 0."""
    inside = nodes.add("Where", nodes.add("Greater", x, SMALLEST), x, SMALLEST)  # NaN does not stay either
    powers = nodes.add("Round", nodes.add("Mul", inside, LOG2_E))
    rest = nodes.add("Sub", inside, nodes.add("Mul", powers, LN2_HIGH))
    rest = nodes.add("Sub", rest, nodes.add("Mul", powers, LN2_LOW))
    square = nodes.add("Mul", rest, rest)
    series = nodes.add("Mul", square, SERIES[-1])
    for term in SERIES[-2::-1]:
        series = nodes.add("Mul", nodes.add("Add", series, term), square)
    series = nodes.add("Sub", nodes.add("Add", series, 2.0), rest)
    factor = nodes.add("Add", nodes.add("Div", nodes.add("Mul", rest, 2.0), series), 1.0)
    places = nodes.cast(nodes.add("Neg", powers), np.int64)
    lifted = nodes.add("Mul", factor, nodes.add("Gather", POWERS, places))
    return nodes.add("Mul", lifted, 2.0**-LIFT)
