"""What ``covariate`` sees of a row: its largest probabilities, its entropy, and the distance of the two largest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankset.core import parallel
from rankset.core.rows import Rows
from rankset.inputs.prepare import Prepared

Floats = NDArray[np.float64]

LARGEST = 5
"""So many of the largest probabilities are features. Rows of fewer classes have 0 in place of the others."""
LEAST = 1e-12
"""Probabilities are taken as at least this before their logarithms."""
NAMES = (*(f"log of largest probability {place}" for place in range(1, LARGEST + 1)), "entropy", "margin")


def features_of(data: Prepared) -> Floats:
    """Return the features of all rows (n, 7); those of a row depend on this row alone."""
    found = parallel.map_blocks(lambda part: _features(data.rows(part)), len(data), data.n_columns)
    return np.concatenate(found) if found else np.empty((0, len(NAMES)))


def _features(rows: NDArray[np.floating]) -> Floats:
    probs = np.maximum(rows.astype(np.float64), 0.0)  # padding of ragged rows is -inf or 0
    answer = np.zeros((len(probs), len(NAMES)))
    width = min(LARGEST, probs.shape[1])
    largest = np.partition(probs, probs.shape[1] - width, axis=1)[:, -width:] if len(probs) else probs[:, :width]
    answer[:, :width] = np.sort(largest, axis=1)[:, ::-1]
    answer[:, -1] = answer[:, 0] - answer[:, 1]
    answer[:, :LARGEST] = np.log(np.maximum(answer[:, :LARGEST], LEAST))
    answer[:, -2] = Rows(probs, lambda: np.zeros(len(probs))).entropy
    return answer
