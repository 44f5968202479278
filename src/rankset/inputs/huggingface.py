"""Outputs of Hugging Face's Trainer, models and pipelines as matrices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import is_real
from rankset.errors import InputError, KindError
from rankset.inputs.frames import is_frame
from rankset.inputs.vocabulary import Name, in_order, plain

Scored = Mapping[Name, float]


def unwrap(values: Any) -> Any:  # noqa: ANN401
    """Return the matrix in the output of a Trainer or a model; return anything else unchanged."""
    if isinstance(values, np.ndarray | list) or is_frame(values):
        return values
    for name in ("predictions", "logits"):
        found = values.get(name) if isinstance(values, Mapping) else getattr(values, name, None)
        values = values if found is None else found
    return values[0] if _begins_with_logits(values) else values


def _begins_with_logits(values: object) -> bool:
    """Return whether ``values`` is a tuple of logits and other arrays about the same rows, such as hidden states."""
    if not isinstance(values, tuple) or not values or len(getattr(values[0], "shape", ())) != 2:
        return False
    others = [tuple(part.shape) for part in values[1:] if hasattr(part, "shape")]
    first = tuple(values[0].shape)
    return all(shape[:1] == first[:1] for shape in others) and (len(values) == 1 or set(others) != {first})


def is_scored(values: object) -> bool:
    """Return whether ``values`` are labels and scores of a pipeline, for one text or several."""
    if isinstance(values, Mapping):
        named = "label" in values or not all(map(is_real, values.values()))
        return ("scores" in values or "score" in values) and named
    return isinstance(values, list | tuple) and len(values) > 0 and is_scored(values[0])


def match_columns(
    values: Any,  # noqa: ANN401
    classes: Iterable[object] | None,
    name: str = "probs",
) -> tuple[NDArray[np.float64], list[Name]]:
    """Return a matrix with one column per class, and the classes: those given, or the labels in natural order."""
    rows = [_scored(row, number, name) for number, row in enumerate(_rows(values))]
    wanted = sorted(rows[0], key=natural_key) if classes is None else list(in_order(classes))
    for number, row in enumerate(rows):
        if row.keys() != set(wanted):
            missing = [label for label in wanted if label not in row]
            unknown = [label for label in row if label not in set(wanted)]
            raise InputError.pipeline_labels(name, number, missing, unknown)
    return np.array([[row[label] for label in wanted] for row in rows], dtype=np.float64), wanted


def _rows(values: Any) -> list[Any]:  # noqa: ANN401
    """Return the output for each text as a list; a pipeline returns no list for a single text."""
    if isinstance(values, Mapping):
        return [values]
    return [values] if isinstance(values[0], Mapping) and "score" in values[0] else list(values)


def _scored(row: Any, number: int, name: str) -> Scored:  # noqa: ANN401
    """Return the scores of one text by label, from a list of pairs or, for zero-shot pipelines, a pair of lists."""
    try:
        pairs = (
            list(zip(row["labels"], row["scores"], strict=True))
            if isinstance(row, Mapping)
            else [(entry["label"], entry["score"]) for entry in row]
        )
        scored = {plain(label, "labels"): float(score) for label, score in pairs}
    except (KeyError, TypeError, ValueError, OverflowError):
        raise KindError.pipeline_row(name, number, row) from None
    if len(scored) < len(pairs) or not scored:
        raise KindError.pipeline_row(name, number, row)
    return scored


def natural_key(label: Name) -> list[tuple[bool, Any]]:
    """Return a sort key that puts LABEL_2 before LABEL_10."""
    parts = re.split(r"([0-9]{1,18})", str(label))
    return [(place % 2 == 1, int(part) if place % 2 else part) for place, part in enumerate(parts)]
