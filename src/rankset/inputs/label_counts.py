"""Labels of rows without outputs, such as those of training rows: their columns, and how often each class occurs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.errors import InputError, KindError
from rankset.inputs.per_row import label_codes
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Name, class_names, in_order

Ints = NDArray[np.int64]

MOST_CLASSES = 1 << 22
"""Largest number of classes."""


def columns_of_labels(labels: ArrayLike, classes: int | Iterable[object]) -> tuple[Sequence[Name], Ints]:
    """Return the names of the classes, and the column of each label; ``classes`` are names, or their number."""
    if isinstance(classes, bool):
        raise KindError.argument("classes", "the number of classes, or their names in column order", classes)
    if isinstance(classes, int | np.integer):
        if not 1 <= classes <= MOST_CLASSES:
            raise KindError.argument("classes", f"a number of classes from 1 to {MOST_CLASSES:,}", classes)
        classes = range(int(classes))
    values = classes if isinstance(classes, range) else in_order(classes)
    if not hasattr(labels, "__len__") or getattr(labels, "ndim", 1) == 0:
        raise KindError.argument("labels", "a list or an array of labels", labels)
    n = len(cast("Sized", labels))
    if n == 0:
        raise InputError.no_rows()
    codes = label_codes(labels, class_names(values, len(values)), n, RowIndex())
    return values, codes[codes >= 0]


def count_of_classes(labels: ArrayLike, classes: int | Iterable[object]) -> tuple[int, ...]:
    """Return the number of labels of each class; raise an error if a class has none."""
    values, codes = columns_of_labels(labels, classes)
    counts = np.bincount(codes, minlength=len(values))
    if not counts.all():
        raise KindError.class_without_rows(values[int(counts.argmin())])
    return tuple(counts.tolist())
