"""Labels of rows that have candidates with names of their own (``Ragged`` with names)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankset.errors import LabelError
from rankset.inputs.absent import ABSENT, ABSENT_CODE
from rankset.inputs.per_row import labels_per_row
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Array, Codes, plain


def option_codes(labels: ArrayLike, options: Array, index: RowIndex, *, name: str = "labels") -> Codes:
    """Return the column of each row's label among ``options``, the names of its candidates; -1 for ``ABSENT``.

    ``options`` is an array (n, K) with None as padding.
    """
    codes = found_codes(labels, options, index, name=name)
    unknown = codes < ABSENT_CODE
    if unknown.any():
        row = int(unknown.argmax())
        values, _ = labels_per_row(labels, len(options), RowIndex(), name)
        raise LabelError.no_option(name, row, plain(values.tolist()[row], name), _names_of(options[row]))
    return codes


def found_codes(labels: ArrayLike, options: Array, index: RowIndex, *, name: str = "labels") -> Codes:
    """Do the same; -2 for labels that are not among the candidates."""
    values, absent = labels_per_row(labels, len(options), index, name)
    codes = np.full(len(options), ABSENT_CODE - 1, dtype=np.int64)
    for row, value in enumerate(values.tolist()):
        if absent is not None and absent[row]:
            codes[row] = ABSENT_CODE
            continue
        wanted = plain(value, name)
        names = _names_of(options[row])
        if wanted in names:
            codes[row] = names.index(wanted)
    return codes


def labels_or_absent(labels: ArrayLike, options: Array, index: RowIndex) -> list[Any]:
    """Return the labels as names, ``ABSENT`` where a label is not among the candidates of its row."""
    codes = found_codes(labels, options, index)
    return [ABSENT if code < 0 else row[code] for row, code in zip(options, codes.tolist(), strict=True)]


def _names_of(row: Array) -> list[Any]:
    """Return the names of the candidates of one row, without padding."""
    return [name for name in row.tolist() if name is not None]
