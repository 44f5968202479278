"""Rules as ONNX graphs of standard operators: the same sets as ``Rule.predict``, where there is no Python.

nodes                                  nodes and constants of a graph, collected
kinds, exponential, row_sums           rows of every kind, with the bits of ``inputs.probabilities``
cells                                  features of all cells, most likely first
keys, class_keys                       keys of scores
transforms, fitted, several_labels     rows after the transform of a score
scores                                 which of these functions belong to which score
sets, model                            thresholds, outputs, and the model

onnx is imported when a model is made, not before.
"""

from rankset.graphs.model import INPUT_TYPES, OPSETS, InputType, RuleGraph
from rankset.graphs.scores import check_score, is_exact

__all__ = ["INPUT_TYPES", "OPSETS", "InputType", "RuleGraph", "check_score", "is_exact"]
