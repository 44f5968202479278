"""Nodes and constants of an ONNX graph, collected one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Value = str
"""The name of a tensor of the graph."""
Operand = str | float | int | NDArray[Any]
"""A tensor of the graph, or a number or array that becomes a constant of it: float64, int64, or as the array is."""

PREFIX = "rankset_"
"""How names of the graph begin, so that they do not clash with those of the model that it is appended to."""


class Nodes:
    """The nodes of a graph in the order in which they are computed, and its constants.

    >>> nodes = Nodes()
    >>> nodes.add("Mul", "probs", 2.0), len(nodes.operations), list(nodes.constants)
    ('rankset_Mul_1', 1, ['rankset_constant_1'])
    """

    def __init__(self) -> None:
        self.operations: list[tuple[str, list[Value], list[Value], dict[str, Any]]] = []
        self.constants: dict[Value, NDArray[Any]] = {}
        self._known: dict[tuple[str, tuple[int, ...], bytes], Value] = {}

    def add(self, operator: str, *inputs: Operand, **attributes: Any) -> Value:  # noqa: ANN401
        """Add a node with one output, and return the name of the output."""
        return self.add_several(operator, 1, *inputs, **attributes)[0]

    def add_several(self, operator: str, count: int, *inputs: Operand, **attributes: Any) -> list[Value]:  # noqa: ANN401
        """Add a node with several outputs, and return their names."""
        number = len(self.operations) + 1
        names = [f"{PREFIX}{operator}_{number}{f'_{place}' if place else ''}" for place in range(count)]
        self.operations.append((operator, [self._operand(one) for one in inputs], names, attributes))
        return names

    def name(self, value: Value, name: str) -> None:
        """Make ``value`` an output of the graph with this name."""
        self.operations.append(("Identity", [value], [name], {}))

    def _operand(self, operand: Operand) -> Value:
        if isinstance(operand, str):
            return operand
        array = np.asarray(operand)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._known:
            self._known[key] = f"{PREFIX}constant_{len(self._known) + 1}"
            self.constants[self._known[key]] = array
        return self._known[key]

    def cast(self, value: Operand, dtype: type[np.generic]) -> Value:
        """Return ``value`` in another type."""
        return self.add("Cast", value, to=TYPES[dtype])


TYPES: dict[type[np.generic], int] = {np.float32: 1, np.int64: 7, np.bool_: 9, np.float64: 11}
"""Numbers of element types, as ``onnx.TensorProto`` has them."""
