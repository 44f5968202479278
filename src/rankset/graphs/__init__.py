"""Rules as ONNX graphs of standard operators: the same sets as ``Rule.predict``, where there is no Python.

nodes                                  nodes and constants of a graph, collected
kinds, row_sums                        rows of every kind, with the bits of ``inputs.probabilities``
exponential, logarithm                 powers and logarithms, with the bits of ``core``
ranking, cells                         features of all cells, most likely first
keys, class_keys                       keys of scores
transforms, fitted, several_labels     rows after the transform of a score
scores                                 which of these functions belong to which score
sets                                   thresholds and outputs
model, options                         the model, and its options

onnx is imported when a model is made, not before; so is everything here but ``options``.
"""
