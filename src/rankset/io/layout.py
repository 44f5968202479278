"""Rows of files: scores, labels, groups and ids, wherever they stand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import FileError, InputError, LabelError, Place, RanksetError, RuleError, StorageError, located
from rankset.inputs.matrix import label_codes, named_labels, object_array
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Names
from rankset.io import read_scores
from rankset.io.read_scores import Columns


@dataclass(frozen=True)
class Layout:
    """Place things stand: names of columns (of arrays, in an .npz file), and what file names do not tell."""

    label: str | None = None
    group: str | None = None
    identity: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    key: str | None = None
    form: str | None = None
    header: bool = True

    def used(self, scores: Sequence[str]) -> list[str]:
        """All columns that are needed, scores first."""
        others = (self.label, self.group, self.identity, *self.keep)
        return list(dict.fromkeys([*scores, *(name for name in others if name is not None)]))

    def rows(
        self,
        path: str,
        labels: str | None = None,
        classes: Sequence[object] | None = None,
        *,
        kind: str | None = None,
    ) -> Rows:
        """The rows of a file, with labels from a column or from a file of their own.

        Columns called as ``classes`` are the scores, if they are all there; then other columns do not matter. Place
        ``kind`` is "binary" the one column of scores is that called as the second class, or the only one there is.
        """
        return self.rows_of(read_scores.read(path, kind=self.form, header=self.header), labels, classes, kind=kind)

    def known_rows(self, path: str, labels: str | None, told: Sequence[str] | None, kind: str | None) -> Rows:
        """The rows of a file that calibrates, with the class names that were ``told``, if any were."""
        return self.rows(path, labels, told if kind == "binary" else None, kind=kind).called(told)

    def rows_of(
        self,
        columns: Columns,
        labels: str | None = None,
        classes: Sequence[object] | None = None,
        *,
        kind: str | None = None,
    ) -> Rows:
        """The same for columns that are read already."""
        within = None if labels is not None else self.label
        several = [name for name in (within, self.group, self.identity) if name is not None]
        if len(set(several)) < len(several):
            raise FileError.one_column_twice(next(name for name in several if several.count(name) > 1))
        if within is not None and within not in columns.names:
            raise FileError.no_label_column(columns.path, within, columns.names)
        apart = {name: columns.column(name) for name in several}
        kept = {name: columns.kept(name) for name in (self.identity, *self.keep) if name is not None}
        groups = None if self.group is None else columns.group(self.group)
        wanted = _wanted(columns, classes, kind)
        dropped = [name for name in self.drop if name not in columns.names]
        if dropped:
            raise FileError.no_column(columns.path, dropped[0], columns.names)
        by_name = set(wanted or ()) if columns.headed else set()  # without a heading columns go by their places
        others = {name for name in (*apart, *kept) if name not in by_name or name not in self.keep}
        without = [*others, *self.drop]
        if within is not None and columns.table is not None and not set(columns.names) - {*without, *columns.index}:
            raise FileError.labels_alone(columns.path, within)
        matrix, names = columns.scores(without, key=self.key, wanted=wanted)
        if kind == "binary":
            matrix, names = _one_column(columns.path, matrix, names, classes)
        for name in self.keep:
            if len(kept[name]) != len(matrix):
                with located(Place(file=columns.path)):
                    raise InputError.length(name, len(matrix), len(kept[name]))
        return Rows(
            matrix,
            names,
            self._labels(labels, columns) if labels is not None else apart.get(within or ""),
            groups,
            apart.get(self.identity or ""),
            kept,
            columns.path,
            labels or columns.path,
            columns.names if columns.table is not None else None,
        ).in_order_of(wanted)

    def _labels(self, path: str, scores: Columns) -> NDArray[Any]:
        columns = read_scores.read(path, kind=self.form, header=self.header)
        row = _first_difference(scores.index_values(), columns.index_values())
        if row is not None:
            raise FileError.other_order(path, scores.path, row)
        return columns.values() if self.label is None else columns.column(self.label)


def _wanted(columns: Columns, classes: Sequence[object] | None, kind: str | None) -> list[str] | None:
    """The names of the columns of scores, where they are known."""
    if classes is None or kind != "binary":
        return None if classes is None else [str(name) for name in classes]
    second = [str(name) for name in classes[1:2]]
    return second if columns.headed and set(second) <= set(columns.names) else None


def _one_column(
    path: str, matrix: NDArray[Any], names: Sequence[str] | None, classes: Sequence[object] | None
) -> tuple[NDArray[Any], list[str] | None]:
    """The probabilities of the second of two classes, which are one column, of no class's name."""
    if np.ndim(matrix) != 2 or matrix.shape[1] != 1:
        return matrix, None if names is None else list(names)
    if names is not None and names[0] == str((classes or (0, 1))[0]):
        raise FileError.first_class(path, names[0])
    return matrix[:, 0], None


def _first_difference(ours: list[NDArray[Any]] | None, theirs: list[NDArray[Any]] | None) -> int | None:
    """The first row in which two indexes differ that belong to rows in another order, or to other rows.

    The default 0 … n-1 says nothing of the rows, unless the other one has the same entries in another order.
    """
    if not ours or not theirs or len(ours) != len(theirs) or len(ours[0]) != len(theirs[0]):
        return None
    differ = np.any([first != second for first, second in zip(ours, theirs, strict=True)], axis=0)
    if not np.any(differ):
        return None
    places = np.arange(len(ours[0]))
    plain = any(len(one) == 1 and np.array_equal(one[0], places) for one in (ours, theirs))
    both_whole = all(len(one) == 1 and one[0].dtype.kind in "iu" for one in (ours, theirs))
    turned = both_whole and np.array_equal(np.sort(ours[0]), np.sort(theirs[0]))
    return None if plain and not turned else int(np.argmax(differ))


@dataclass(frozen=True)
class Rows:
    """What files say: scores, the names of their columns, labels, groups, ids, and columns to be kept."""

    scores: NDArray[Any]
    names: list[str] | None
    labels: NDArray[Any] | None
    groups: NDArray[Any] | None
    ids: NDArray[Any] | None
    kept: Mapping[str, Any] = field(default_factory=dict)
    scores_file: str = ""
    labels_file: str = ""
    written: Sequence[str] | None = None

    def in_order_of(self, wanted: Sequence[str] | None) -> Rows:
        """Columns in the order of some classes, by name where they have names."""
        if self.names is None or wanted is None or self.names == wanted or len(self.names) == 1:
            return self
        if sorted(self.names) != sorted(wanted):
            with located(Place(file=self.scores_file)):
                raise RuleError.columns_of_file(list(wanted), self.names)
        places = {name: place for place, name in enumerate(self.names)}
        return replace(self, names=list(wanted), scores=self.scores[:, [places[name] for name in wanted]])

    def called(self, told: Sequence[str] | None) -> Rows:
        """The rows with the class names that were told, in their order; columns that have names must have these."""
        if told is None or self.names is None:
            return self if told is None else replace(self, names=list(told))
        if sorted(told) != sorted(self.names):
            raise FileError.other_names(told, self.names)
        return self.in_order_of(told)

    @property
    def classes(self) -> list[Any] | None:
        """The names of the columns, as numbers where the labels are numbers."""
        if self.names is None or self.labels is None or self.labels.dtype.kind not in "iu":
            return self.names
        return as_numbers(self.names)

    def labels_of(self, classes: Sequence[object] | None) -> Any:
        """The labels; column numbers, where all classes are texts, as the names they stand for."""
        if self.labels is None:
            raise FileError.no_labels()
        self.check_order(classes)
        return named_labels(self.spelt(classes).labels, None if classes is None else object_array(classes))

    def spelt(self, classes: Sequence[object] | None) -> Rows:
        """The rows with labels spelt as the classes are: 1.0 for class 1, true for class "true"."""
        if self.labels is None:
            return self
        if classes is not None and self.labels.dtype.kind in "iu" and all(isinstance(name, str) for name in classes):
            if any(
                map(read_scores.WHOLE.fullmatch, map(str, classes))
            ):  # numbers are names then, and no numbers of columns
                return replace(self, labels=object_array([str(label) for label in self.labels.tolist()]))
            if any(type(_whole(name)) is int for name in classes):
                raise FileError.numbers_or_names(self.scores_file, [str(name) for name in classes])
            return self
        return replace(self, labels=spelt(self.labels, classes))

    def of_groups(self, known: Sequence[object]) -> Rows:
        """The rows with groups spelt as those of a calibration are: 1 or 1.0 for "1", and the reverse."""
        if self.groups is None or same_groups(known):
            return self
        spelling = {text: name for name in known for text in _group_texts(name)}
        values = {
            value: value
            if value in known
            else next((spelling[text] for text in _group_texts(value) if text in spelling), value)
            for value in dict.fromkeys(self.groups.tolist())
        }
        return replace(self, groups=object_array([values[value] for value in self.groups.tolist()]))

    def numbered(self, classes: Sequence[object]) -> list[Any]:
        """Class names that were told, as numbers where labels are whole numbers and all names are."""
        texts = all(isinstance(name, str) for name in classes)
        whole = self.labels is not None and self.labels.dtype.kind in "iu"
        return as_numbers([str(name) for name in classes]) if texts and whole else list(classes)

    def check_order(self, classes: Sequence[object] | None) -> None:
        """Refuses column numbers where columns do not stand as the classes do: which of the two are they?"""
        if self.labels is None or classes is None or self.written is None or self.labels.dtype.kind not in "iu":
            return
        order = [str(name) for name in classes]
        if any(map(read_scores.WHOLE.fullmatch, order)):  # then labels are names
            return
        seen = [name for name in self.written if name in set(order)]
        if seen != order and len(seen) == len(order) and all(isinstance(name, str) for name in classes):
            raise FileError.numbers_in_another_order(self.scores_file)

    def columns_of(self, classes: Names) -> NDArray[np.int64]:
        """The columns of the labels among a rule's classes."""
        return label_codes(self.labels_of(classes.array.tolist()), classes, len(self.scores), RowIndex())

    @contextmanager
    def named(self) -> Iterator[None]:
        """Inside, errors about rows get the file of the rows; labels may have a file of their own."""
        try:
            yield
        except (FileError, StorageError, RuleError):
            raise
        except LabelError as error:
            error.where = error.where.inside(Place(file=self.labels_file))
            raise
        except RanksetError as error:
            error.where = error.where.inside(Place(file=self.scores_file))
            raise


def spelt(labels: NDArray[Any], classes: Sequence[object] | None) -> NDArray[Any]:
    """Labels as some classes (None: 0, 1, 2, …) are spelt, where they are the same but for that; else as they are."""
    if labels.dtype.kind not in "ObfU" or labels.ndim != 1:
        return labels
    known = None if classes is None else set(classes)
    numbered = known is None or all(type(name) is int for name in known)
    values = list(dict.fromkeys(labels.tolist()))
    if (numbered and labels.dtype.kind in "bf") or (known is not None and known.issuperset(values)):
        return labels
    for spelling in (str, _lower, _whole, _whole_text):
        told = [spelling(value) for value in values]
        if all(type(one) is int for one in told) if known is None else known.issuperset(told):
            places = {value: place for place, value in enumerate(values)}
            found = np.array(told) if numbered else object_array(told)
            return found[[places[value] for value in labels.tolist()]]
    return labels


def same_groups(names: Sequence[object]) -> list[object]:
    """The names of groups that are one name, written in several ways: 1, 1.0 and "1"."""
    owners: dict[str, list[object]] = {}
    for name in names:
        for text in _group_texts(name):
            owners.setdefault(text, []).append(name)
    return next((several for several in owners.values() if len(several) > 1), [])


def _group_texts(name: object) -> tuple[str, ...]:
    """How files of texts may write a group: true for True, 1 for 1.0."""
    return tuple(dict.fromkeys((str(name), _lower(name), str(_whole(name)) if isinstance(name, float) else str(name))))


def _lower(value: object) -> str:
    """True as JSON writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _whole(value: object) -> object:
    """1.0 as 1."""
    try:
        number = float(value) if isinstance(value, str | float) else math.nan
    except ValueError:
        return value
    return int(number) if number.is_integer() and abs(number) < 2**53 else value


def _whole_text(value: object) -> str:
    return str(_whole(value))


def as_numbers(names: Sequence[str]) -> list[Any]:
    """Names as whole numbers, if all are written as such."""
    return [int(name) for name in names] if all(map(read_scores.WHOLE.fullmatch, names)) else list(names)
