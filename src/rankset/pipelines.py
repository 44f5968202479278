"""What Hugging Face's Trainer and pipelines return, as matrices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import InputError, KindError
from rankset.names import Name, in_order, plain

Scored = Mapping[Name, float]


def opened(values: Any) -> Any:  # noqa: ANN401
    """The matrix in a Trainer's or a model's output; other things as they are."""
    for name in ("predictions", "logits"):
        values = getattr(values, name, values)
    if isinstance(values, tuple) and values and np.ndim(values[0]) == 2:
        return values[0]  # logits come first, hidden states and the like behind them
    return values


def is_scored(values: object) -> bool:
    """Whether ``values`` are a pipeline's labels and scores, for one text or for several."""
    if isinstance(values, Mapping):
        return "scores" in values or "score" in values
    return isinstance(values, list | tuple) and len(values) > 0 and is_scored(values[0])


def matched(
    values: Any,  # noqa: ANN401
    classes: Iterable[object] | None,
    name: str = "probs",
) -> tuple[NDArray[np.float64], list[Name]]:
    """A matrix with one column per class, and its classes: those given, or the labels in their natural order."""
    rows = [_scored(row, number, name) for number, row in enumerate(_rows(values))]
    wanted = sorted(rows[0], key=_natural) if classes is None else list(in_order(classes))
    for number, row in enumerate(rows):
        if row.keys() != set(wanted):
            missing = [label for label in wanted if label not in row]
            unknown = [label for label in row if label not in set(wanted)]
            raise InputError.pipeline_labels(name, number, missing, unknown)
    return np.array([[row[label] for label in wanted] for row in rows], dtype=np.float64), wanted


def _rows(values: Any) -> list[Any]:  # noqa: ANN401
    """What the pipeline says of each text; of a single text it says it without a list around."""
    if isinstance(values, Mapping):
        return [values]
    return [values] if isinstance(values[0], Mapping) and "score" in values[0] else list(values)


def _scored(row: Any, number: int, name: str) -> Scored:  # noqa: ANN401
    """One text's labels with their scores: a list of pairs, or, from zero-shot pipelines, a pair of lists."""
    try:
        pairs = (
            list(zip(row["labels"], row["scores"], strict=True))
            if isinstance(row, Mapping)
            else [(entry["label"], entry["score"]) for entry in row]
        )
        scored = {plain(label, "labels"): float(score) for label, score in pairs}
    except (KeyError, TypeError, ValueError):
        raise KindError.pipeline_row(name, number, row) from None
    if len(scored) < len(pairs):
        raise KindError.pipeline_row(name, number, row)
    return scored


def _natural(label: Name) -> list[tuple[bool, Any]]:
    """Sorts LABEL_2 before LABEL_10."""
    parts = re.split(r"(\d+)", str(label))
    return [(part.isdigit(), int(part) if part.isdigit() else part) for part in parts]
