"""Rows with different numbers of candidates, such as questions with two to five answer options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import tensors
from rankset.errors import InputError, KindError
from rankset.names import Array

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Ragged:
    """A matrix in which row i has ``counts[i]`` candidates, its first columns; what stands behind them is padding.

    Padding may hold anything: it is never looked at, has p-value 0, and never enters a set. ``Ragged.of`` pads rows
    of different lengths; a matrix that is padded already comes with its counts.

    >>> import rankset as rs
    >>> log_probs = [[-0.2, -1.8], [-1.1, -0.9, -1.4], [-2.0, -0.1], [-0.7, -0.9, -2.3]]
    >>> rule = rs.calibrate(rs.Ragged.of(log_probs), [0, 2, 1, 1], kind="logits")
    >>> rule.predict(rs.Ragged.of([[-0.5, -1.0], [-1.1, -1.2, -1.3]]), alpha=0.2).to_lists()
    [[0, 1], [0, 1, 2]]
    """

    values: Array
    counts: Ints

    def __post_init__(self) -> None:
        values, counts = _array(self.values), np.asarray(tensors.opened(self.counts))
        shape = values.shape
        if len(shape) != 2:
            raise InputError.shape("values", "(n, K)", shape, "For rows of different lengths use Ragged.of.")
        if counts.shape != shape[:1]:
            raise InputError.shape("counts", f"({shape[0]},)", counts.shape, "Pass one count per row.")
        if counts.dtype.kind not in "iu" and counts.size:
            raise KindError.argument("counts", "whole numbers", f"an array of {counts.dtype}")
        wrong = (counts < 1) | (counts > shape[1])
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError.candidates(row, int(counts[row]), shape[1])
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "counts", counts.astype(np.int64))

    @classmethod
    def of(cls, rows: Iterable[ArrayLike]) -> Ragged:
        """Rows of different lengths, padded to the longest."""
        arrays = [_numbers(row, number) for number, row in enumerate(rows)]
        counts = np.array([len(array) for array in arrays], dtype=np.int64)
        dtype = np.result_type(*(array.dtype for array in arrays)) if arrays else np.float64
        values = np.zeros((len(arrays), counts.max(initial=0)), dtype=dtype)
        values[np.arange(values.shape[1]) < counts[:, np.newaxis]] = np.concatenate(arrays) if arrays else ()
        return cls(values, counts)

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        spread = f"{self.counts.min()} to {self.counts.max()}" if len(self) else "no"
        return f"Ragged({len(self):,} rows, {spread} candidates)"

    def widened(self, n_columns: int) -> Array:
        """The values, padded further where classes are more than columns."""
        missing = n_columns - self.values.shape[1]
        return self.values if missing <= 0 else np.pad(self.values, ((0, 0), (0, missing)))


def blanked(block: Array, counts: Ints, padding: float) -> Array:
    """A block of rows with ``padding`` behind the candidates of each."""
    return np.where(np.arange(block.shape[1]) < counts[:, np.newaxis], block, block.dtype.type(padding))


def _array(values: ArrayLike) -> Array:
    """An array of whatever came, memory maps as they are; one of objects where rows differ in length."""
    try:
        return np.asanyarray(tensors.opened(values))
    except ValueError:
        return np.empty(0, dtype=object)


def _numbers(row: ArrayLike, number: int) -> Array:
    array = _array(row)
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        received = f"shape {array.shape} of {array.dtype}"
        raise KindError.not_a_matrix("rows", f"{received} at row {number}", "Pass one list of numbers per row.")
    return array
