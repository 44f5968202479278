"""From what models return to probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import blocks, inputs
from rankset.inputs import Kind
from rankset.names import Array

Floats = NDArray[np.float64]


def softmax(logits: ArrayLike) -> Floats:
    """Probabilities of ``logits`` (n, K), in float64.

    >>> softmax([[0.0, 0.0], [1000.0, 0.0]])
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    source = inputs.matrix(logits, "logits", name="logits")

    def block(part: slice) -> Floats:
        return _softmax(inputs.checked_rows(source[part], "logits", part.start, "logits"))

    parts = blocks.mapped(block, *source.shape)
    return np.concatenate(parts) if parts else np.empty(source.shape)


def from_kind(rows: Array, kind: Kind) -> Array:
    """Checked rows of ``kind`` as the matrix (n, K) that cells are made of."""
    return CONVERSIONS[kind](rows)


def _as_they_are(rows: Array) -> Array:
    return rows


def _softmax(rows: Floats) -> Floats:
    with np.errstate(over="ignore", under="ignore"):  # a difference beyond all floats is -inf, and its power 0
        powers = np.exp(rows - rows.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


def _both_classes(rows: Floats) -> Floats:
    return np.column_stack((1.0 - rows, rows))


CONVERSIONS: Final[dict[Kind, Callable[[Array], Array]]] = {
    "probs": _as_they_are,
    "scores": _as_they_are,
    "logits": _softmax,
    "binary": _both_classes,
}
