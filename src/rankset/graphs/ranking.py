"""The largest entries of each row, in order."""

from __future__ import annotations

import numpy as np

from rankset.graphs.nodes import Nodes, Value


def ranked(nodes: Nodes, rows: Value, count: int) -> tuple[Value, Value]:
    """Return the ``count`` largest entries of each row, and their columns; equal entries come from the left.

    ``TopK`` of ONNX Runtime ends the process if there is no row (seen in 1.20 to 1.25), so one is added then.
    """
    length = nodes.add("Shape", rows, start=0, end=1)
    missing = nodes.cast(nodes.add("Equal", length, np.array([0])), np.int64)
    filled = nodes.add("Pad", rows, nodes.add("Concat", np.array([0, 0]), missing, np.array([0]), axis=0))
    found = nodes.add_several("TopK", 2, filled, np.array([count]), axis=1, largest=1, sorted=1)
    entries, columns = (nodes.add("Slice", one, np.array([0]), length, np.array([0])) for one in found)
    return entries, columns
