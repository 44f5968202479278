"""The one way in: ``prepare`` turns whatever users pass into ``Prepared``.

Structure (types, shapes, lengths, names, the order of rows) is checked at once. Values (NaN, sign, sums) are checked
block by block when rows are read, by ``Prepared.rows``: no row can be read unchecked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core import parallel
from rankset.errors import InputError, LabelError, Option, warn
from rankset.inputs.frames import ARRAY, Template
from rankset.inputs.label_lists import label_lists, option_lists
from rankset.inputs.labels_of_rows import LabelLists
from rankset.inputs.matrix import AS_THEY_ARE, Kind, as_matrix, known_kind, look_like_probs, plain_rows
from rankset.inputs.options import option_codes
from rankset.inputs.per_row import id_words, label_codes, names_per_row
from rankset.inputs.probabilities import from_kind
from rankset.inputs.ragged import fill_padding
from rankset.inputs.row_index import RowIndex
from rankset.inputs.row_weights import masses_per_row
from rankset.inputs.single_labels import from_single_labels
from rankset.inputs.unwrap import Unwrapped, unwrap
from rankset.inputs.value_checks import check_rows, check_whole
from rankset.inputs.vocabulary import Array, Names, class_names

Ints = NDArray[np.int64]
Result = TypeVar("Result")

PER_ROW = ("matrix", "counts", "labels", "truths", "groups", "ids", "options", "masses")
"""Fields of ``Prepared`` with one entry per row."""


@dataclass(frozen=True)
class Prepared:
    """The rows of one call with their labels, groups and ids; made by ``prepare``.

    Attributes
    ----------
    matrix : the rows as passed, (n, K), or (n,) for kind "binary"; read them by ``rows``.
    kind : what the numbers are.
    classes : the names of the columns.
    counts : number of candidates of each row, its first columns; None if all columns are.
    options : the names of the candidates of each row (n, K), None as padding; None if they have no names of their own.
    labels : the column of each row's label, -1 where it is absent; None if there are no labels, or ``truths``.
    truths : the columns of each row's labels, where rows can have several; None otherwise.
    groups : the name of each row's group; None if there are no groups.
    ids : a 64-bit word per row; None if there are no ids.
    index : the index of the rows, and of labels, groups and ids.
    template : the type and index that answers about these rows should have.
    checked : whether all values have been checked.
    start : the number of the first row in error messages.
    masses : the weight of each row in units of ``core.masses``; None if rows have no weights.
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
    options: Array | None = None
    truths: LabelLists | None = None
    masses: Ints | None = None

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def n_columns(self) -> int:
        """Number of classes."""
        return len(self.classes.values)

    @property
    def answers(self) -> Template:
        """Type and index of answers: the index of the rows, else that of labels, groups or ids."""
        known = self.index.index
        return self.template if known is self.template.index else replace(self.template, index=known)

    @property
    def absent(self) -> NDArray[np.bool_] | None:
        """Which rows have a label that is not among their candidates; None if there are no such rows."""
        if self.labels is None:
            return None
        absent = self.labels < 0
        return absent if np.count_nonzero(absent) else None

    def take(self, rows: Ints) -> Prepared:
        """Return the rows with these numbers, in this order, with their labels, groups and ids."""
        template = self.answers.rows(rows)
        index = RowIndex(template.index, numbered=template.numbered)
        return replace(self, index=index, template=template, **self._picked(rows))

    def without_weights(self) -> Prepared:
        """Return the same rows without weights, for scores that are fitted on them."""
        return self if self.masses is None else replace(self, masses=None)

    def part(self, rows: slice) -> Prepared:
        """Return consecutive rows; error messages keep counting from the first row of all."""
        return replace(self, start=self.start + rows.start, **self._picked(rows))

    def _picked(self, rows: Ints | slice) -> dict[str, Any]:
        """Return everything that comes per row, for some of the rows."""
        values = {name: getattr(self, name) for name in PER_ROW}
        return {name: None if value is None else value[rows] for name, value in values.items()}

    def with_checked_values(self) -> Prepared:
        """Check all values now, and return rows whose values are not checked again."""
        if not self.checked:
            parallel.map_blocks(self._check, len(self), self.n_columns)
        return replace(self, checked=True)

    def _check(self, part: slice) -> None:
        """Check the values of some rows, without making probabilities of them."""
        check_rows(self._block(part), self.kind, self.start + part.start)

    def rows(self, part: slice) -> Array:
        """Return some rows, checked, contiguous and read-only.

        Logits and binary probabilities become probabilities (n, K). Padding is 0, or -inf where 0 could rank first.
        """
        block = self._block(part)
        if not self.checked:
            check_rows(block, self.kind, self.start + part.start)
        return block if self.kind in AS_THEY_ARE else from_kind(block, self.kind)

    def rows_read_by(self, loop: Callable[[Array], tuple[Result, bool]], part: slice) -> Result:
        """Return what ``loop`` makes of some rows of kind "probs", for loops that check values while they read them.

        ``loop`` returns its result and whether all values are certainly valid. If not, they are checked here.
        """
        block = self._block(part)
        result, valid = loop(block)
        if not (valid or self.checked):
            check_rows(block, self.kind, self.start + part.start)
        return result

    def _block(self, part: slice) -> Array:
        """Return some rows as numbers of their kind; values are not checked."""
        counts = None if self.counts is None else self.counts[part]
        first = self.start + part.start
        if self.matrix.dtype.kind in "iu":
            check_whole(self.matrix[part], first, counts)
        block = plain_rows(self.matrix[part], self.kind)
        if counts is not None:
            block = fill_padding(block, counts, 0.0 if self.kind in ("probs", "marginals") else -np.inf)
        return block


def prepare(
    values: Any,  # noqa: ANN401
    labels: ArrayLike | None = None,
    *,
    kind: str = "probs",
    classes: Iterable[object] | Names | None = None,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    several: bool = False,
    weights: ArrayLike | None = None,
) -> Prepared:
    """Check rows, labels, groups, ids and weights, and bring them into one form.

    Parameters
    ----------
    values : rows: an array, a tensor, a data frame, dictionaries, ``Ragged`` rows, or an output of Hugging Face.
    labels : one per row, a name or a column number, or ``ABSENT``.
    kind : what the numbers are.
    classes : the names of the columns, in order; or the vocabulary of a rule, whose columns the rows must have.
    groups, ids : one per row.
    several : whether rows can have several labels, which are then lists or a 0/1 matrix.
    weights : one number per row, or one for all rows.

    Returns
    -------
    Prepared

    Raises
    ------
    RanksetError : if something has the wrong type or shape, or labels, groups or ids do not belong to the rows.
    """
    known, names = (classes, classes.values) if isinstance(classes, Names) else (None, classes)
    if isinstance(kind, str) and kind == "marginals":
        values = from_single_labels(values)
    opened = unwrap(values, names, kind)
    checked_kind = known_kind(kind)
    width = None if known is None else len(known.values)
    if opened.counts is not None:
        _check_ragged(opened.values.shape[1], checked_kind, width)
    matrix = as_matrix(opened.values, checked_kind, columns=width)
    if known is None:
        known = class_names(opened.classes, 2 if checked_kind == "binary" else matrix.shape[1])
    if checked_kind == "logits":
        _warn_of_probs(matrix)
    n, index = len(matrix), opened.index
    columns = None if labels is None or several else _label_columns(labels, opened, known, n)
    truths = None if labels is None or not several else _true_columns(labels, opened, known, n)
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
        options=opened.options,
        truths=truths,
        masses=None if weights is None else masses_per_row(weights, n, index),
    )


def _warn_of_probs(logits: Array) -> None:
    """Warn if supposed logits look like probabilities."""
    if look_like_probs(logits):
        probs = Option("kind", "probs")
        warn(
            "these logits look like probabilities, because every row sums to 1. If they are probabilities, pass ",
            probs,
            ".",
        )


def _check_ragged(n_columns: int, kind: Kind, width: int | None) -> None:
    """Raise an error if ``Ragged`` rows are of kind "binary", or have more candidates than the ``width`` of a rule."""
    if kind == "binary":
        raise InputError.ragged_binary()
    if width is not None and n_columns > width:
        raise InputError.more_candidates(width, n_columns)


def _label_columns(labels: ArrayLike, opened: Unwrapped, classes: Names, n: int) -> Ints:
    """Return the column of each row's label, by the names of its candidates if they have names."""
    if opened.options is not None:
        return option_codes(labels, opened.options, opened.index)
    columns = label_codes(labels, classes, n, opened.index, by_position=opened.by_position)
    if opened.counts is not None:
        check_candidates(columns, opened.counts, classes)
    return columns


def _true_columns(labels: ArrayLike, opened: Unwrapped, classes: Names, n: int) -> LabelLists:
    """Return the columns of each row's labels, by the names of its candidates if they have names."""
    if opened.options is not None:
        return option_lists(labels, opened.options, opened.index)
    truths = label_lists(labels, classes, n, opened.index, by_position=opened.by_position, counts=opened.counts)
    if opened.counts is not None:
        check_candidates(truths.codes, opened.counts[truths.rows], classes, truths.rows)
    return truths


def check_candidates(columns: Ints, counts: Ints, classes: Names, rows: Ints | None = None) -> None:
    """Raise an error for the first label that is padding of its row; ``rows`` are the numbers of the rows."""
    if (columns >= counts).any():
        place = int((columns >= counts).argmax())
        row = place if rows is None else int(rows[place])
        raise LabelError.padding(row, classes.values[columns[place]], int(counts[place]))
