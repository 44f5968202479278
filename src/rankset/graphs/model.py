"""The ONNX model of a rule at one level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.calibration import Thresholds
from rankset.errors import needs_extra
from rankset.graphs.cells import GraphCells
from rankset.graphs.kinds import rows_of
from rankset.graphs.nodes import TYPES, Nodes
from rankset.graphs.options import OPSETS, InputType
from rankset.graphs.scores import check_score, keys_of, transformed
from rankset.graphs.sets import Groups, add_outputs, kept_cells
from rankset.inputs.matrix import Kind
from rankset.scores import Score, traits

GROUPS = "groups"
"""Name of the input with the group of each row."""


@dataclass(frozen=True)
class RuleGraph:
    """What the graph of a rule is made from.

    Attributes
    ----------
    score, kind, n_columns : as in the spec of the rule.
    thresholds : the thresholds of all groups.
    table : numbers of thresholds, as in ``sets.Groups``.
    needs_groups : whether rows have groups.
    dtype : element type of the input.
    top : whether the most likely label is put into empty sets.
    opset : version of the operators.
    """

    score: Score
    kind: Kind
    n_columns: int
    thresholds: Thresholds
    table: NDArray[np.int64]
    needs_groups: bool = False
    dtype: InputType = "float32"
    top: bool = False
    opset: int = OPSETS[0]

    def model(self, version: str, about: str, metadata: dict[str, str]) -> Any:  # noqa: ANN401
        """Return an ``onnx.ModelProto``; ``version`` is that of rankset, ``about`` a sentence for people."""
        nodes = self._nodes()
        with needs_extra("ONNX models"):
            from onnx import helper, numpy_helper
        made = [helper.make_node(name, inputs, outputs, **more) for name, inputs, outputs, more in nodes.operations]
        constants = [numpy_helper.from_array(array, name) for name, array in nodes.constants.items()]
        graph = helper.make_graph(made, "rankset", self._inputs(), self._outputs(), constants, doc_string=about)
        versions = [helper.make_opsetid("", self.opset)]
        model = helper.make_model(graph, opset_imports=versions, producer_name="rankset", producer_version=version)
        model.ir_version = helper.find_min_ir_version_for(versions)
        helper.set_model_props(model, metadata)
        return model

    def _nodes(self) -> Nodes:
        """Return the nodes from the inputs to the outputs."""
        check_score(self.score)
        nodes, declared = Nodes(), traits(self.score)
        rows = rows_of(nodes, self.kind, self.kind, self.n_columns)
        if declared.transforms:
            rows = transformed(self.score, nodes, nodes.cast(rows, np.float64), self.n_columns)
        cells = GraphCells(nodes, rows, self.n_columns)
        groups = Groups(self.table, GROUPS if self.needs_groups else None)
        kept = kept_cells(cells, keys_of(self.score, cells), self.thresholds, groups)
        prefixes = self.table.shape[1] == 1 and "column" not in declared.features
        add_outputs(cells, kept, top=self.top, prefixes=prefixes)
        return nodes

    def _inputs(self) -> list[Any]:
        """Return the inputs: the rows, named after their kind, and the group of each row, if there are groups."""
        from onnx import helper

        shape = ["n"] if self.kind == "binary" else ["n", self.n_columns]
        rows = helper.make_tensor_value_info(self.kind, TYPES[np.dtype(self.dtype).type], shape)
        groups = helper.make_tensor_value_info(GROUPS, TYPES[np.int64], ["n"])
        return [rows, groups] if self.needs_groups else [rows]

    def _outputs(self) -> list[Any]:
        from onnx import helper

        shape = ["n", self.n_columns]
        return [
            helper.make_tensor_value_info("mask", TYPES[np.bool_], shape),
            helper.make_tensor_value_info("sizes", TYPES[np.int64], ["n"]),
            helper.make_tensor_value_info("codes", TYPES[np.int64], shape),
        ]
