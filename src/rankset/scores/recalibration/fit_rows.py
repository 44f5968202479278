"""Rows to fit a recalibration on."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core import parallel
from rankset.errors import InputError, KindError, LabelError
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared, prepare
from rankset.inputs.ragged import Ragged


def prepare_fit(probs: ArrayLike, labels: ArrayLike, kind: Kind) -> Prepared:
    """Return rows and labels prepared for a fit; refuse ragged rows, named columns, decisions and no rows.

    Rows with absent labels are left out: a fit learns nothing from them.
    """
    if isinstance(probs, Ragged):
        raise KindError.argument("probs", "a matrix with the same candidates in all rows for a fit", probs)
    data = prepare(probs, labels, kind=kind)
    if not isinstance(data.classes.values, range):
        remedy = "Pass frame[classes].to_numpy(), because a fit does not store column names."
        raise KindError.not_a_matrix("probs", "columns with names", remedy)
    if kind == "decision":
        raise KindError.argument("kind", "'probs', 'logits' or 'binary' for a fit", kind)
    if data.absent is not None:
        data = data.take(np.flatnonzero(~data.absent))
    if len(data) == 0:
        raise InputError.no_rows()
    return data


def probabilities_and_columns(data: Prepared) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
    """Return the probabilities of all rows (n, K), as float32 or float64, and the columns of their labels (n,)."""
    if data.labels is None:
        raise LabelError.not_one_dimensional("labels", "NoneType")
    parts = parallel.map_blocks(data.rows, len(data), data.n_columns)
    return parts[0] if len(parts) == 1 else np.concatenate(parts), data.labels
