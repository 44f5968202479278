"""The text by which a file says that the true label of a row is not among its candidates (``--absent``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import is_whole, object_array
from rankset.inputs.absent import ABSENT
from rankset.inputs.per_row import is_missing
from rankset.io.parse_cells import parse_names

Bools = NDArray[np.bool_]


def find_absent(labels: NDArray[Any], absent: str, *, is_text: bool) -> tuple[NDArray[Any], Bools | None]:
    """Return labels in which absent ones borrow that of another row, and which rows they are (None: no row).

    ``absent`` is the text of an absent label; "" stands for a missing one. So the other labels are read as if the file
    had no others: as integers if all of them are, where ``is_text`` says that the file has texts only.
    """
    if labels.ndim != 1:
        return labels, None
    values = labels.tolist()
    found = np.array([("" if is_missing(value) else str(value)) == absent for value in values], dtype=np.bool_)
    if not found.any():
        return labels, None
    if found.all():
        return labels, found
    first = values[int((~found).argmax())]
    borrowed = [first if gone else value for value, gone in zip(values, found.tolist(), strict=True)]
    if labels.dtype.kind != "O":
        return np.array(borrowed, dtype=labels.dtype), found
    if all(isinstance(value, str) for value in borrowed):
        return parse_names(borrowed, whole=is_text), found
    return np.array(borrowed) if all(map(is_whole, borrowed)) else object_array(borrowed), found


def mark_absent(labels: Any, absent: Bools | None) -> Any:
    """Return labels with ``ABSENT`` in the rows that ``absent`` names."""
    if absent is None:
        return labels
    marked = object_array(np.asarray(labels).tolist() if hasattr(labels, "dtype") else labels)
    marked[absent] = ABSENT
    return marked
