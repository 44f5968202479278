"""Outputs of a trained classifier as a matrix with one column per class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from rankset.errors import KindError, LabelError
from rankset.inputs.matrix import Kind
from rankset.integrations.sklearn.several_labels import label_outputs
from rankset.targets import Target
from rankset.targets.base import has_several_labels


def outputs_of(model: Any, X: Any, classes: NDArray[Any], target: Target) -> tuple[NDArray[Any], Kind]:
    """Return the outputs of ``model`` for one or several labels per row (n, K), and their kind."""
    if has_several_labels(target):
        return label_outputs(model, X, len(classes))
    return class_outputs(model, X, classes)


def class_outputs(model: Any, X: Any, classes: NDArray[Any]) -> tuple[NDArray[Any], Kind]:
    """Return the probabilities of ``model`` (n, K) and "probs", or its decisions and "logits" if it has no other."""
    if hasattr(model, "predict_proba"):
        return align_columns(model.predict_proba(X), model.classes_, classes, absent=0.0), "probs"
    if not hasattr(model, "decision_function"):
        wanted = "a classifier with predict_proba or decision_function"
        raise KindError.argument("estimator", wanted, type(model).__name__)
    if len(model.classes_) > 2 and _decides_between_pairs(model):
        raise KindError.argument(
            "estimator",
            'a classifier with decision_function_shape="ovr"',
            "a classifier that compares pairs of classes",
        )
    decisions = two_columns(np.asarray(model.decision_function(X)))
    return align_columns(decisions, model.classes_, classes, absent=-np.inf), "logits"


def _decides_between_pairs(model: Any) -> bool:
    """Whether a classifier has one decision per pair of classes, as support vector machines can have.

    A wrapper that passes on the decisions of one fitted classifier holds it in an attribute: ``estimator_`` of RFE,
    ``best_estimator_`` of a search, ``final_estimator_`` of a stack. Ensembles with decisions of their own hold fitted
    members in lists, and in attributes only models that are not fitted.
    """
    seen: list[Any] = []
    waiting = [model]
    while waiting:
        one = waiting.pop()
        if any(one is other for other in seen):
            continue
        seen.append(one)
        if getattr(one, "decision_function_shape", None) == "ovo":
            return True
        inner = [one[-1]] if isinstance(one, Pipeline) else getattr(one, "__dict__", {}).values()
        waiting.extend(part for part in inner if isinstance(getattr(part, "classes_", None), list | np.ndarray))
    return False


def two_columns(decisions: NDArray[Any]) -> NDArray[Any]:
    """Return decisions d between two classes (n,) as columns (0, d); return other decisions unchanged."""
    return np.column_stack((np.zeros(len(decisions)), decisions)) if decisions.ndim == 1 else decisions


def align_columns(values: Any, known: NDArray[Any], classes: NDArray[Any], *, absent: float) -> NDArray[Any]:
    """Return columns of ``known`` classes in the order of ``classes``, with ``absent`` for the other classes."""
    values = np.asarray(values)
    if np.array_equal(known, classes):
        return values
    aligned = np.full((len(values), len(classes)), absent, dtype=values.dtype)
    aligned[:, np.searchsorted(classes, known)] = values
    return aligned


def add_model_classes(classes: NDArray[Any], models: Sequence[Any]) -> NDArray[Any]:
    """Return ``classes`` and those that only the trained ``models`` know, sorted."""
    for model in models:
        known = getattr(model, "classes_", None)
        if not isinstance(known, np.ndarray):
            wanted = "a classifier with an array classes_, for one label per row"
            raise KindError.argument("estimator", wanted, type(model).__name__)
        if not set(known.tolist()) & set(classes.tolist()):
            raise LabelError.other_labels(classes.tolist(), known.tolist())
        if not np.isin(known, classes).all():
            classes = np.union1d(classes, known)
    return classes
