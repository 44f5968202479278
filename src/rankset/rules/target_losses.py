"""Losses of sets: the weights, by the target, of the true labels that they miss."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from rankset.rules.batch import Batch
from rankset.rules.target_entries import chosen_entries, true_labels

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def losses(batch: Batch, offsets: Ints, codes: NDArray[np.integer]) -> Floats:
    """Return the loss of each row and group that has a true label, for sets of the rows of ``batch``.

    The set of row i is ``codes[offsets[i]:offsets[i + 1]]``. Their mean is what a promise of the target is about.
    """
    return np.concatenate(batch.map_blocks(partial(_losses, batch, offsets, codes)))


def _losses(batch: Batch, offsets: Ints, codes: NDArray[np.integer], part: slice) -> Floats:
    """Return the losses of a block."""
    labels, width = true_labels(batch, part), batch.spec.n_columns
    places, weights = chosen_entries(batch.spec.target, labels)
    shares = np.ones(len(places)) if weights is None else weights[0] / weights[1]
    sizes = np.diff(offsets[part.start : part.stop + 1])
    kept = np.repeat(np.arange(len(sizes)), sizes) * width + codes[offsets[part.start] : offsets[part.stop]]
    missed = ~np.isin(labels.row[places] * width + labels.column[places], kept)
    pairs = np.empty(len(labels), dtype=np.int64)
    pairs[labels.order] = np.repeat(np.arange(len(labels.ends)), labels.sizes)
    answer: Floats = np.bincount(pairs[places], shares * missed, minlength=len(labels.ends)).astype(np.float64)
    return answer
