"""The one way in: whatever users pass becomes ``Prepared``, checked rows and what comes with them.

Structure (types, shapes, lengths, names, the order of rows) is checked here, at once. Values (NaN, sign, sums) are
checked where rows are read, block by block, by ``Prepared.block``: no row can be read unchecked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core import parallel
from rankset.errors import InputError, LabelError
from rankset.inputs import frames, huggingface
from rankset.inputs.frames import ARRAY, Template
from rankset.inputs.matrix import (
    Kind,
    as_matrix,
    check_rows,
    check_whole,
    id_words,
    known_kind,
    label_codes,
    names_per_row,
    plain_rows,
)
from rankset.inputs.ragged import Ragged, blanked
from rankset.inputs.row_index import RowIndex, index_of
from rankset.inputs.vocabulary import Array, Names, class_names, in_order

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Prepared:
    """The rows of one call, with what users passed along; ``prepare`` makes it.

    Attributes
    ----------
    matrix : rows as they came, (n, K), or (n,) for kind "binary"; to be read by ``block``.
    kind : what the numbers are.
    classes : the names of the columns.
    counts : how many columns of each row are candidates; None where all are.
    labels : the column of each row's label; None where none were passed.
    groups : the name of each row's group; None where none were passed.
    ids : a 64-bit word per row; None where none were passed.
    index : the index of the rows, and of what was passed along.
    template : what answers about these rows should look like.
    checked : whether values were checked already.
    start : the number of the first row in error messages.
    """

    matrix: Array
    kind: Kind
    classes: Names
    counts: Ints | None = None
    labels: Ints | None = None
    groups: Array | None = None
    ids: NDArray[np.uint64] | None = None
    index: RowIndex = field(default_factory=RowIndex)
    template: Template = ARRAY
    checked: bool = False
    start: int = 0

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def n_columns(self) -> int:
        """The number of classes."""
        return len(self.classes.values)

    @property
    def answers(self) -> Template:
        """What answers should look like: their index is that of the rows, else that of what was read with them."""
        known = self.index.index
        return self.template if known is self.template.index else replace(self.template, index=known)

    def take(self, rows: Ints) -> Prepared:
        """Some of the rows, in the order of their numbers, with all that belongs to them."""
        template = self.answers.rows(rows)
        index = RowIndex(template.index, numbered=template.numbered)
        return replace(self, index=index, template=template, **self._picked(rows))

    def part(self, rows: slice) -> Prepared:
        """Consecutive rows, which keep their numbers in error messages."""
        return replace(self, start=self.start + rows.start, **self._picked(rows))

    def _picked(self, rows: Ints | slice) -> dict[str, Any]:
        """What comes per row, for some of the rows."""
        values = {name: getattr(self, name) for name in ("matrix", "counts", "labels", "groups", "ids")}
        return {name: None if value is None else value[rows] for name, value in values.items()}

    def with_checked_values(self) -> Prepared:
        """The same rows, of which all values were checked now and need not be again."""
        if not self.checked:
            parallel.map_blocks(self.block, len(self), self.n_columns)
        return replace(self, checked=True)

    def block(self, part: slice, *, waiting: bool = False) -> Array:
        """The numbers of some rows, contiguous, read-only and checked; padding is 0, or -inf where 0 could rank first.

        Only what checks values itself while it reads them passes ``waiting=True``, and calls ``check`` in doubt.
        """
        counts = None if self.counts is None else self.counts[part]
        first = self.start + part.start
        if self.matrix.dtype.kind in "iu":
            check_whole(self.matrix[part], first, counts)
        block = plain_rows(self.matrix[part], self.kind)
        if counts is not None:
            block = blanked(block, counts, 0.0 if self.kind == "probs" else -np.inf)
        if not (waiting or self.checked):
            check_rows(block, self.kind, first)
        return block

    def check(self, block: Array, part: slice) -> None:
        """Refuses values of a block that cannot be of its kind, naming the row."""
        if not self.checked:
            check_rows(block, self.kind, self.start + part.start)


def prepare(
    values: Any,  # noqa: ANN401
    labels: ArrayLike | None = None,
    *,
    kind: str = "probs",
    classes: Iterable[object] | Names | None = None,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
) -> Prepared:
    """What users passed as rows, labels, groups and ids, checked and in one form.

    Parameters
    ----------
    values : rows: an array, a tensor, a data frame, ``Ragged`` rows, or what Hugging Face returns.
    labels : one per row, a name or a column number.
    kind : what the numbers are.
    classes : the names of the columns, in order; or the vocabulary of a rule, whose columns rows must have.
    groups, ids : one per row.

    Raises
    ------
    RanksetError : where something is of the wrong type or shape, or does not belong together.
    """
    known, told = (classes, classes.values) if isinstance(classes, Names) else (None, classes)
    opened = _opened(values, told)
    checked_kind = known_kind(kind)
    if opened.counts is not None and checked_kind == "binary":
        raise InputError.ragged_binary()
    width = None if known is None else len(known.values)
    if opened.counts is not None and width is not None and opened.values.shape[1] > width:
        raise InputError.more_candidates(width, opened.values.shape[1])
    matrix = as_matrix(opened.values, checked_kind, columns=width)
    if known is None:
        known = class_names(opened.classes, 2 if checked_kind == "binary" else matrix.shape[1])
    n, index = len(matrix), opened.index
    columns = None if labels is None else label_codes(labels, known, n, index)
    if columns is not None and opened.counts is not None:
        _check_candidates(columns, opened.counts, known)
    return Prepared(
        matrix,
        checked_kind,
        known,
        opened.counts,
        columns,
        None if groups is None else names_per_row(groups, n, index),
        None if ids is None else id_words(ids, n, index),
        index,
        opened.template,
    )


def _check_candidates(columns: Ints, counts: Ints, classes: Names) -> None:
    """Refuses labels that are padding of their rows."""
    if (columns >= counts).any():
        row = int((columns >= counts).argmax())
        raise LabelError.padding(row, classes.values[columns[row]], int(counts[row]))


@dataclass(frozen=True)
class _Opened:
    """Something like a matrix, and what it says about itself."""

    values: Any
    classes: Iterable[object] | None
    template: Template = ARRAY
    counts: Ints | None = None
    index: RowIndex = field(default_factory=RowIndex)


def _opened(values: Any, classes: Iterable[object] | None) -> _Opened:  # noqa: ANN401
    """``values`` with one column per class; those that carry names are put into the order of ``classes``."""
    if type(values) is np.ndarray:
        return _Opened(values, classes)
    values = huggingface.unwrap(values)
    if frames.is_frame(values):
        matrix, names, template = frames.match_columns(values, classes)
        return _Opened(matrix, names, template, index=RowIndex(template.index, numbered=template.numbered))
    if huggingface.is_scored(values):
        return _Opened(*huggingface.match_columns(values, classes))
    if isinstance(values, Ragged):
        known = None if classes is None else in_order(classes)
        matrix = values.as_wide_as(len(known or ()) or values.values.shape[1])
        index = RowIndex(values.template.index, numbered=values.template.numbered)
        return _Opened(matrix, known, values.template, values.counts, index)
    index = index_of(values)
    return _Opened(values, classes, Template(index=index), index=RowIndex(index))
