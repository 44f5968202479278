"""Which columns of a file are labels, groups, ids and scores: ``Layout`` turns files into ``Rows``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import object_array
from rankset.errors import FileError, InputError, KindError, Place, located
from rankset.inputs.ragged import Ragged
from rankset.io.candidate_rows import read_candidates
from rankset.io.columns import Columns
from rankset.io.dialect import Dialect
from rankset.io.label_order import check_same_order
from rankset.io.notes import Note, say
from rankset.io.object_rows import missing_value
from rankset.io.parse_cells import is_whole_text
from rankset.io.read_file import SEPARATED, WORKBOOKS, is_of, is_readable, is_tabbed_text, read_file
from rankset.io.rows import Rows
from rankset.io.several_labels import LabelsRead, read_several


@dataclass(frozen=True)
class Layout:
    """Names of columns (of arrays, in an .npz file), and how to read files whose name does not say it.

    ``label``, ``group``, ``identity`` and ``weights`` name columns, ``drop`` those that are ignored, ``keep`` those
    that are copied to the output, ``key`` the array of scores in an .npz file. ``file_format`` is used where a file has
    no known suffix or that of another text format. ``header``: the first line of a csv file holds the names of columns.
    ``absent`` is the text that labels have in rows whose true label is not among the candidates ("" for missing ones).
    ``sep`` (the separator of csv files), ``decimal`` ("." or ",") and ``encoding`` are recognised if they are None.
    ``sheet`` is the name or the number, from 1, of the sheet of a workbook. ``options`` names the column with the
    candidates of each row, if every row has its own (``Ragged``). If ``several``, rows can have several labels: lists,
    names separated by ``label_sep`` in a cell, or a 0/1 matrix. ``weights`` can also be a number, the
    weight of all rows.
    """

    label: str | None = None
    group: str | None = None
    identity: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    key: str | None = None
    file_format: str | None = None
    header: bool = True
    absent: str | None = None
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    options: str | None = None
    label_sep: str = ";"
    several: bool = False
    weights: str | None = None

    def __post_init__(self) -> None:
        self.dialect  # noqa: B018 - checks it before anything is read
        if not self.label_sep:
            raise KindError.argument("the separator of labels", "at least one character", self.label_sep)
        if self.several and self.absent is not None:
            raise KindError.argument(
                "the text of absent labels", "left out if rows can have several labels", self.absent
            )

    @property
    def dialect(self) -> Dialect:
        """What is said about the text of files; None where it is recognised."""
        return Dialect.of(self.sep, self.decimal, self.encoding)

    @property
    def kept_columns(self) -> list[str]:
        """Names of all columns that are copied to the output: ids, and those to keep."""
        return list(dict.fromkeys(name for name in (self.identity, *self.keep) if name is not None))

    def needed_columns(self, scores: Sequence[str]) -> list[str]:
        """Names of all columns that are read, scores first."""
        others = (self.label, self.group, self.identity, self.weights, *self.keep)
        return list(dict.fromkeys([*scores, *(name for name in others if name is not None)]))

    def read_rows(
        self,
        path: str,
        labels: str | None = None,
        classes: Sequence[object] | None = None,
        *,
        kind: str | None = None,
    ) -> Rows:
        """Read the rows of a file, with labels from a column or from the file ``labels``.

        Columns with the names of ``classes`` are the scores, if all of them exist; other columns are then ignored. If
        ``kind`` is "binary" the scores are the column named like the second class, or the only column.
        """
        return self.rows_of(self.read_columns(path, labels), labels, classes, kind=kind)

    def read_columns(self, path: str, labels: str | None = None) -> Columns:
        """Read a file of scores, to look at its columns before ``rows_of``."""
        columns = self._read(path, labels, is_table=True)
        if columns.is_blank:
            raise FileError.unreadable(path, "it is empty")
        return columns

    def read_shard(
        self,
        path: str,
        labels: str | None = None,
        classes: Sequence[object] | None = None,
        *,
        kind: str | None = None,
    ) -> Rows | None:
        """Do the same for one of several files; return None for a text file without a line, which has no rows."""
        if self.options is not None:
            raise FileError.options_in_parts(path)
        columns = self._read(path, labels, is_table=True)
        if not columns.is_blank:
            return self.rows_of(columns, labels, classes, kind=kind)
        received = 0 if labels is None else self._read_label_file(labels, columns).n_rows
        if received:
            with located(Place(file=labels)):
                raise InputError.length("labels", 0, received)
        return None

    def read_calibration_rows(
        self, path: str, labels: str | None, classes: Sequence[str] | None, kind: str | None
    ) -> Rows:
        """Read the rows of a file that calibrates, with the given class names, if there are any."""
        return self.read_rows(path, labels, classes if kind == "binary" else None, kind=kind).with_class_names(classes)

    def rows_of(
        self,
        columns: Columns,
        labels: str | None = None,
        classes: Sequence[object] | None = None,
        *,
        kind: str | None = None,
    ) -> Rows:
        """Do the same as ``read_rows`` for columns that were read already; say what was recognised in the file."""
        try:
            return self._rows_of(columns.spelled_like(classes), labels, classes, kind)
        finally:
            say(Note(columns.path, "scores", columns.recognised))

    def _rows_of(
        self, columns: Columns, labels: str | None, classes: Sequence[object] | None, kind: str | None
    ) -> Rows:
        label = None if labels is not None else self.label
        special = self._special_columns(columns, label)
        kept = {name: columns.kept_column(name) for name in self.kept_columns}
        groups = None if self.group is None else columns.group_column(self.group)
        wanted = _wanted_columns(columns, classes, kind)
        apart_from = special if self.weights is None else {*special, self.weights}
        others = {*apart_from, *kept, *self._other_answers(columns, wanted), *([] if label is None else [label])}
        apart = self._columns_apart(columns, label, others, wanted)
        matrix, names = self._scores(columns, apart, wanted, kind or "probs")
        own_columns = names is None or set(names) <= {*columns.names}
        if kind == "binary" and self.options is None:
            matrix, names = _second_class(columns.path, matrix, names, classes)
        self._check_kept(columns.path, kept, len(matrix))
        one_order = names is None or (own_columns and columns.have_one_order(names))
        file = columns if labels is None else self._read_label_file(labels, columns, len(matrix))
        if self.several and (label is not None or labels is not None):
            found = self._several(file, matrix, names, columns if one_order else None)
        else:
            found = LabelsRead(special.get(label or "") if labels is None else self._labels_of_file(file))
        rows = Rows(
            matrix,
            names,
            found.labels,
            groups,
            special.get(self.identity or ""),
            kept,
            scores_file=columns.path,
            labels_file=labels or columns.path,
            file_columns=columns.names if columns.table is not None else None,
            has_one_order=one_order,
            ignored=[] if names is None or not own_columns else columns.names_without({*apart, *names}),
            missing=None if own_columns else missing_value(kind or "probs"),
            by_commas=columns.sep == "," and self.sep is None and self.decimal is None,
            label_sizes=found.sizes,
            label_names=found.columns,
            weights=None if self.weights is None else self._weights(columns, self.weights, len(matrix)),
        )
        return rows.with_absent(self.absent, is_text=file.is_text).with_column_order(wanted)

    def _scores(
        self, columns: Columns, apart: Sequence[str], wanted: Sequence[str] | None, kind: str
    ) -> tuple[Any, list[str] | None]:
        """Return the matrix of scores, or the candidates of each row, and the names of the columns if they have any."""
        if self.options is not None:
            return read_candidates(columns, self.options, apart), None
        return columns.scores(apart, key=self.key, wanted=wanted, kind=kind)

    def _check_kept(self, path: str, kept: Mapping[str, Any], n_rows: int) -> None:
        """Refuse kept columns of another length than the scores."""
        for name in self.keep:
            if len(kept[name]) != n_rows:
                with located(Place(file=path)):
                    raise InputError.length(name, n_rows, len(kept[name]))

    def _read(self, path: str, other: str | None, *, is_table: bool) -> Columns:
        """Read a file; ``file_format`` is for the ``other`` file if that one alone does not say its format.

        ``is_table``: columns are looked for, also in text files with tabs.
        """
        self._check_options([path] if other is None else [path, other])
        says_format = other is not None and is_readable(path) and not is_readable(other)
        file_format = None if says_format else self.file_format
        if is_table and file_format is None and is_tabbed_text(path, self.dialect):
            file_format = "csv"
        return read_file(path, file_format=file_format, header=self.header, dialect=self.dialect, sheet=self.sheet)

    def _check_options(self, paths: Sequence[str]) -> None:
        """Refuse options that are about files of another kind."""
        if self.sheet is not None and not any(is_of(path, WORKBOOKS, self.file_format) for path in paths):
            raise FileError.no_workbook(paths[0])
        if self.sep is not None and not any(is_of(path, SEPARATED, self.file_format) for path in paths):
            raise FileError.no_separators(paths[0])

    def _special_columns(self, columns: Columns, label: str | None) -> dict[str, NDArray[Any]]:
        """Columns of labels, groups and ids, by name."""
        names = [name for name in (label, self.group, self.identity) if name is not None]
        every = names if self.weights is None else [*names, self.weights]
        if len(set(every)) < len(every):
            raise FileError.one_column_twice(next(name for name in every if every.count(name) > 1))
        if label is not None and label not in columns.names:
            raise FileError.no_label_column(columns.path, label, columns.names)
        return {name: columns.column(name) for name in names if name != label or not self.several}

    def _weights(self, columns: Columns, name: str, n_rows: int) -> NDArray[Any]:
        """Return the weights of the rows: a column, or one number for all rows if no column has this name."""
        number = None if name in columns.names else _number(name)
        return columns.number_column(name) if number is None else np.full(n_rows, number)

    def _other_answers(self, columns: Columns, wanted: Sequence[str] | None) -> list[str]:
        """Column with the name of the label column, which is no class also where the labels have a file of their own.

        A column whose name is a number is a class: frames without names have such columns, in both files.
        """
        name = self.label
        if name is None or not columns.has_names or name not in columns.names or is_whole_text(name):
            return []
        return [] if name in (wanted or ()) else [name]

    def _columns_apart(
        self, columns: Columns, label: str | None, others: Collection[str], wanted: Sequence[str] | None
    ) -> list[str]:
        """Names of columns that are no scores; a kept column may be one of the scores that are ``wanted``."""
        unknown = [name for name in self.drop if name not in columns.names]
        if unknown:
            raise FileError.no_column(columns.path, unknown[0], columns.names)
        by_name = set(wanted or ()) if columns.has_names else set()  # without a header columns are found by position
        apart = [*(name for name in others if name not in by_name or name not in self.keep), *self.drop]
        if label is not None and columns.table is not None and not set(columns.names) - {*apart, *columns.index}:
            raise FileError.labels_alone(columns.path, label)
        return apart

    def _read_label_file(self, path: str, scores: Columns, n_rows: int = 0) -> Columns:
        """Read a file of labels, whose rows must be in the order of the ``n_rows`` scores."""
        columns = self._read(path, scores.path, is_table=self.label is not None or self.several)
        say(Note(path, "labels", columns.recognised))
        if columns.is_blank:
            if n_rows:
                raise FileError.unreadable(path, "it is empty")
            return columns
        unnamed = "" not in (self.label, self.group)
        check_same_order(columns, scores, identity=self.identity, unnamed=unnamed)
        return columns

    def _labels_of_file(self, columns: Columns) -> NDArray[Any]:
        """Return the labels of a file of labels, one per row."""
        if columns.is_blank:
            return object_array([])
        return columns.only_column() if self.label is None else columns.column(self.label)

    def _several(self, labels: Columns, matrix: Any, names: Sequence[str] | None, scores: Columns | None) -> LabelsRead:
        """Return the labels of rows that can have several; ``scores`` are None if their columns have no one order."""
        if labels.is_blank:
            return LabelsRead(object_array([]), np.zeros(0, dtype=np.int64))
        known = set(names or ())
        order = None if scores is None else [name for name in scores.names if name in known]
        apart = [name for name in (self.identity, self.group, self.weights, *self.drop) if name is not None]
        shape = None if isinstance(matrix, Ragged) else (len(matrix), 2 if matrix.ndim == 1 else matrix.shape[1])
        with located(Place(file=labels.path)):
            return read_several(
                labels.spelled_like(names), self.label, apart, sep=self.label_sep, shape=shape, names=names, order=order
            )


def _number(text: str) -> float | None:
    """Return a text as a number; None if it is none."""
    try:
        return float(text)
    except ValueError:
        return None


def _wanted_columns(columns: Columns, classes: Sequence[object] | None, kind: str | None) -> list[str] | None:
    """Names of the columns of scores, where they are known."""
    if classes is None or kind != "binary":
        return None if classes is None else [str(name) for name in classes]
    second = [str(name) for name in classes[1:2]]
    return second if columns.has_names and set(second) <= set(columns.names) else None


def _second_class(
    path: str, matrix: NDArray[Any], names: Sequence[str] | None, classes: Sequence[object] | None
) -> tuple[NDArray[Any], list[str] | None]:
    """A matrix of one column as the probabilities of the second of two classes; others as they are."""
    if np.ndim(matrix) != 2 or matrix.shape[1] != 1:
        return matrix, None if names is None else list(names)
    if names is not None and names[0] == str((classes or (0, 1))[0]):
        raise FileError.first_class(path, names[0])
    return matrix[:, 0], None
