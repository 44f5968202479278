"""Several labels per row in a ConformalClassifier: 0/1 matrices, and the outputs of models with several outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples, check_consistent_length

from rankset.errors import KindError, LabelError, SplitError
from rankset.inputs import frames
from rankset.inputs.label_lists import label_lists
from rankset.inputs.matrix import Kind
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import class_names, in_order
from rankset.targets import OneLabel, Target, checked_target

Matrix = NDArray[np.int64]

MARGINALS: Kind = "marginals"
DECISION: Kind = "decision"


def read_target(target: object) -> Target:
    """Return the parameter ``target`` of a ConformalClassifier as a target."""
    return OneLabel() if target is None else checked_target(target)


def read_label_matrix(X: Any, y: Any, classes: Any) -> tuple[Matrix, NDArray[Any]]:
    """Return ``y`` as a matrix (n, K) of 0 and 1, and the names of its columns.

    The names are ``classes``, or the columns of a data frame, or 0, 1, …, K - 1.
    """
    names = _column_names(y) if classes is None else in_order(classes)
    if len(names) < 2:
        raise LabelError.no_columns("y", f"{len(names)} class")
    known = class_names(names, len(names))
    truths = label_lists(y, known, _num_samples(X), RowIndex.of(X), name="y", by_position=classes is None)
    matrix = truths.mask(len(known)).astype(np.int64)
    check_consistent_length(X, matrix)
    return matrix, known.array


def _column_names(y: Any) -> tuple[Any, ...]:
    """Return the names of the columns of labels that are a matrix or a frame."""
    if frames.is_frame(y):
        return tuple(frames.match_columns(y, None, "y")[1])
    shape = getattr(y, "shape", None)
    if shape is None or len(shape) != 2:
        received = type(y).__name__ if shape is None else f"an array of shape {tuple(shape)}"
        raise LabelError.no_columns("y", received)
    return tuple(range(int(shape[1])))


def refuse_label_splits(split: Any) -> None:
    """Raise an error if a split looks at labels."""
    if getattr(split, "stratify", False) or getattr(split, "classes", None) is not None:
        raise SplitError.looks_at_labels(split)


def label_outputs(model: Any, X: Any, n_labels: int) -> tuple[NDArray[Any], Kind]:
    """Return the probability of every label (n, K) and "marginals", or decisions and "decision" if there are no others.

    scikit-learn returns probabilities as a matrix, or as a list of K arrays with one column per value of the label.
    """
    if hasattr(model, "predict_proba"):
        values, kind = _marginals(model, model.predict_proba(X)), MARGINALS
    elif hasattr(model, "decision_function"):
        values, kind = np.asarray(model.decision_function(X)), DECISION
    else:
        wanted = "a classifier with predict_proba or decision_function"
        raise KindError.argument("estimator", wanted, type(model).__name__)
    if values.ndim != 2 or values.shape[1] != n_labels:
        wanted = f"a classifier for several labels, with one output for each of the {n_labels} classes"
        raise KindError.argument("estimator", wanted, f"{type(model).__name__} with outputs of shape {values.shape}")
    return values, kind


def _marginals(model: Any, outputs: Any) -> NDArray[Any]:
    """Return the probability that each label is 1, from a matrix or from a list of arrays."""
    if not isinstance(outputs, list):
        return np.asarray(outputs)
    known = getattr(model, "classes_", None)
    if not isinstance(known, list) or len(known) != len(outputs):
        known = [np.arange(np.shape(part)[1]) for part in outputs]
        if any(len(values) != 2 for values in known):
            wanted = "a classifier whose classes_ is a list with the values of every label"
            raise KindError.argument("estimator", wanted, type(model).__name__)
    return np.column_stack([_share_of_ones(part, values) for part, values in zip(outputs, known, strict=True)])


def _share_of_ones(part: Any, values: Any) -> NDArray[Any]:
    """Return the column of the value 1; 0 where a label was 0 in all rows that trained the model."""
    part = np.asarray(part)
    columns = np.flatnonzero(np.asarray(values) == 1)
    share: NDArray[Any] = part[:, columns[0]] if len(columns) else np.zeros(len(part), dtype=part.dtype)
    return share
