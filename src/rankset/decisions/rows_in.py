"""Rows of triages and gates: probabilities of all labels, or one confidence per row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankset.core.arrays import is_whole
from rankset.decisions.one_answer import ANSWER
from rankset.errors import KindError, RuleError
from rankset.inputs import frames, tensors
from rankset.inputs.matrix import MARGINAL, Kind
from rankset.inputs.prepare import Prepared, prepare
from rankset.rules.spec import RuleSpec

MOST_WITHIN = 10_000


def are_confidences(values: object, kind: str) -> bool:
    """Return whether ``values`` is one number per row: a list, a series or an array of numbers."""
    if kind == "binary" or frames.is_frame(values):
        return False
    if isinstance(values, list | tuple):
        return bool(len(values)) and np.ndim(values[0]) == 0 and not isinstance(values[0], Mapping)
    if hasattr(values, "to_numpy"):
        return np.ndim(values.to_numpy()) == 1
    return getattr(tensors.unwrap(values), "ndim", None) == 1


def rows_in(
    spec: RuleSpec,
    values: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
) -> Prepared:
    """Check rows, which must have the columns of the spec, and labels, groups and ids."""
    if spec.classes == ANSWER:
        return confidences_in(values, groups=groups, ids=ids)
    return prepare(values, labels, kind=spec.kind, classes=spec.classes, groups=groups, ids=ids)


def confidences_in(values: Any, *, groups: ArrayLike | None = None, ids: ArrayLike | None = None) -> Prepared:  # noqa: ANN401
    """Return one confidence per row as rows with a single column."""
    if not are_confidences(values, ""):
        raise KindError.argument("confidences", "one number per row", type(values).__name__)
    if hasattr(values, "to_frame"):
        return prepare(values.to_frame("answer"), kind="decision", classes=ANSWER, groups=groups, ids=ids)
    column = np.asarray(tensors.unwrap(values))[:, np.newaxis]
    return prepare(column, kind="decision", classes=ANSWER, groups=groups, ids=ids)


def rows_of(
    probs: Any,  # noqa: ANN401
    labels: ArrayLike | None,
    correct: ArrayLike | None,
    kind: Kind,
    classes: Iterable[object] | None,
    groups: ArrayLike | None,
    ids: ArrayLike | None,
) -> tuple[Prepared, ArrayLike | None]:
    """Return prepared rows, and what users say is right; None if labels say it."""
    if labels is not None and correct is not None:
        raise RuleError.answers_twice()
    if labels is None and correct is None:
        raise RuleError.no_answers()
    if isinstance(kind, str) and kind in MARGINAL:
        raise RuleError.several_labels(kind)
    if are_confidences(probs, kind):
        return confidences_in(probs, groups=groups, ids=ids), labels if correct is None else correct
    return prepare(probs, labels, kind=kind, classes=classes, groups=groups, ids=ids), correct


def check_within(within: object) -> None:
    if not is_whole(within) or not 1 <= within <= MOST_WITHIN:  # type: ignore[operator]
        raise KindError.argument("within", f"an integer from 1 to {MOST_WITHIN:,}", within)
