"""Probabilities of single labels, as scikit-learn's models with several outputs return them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankset.core.arrays import SUM_TOLERANCE
from rankset.errors import InputError


def from_single_labels(values: Any) -> Any:  # noqa: ANN401
    """Return a list of K arrays (n, 2), one per label, as a matrix (n, K) of the second columns; others unchanged.

    ``predict_proba`` of ``MultiOutputClassifier``, of forests and of neighbours returns such lists for several labels.
    """
    if not isinstance(values, list) or not values or not all(_is_table(part) for part in values):
        return values
    for place, part in enumerate(values):
        if part.shape[1] != 2 or len(part) != len(values[0]):
            raise InputError.single_label(place, part.shape, (len(values[0]), 2))
        totals = part.sum(axis=1)
        wrong = np.abs(totals - 1) > SUM_TOLERANCE
        if wrong.any():
            raise InputError.single_label_sum(place, int(wrong.argmax()), float(totals[wrong][0]))
    return np.column_stack([part[:, 1] for part in values])


def _is_table(part: object) -> bool:
    return isinstance(part, np.ndarray) and part.ndim == 2
