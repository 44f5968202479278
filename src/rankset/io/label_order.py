"""The rows of a file of labels must be in the order of the rows of the scores: their ids and index are compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import FileError, Place, located
from rankset.inputs.per_row import id_words
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import texts
from rankset.io.columns import Columns
from rankset.io.pandas_index import first_difference
from rankset.io.row_ids import differing_rows, have_common_id


def check_same_order(labels: Columns, scores: Columns, *, identity: str | None, unnamed: bool) -> None:
    """Refuse labels whose ids or index differ from those of the scores.

    Ids are the column ``identity``, and an index that is a column of the other file. If ``unnamed``, an index without a
    name in a csv file counts where there are no such ids.
    """
    names = {*({identity} if identity is not None else ()), *(labels.index_names ^ scores.index_names)}
    found = {name: (scores.row_names(name), labels.row_names(name)) for name in sorted(names)}
    ids = {name: (ours, theirs) for name, (ours, theirs) in found.items() if ours is not None and theirs is not None}
    index, other = (one.index_values(unnamed=unnamed and not ids) for one in (scores, labels))
    row = first_difference(index, other)
    if row is not None and index and other:
        raise _order_error(labels.path, scores.path, row, index[0], other[0])
    for name, (ours, theirs) in ids.items():
        if len(ours) != len(theirs):  # the number of labels is checked later
            continue
        differ = _id_words(scores.path, ours) != _id_words(labels.path, theirs)
        if differ.any() and (differ := differing_rows(ours, theirs)).any():
            raise _order_error(labels.path, scores.path, int(differ.argmax()), ours, theirs, name)


def _order_error(
    labels: str, scores: str, row: int, ours: NDArray[Any], theirs: NDArray[Any], name: str | None = None
) -> FileError:
    """Return the error for ids that differ in a row: they are in another order, or none is in both files."""
    if have_common_id(ours, theirs):
        return FileError.other_order(labels, scores, row, name)
    first, second = (texts(ids[:1]).tolist()[0] for ids in (ours, theirs))
    return FileError.other_ids(labels, scores, second, first, name)


def _id_words(path: str, ids: NDArray[Any]) -> NDArray[Any]:
    """Words that are equal for equal ids, whatever their spelling: 7, 7.0 and "7"."""
    with located(Place(file=path)):
        return np.asarray(id_words(ids, len(ids), RowIndex()))
