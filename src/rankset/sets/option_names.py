"""Sets of rows whose candidates have names of their own (``Ragged`` with names)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.inputs.options import option_codes
from rankset.inputs.per_row import label_codes
from rankset.inputs.row_index import RowIndex

if TYPE_CHECKING:
    from rankset.sets.prediction_sets import PredictionSets


def names_of_cells(sets: PredictionSets) -> NDArray[Any]:
    """Return the names of all labels in all sets, row after row."""
    if sets.options is None:
        return sets.classes[sets.codes]
    return sets.options[np.repeat(np.arange(len(sets)), sets.sizes), sets.codes]


def label_columns(sets: PredictionSets, labels: ArrayLike, index: RowIndex) -> NDArray[np.int64]:
    """Return the column of the true label of each row; -1 for ``ABSENT``."""
    if sets.options is None:
        by_position = sets.template.backend is None
        return label_codes(labels, sets.names, len(sets), index, by_position=by_position)
    return option_codes(labels, sets.options, index)


def joined_options(parts: Sequence[PredictionSets]) -> NDArray[Any] | None:
    """Return the names of the candidates of all rows of several parts; None if none of them has names.

    Rows of parts without names get those of the classes.
    """
    if all(part.options is None for part in parts):
        return None
    width = len(parts[0].names)
    names = np.array([*parts[0].names.values, None], dtype=object)[:width]
    return np.concatenate(
        [np.broadcast_to(names, (len(part), width)) if part.options is None else part.options for part in parts]
    )
