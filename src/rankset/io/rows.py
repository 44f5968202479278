"""The rows of a file: scores, labels, groups and ids, with labels and groups spelled like those of a rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import is_whole, object_array
from rankset.errors import FileError, LabelError, Place, RanksetError, RuleError, StorageError, located
from rankset.inputs.column_numbers import two_readings
from rankset.inputs.label_lists import label_lists, with_rows
from rankset.inputs.per_row import label_codes, labels_at, named_labels
from rankset.inputs.ragged import Ragged
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Names
from rankset.io.absent_labels import find_absent, mark_absent
from rankset.io.cut_numbers import explain_numbers
from rankset.io.parse_cells import is_whole_text, whole_numbers_or_names
from rankset.io.spelling import equal_groups, spell_groups, spell_labels, whole_number


@dataclass(frozen=True)
class Rows:
    """Rows that were read from files.

    ``names`` are those of the columns of ``scores``; ``kept`` holds columns that are copied to the output;
    ``file_columns`` are all columns of a table, in the order of the file. ``has_one_order`` is false if the lines of
    the file have the columns of ``scores`` in several orders (JSON lines). ``ignored`` are columns of a table that are
    neither scores nor anything else that was asked for. ``absent``: which labels are absent from the candidates; in
    ``labels`` these rows have the label of another row. ``missing``: where rows are objects, the number of a class that
    an object lacks; None for other rows. ``scores`` are ``Ragged`` if every row has its own candidates. With
    ``by_commas``, a comma separates the cells of the file of scores, which was recognised and not said. If rows can
    have several labels, ``labels`` are those of all rows, ``label_sizes`` the number of labels of each row, and
    ``label_names`` the names of the columns of a 0/1 matrix; or ``labels`` are a matrix (n, K) of booleans. ``weights``
    are the weights of the rows, None if they have none.
    """

    scores: Any
    names: list[str] | None
    labels: NDArray[Any] | None
    groups: NDArray[Any] | None
    ids: NDArray[Any] | None
    kept: Mapping[str, Any] = field(default_factory=dict)
    scores_file: str = ""
    labels_file: str = ""
    file_columns: Sequence[str] | None = None
    has_one_order: bool = True
    ignored: Sequence[str] = ()
    absent: NDArray[np.bool_] | None = None
    missing: float | None = None
    by_commas: bool = False
    label_sizes: NDArray[np.int64] | None = None
    label_names: Sequence[str] | None = None
    weights: NDArray[Any] | None = None

    def with_absent(self, absent: str | None, *, is_text: bool) -> Rows:
        """Return the rows with labels of the text ``absent`` noted as absent; None: there are no such labels."""
        if self.labels is None or absent is None:
            return self
        labels, found = find_absent(self.labels, absent, is_text=is_text)
        if found is not None and absent in self._labels_as_texts():
            with located(Place(file=self.scores_file)):
                raise LabelError.absent_is_class(absent)
        return replace(self, labels=labels, absent=found)

    def _labels_as_texts(self) -> list[str]:
        """Texts that are labels: names of columns, or else column numbers; none if rows have their own candidates."""
        if self.names is not None:
            return self.names
        return list(map(str, range(self.scores.shape[1]))) if isinstance(self.scores, np.ndarray) else []

    @property
    def marked_labels(self) -> Any:
        """The labels, with ``ABSENT`` where they are absent from the candidates; lists if rows can have several."""
        return self._by_row(mark_absent(self.labels, self.absent))

    def _by_row(self, labels: Any) -> Any:
        """Return the labels of all rows as one list per row, if rows can have several."""
        if self.label_sizes is None:
            return labels
        ends, values = self.label_sizes.cumsum().tolist(), np.asarray(labels).tolist()
        return [values[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def with_column_order(self, wanted: Sequence[str] | None) -> Rows:
        """Return the rows with columns in the order of ``wanted``, by name, if the columns have names."""
        if self.names is None or wanted is None or self.names == wanted or len(self.names) == 1:
            return self
        if sorted(self.names) != sorted(wanted):
            with located(Place(file=self.scores_file)):
                raise RuleError.columns_of_file(list(wanted), self.names)
        places = {name: place for place, name in enumerate(self.names)}
        return replace(self, names=list(wanted), scores=self.scores[:, [places[name] for name in wanted]])

    def with_class_names(self, names: Sequence[str] | None) -> Rows:
        """Return the rows with these class names, in their order; columns that have names must have the same."""
        if names is None:
            return self
        if self.names is None:
            columns = 2 if self.scores.ndim == 1 else self.scores.shape[-1]
            if len(names) != columns:
                raise FileError.class_count(names, columns)
            return replace(self, names=list(names))
        if self.missing is not None:
            return self._with_missing_classes(names).with_column_order(names).with_given_order(names)
        if sorted(names) != sorted(self.names):
            raise FileError.other_names(names, self.names)
        return self.with_column_order(names).with_given_order(names)

    def _with_missing_classes(self, names: Sequence[str]) -> Rows:
        """Return rows that were objects with a column for every class that none of them has."""
        known = self.names or []
        if not set(known) <= set(names):
            raise FileError.other_names(names, known)
        others = [name for name in names if name not in known]
        more = np.full((len(self.scores), len(others)), self.missing)
        return replace(self, names=[*known, *others], scores=np.hstack((self.scores, more)))

    def with_given_order(self, names: Sequence[object]) -> Rows:
        """Return the rows for class names that a user gave, whose order replaces that of lines in several orders."""
        return self if self.has_one_order else replace(self, file_columns=[*map(str, names)], has_one_order=True)

    @property
    def classes(self) -> list[Any] | None:
        """Names of the columns, as numbers if the labels are numbers."""
        if self.names is None or not self._has_whole_labels:
            return self.names
        return whole_numbers_or_names(self.names)

    @property
    def columns(self) -> Sequence[Any]:
        """Names of the columns, or else their numbers."""
        values = self.scores.values if isinstance(self.scores, Ragged) else self.scores
        return self.classes or range(2 if values.ndim == 1 else values.shape[1])

    def classes_from(self, names: Sequence[object]) -> list[Any]:
        """Given class names, as numbers if the labels and all names are whole numbers."""
        if self._has_whole_labels and all(isinstance(name, str) for name in names):
            return whole_numbers_or_names([str(name) for name in names])
        return list(names)

    @property
    def _has_whole_labels(self) -> bool:
        return self.labels is not None and self.labels.dtype.kind in "iu"

    def labels_for(self, classes: Sequence[object] | None) -> Any:
        """Return the labels as names of ``classes``; column numbers become names if all classes are texts."""
        if self.labels is None:
            raise FileError.no_labels()
        if self.absent is not None and self.absent.all():
            return self.marked_labels
        if isinstance(self.scores, Ragged):  # labels are names of candidates
            return self.marked_labels
        self.check_order(classes)
        known = None if classes is None else object_array(classes)
        labels = self.with_labels_of(classes).labels
        if self.label_sizes is None:
            return mark_absent(named_labels(labels, known), self.absent)
        number = np.repeat(np.arange(len(self.label_sizes)), self.label_sizes)
        return self._by_row(with_rows(lambda: named_labels(labels, known), number))

    @property
    def row_bytes(self) -> int:
        """Number of bytes of the scores of one row."""
        values = self.scores.values if isinstance(self.scores, Ragged) else self.scores
        return int(values[:1].nbytes)

    def labels_of_sets(self, classes: Names) -> NDArray[Any]:
        """Return the labels as the sets of a rule with these classes have them.

        If rows can have several labels, that is a matrix (n, K) of booleans.
        """
        if isinstance(self.scores, Ragged):
            return object_array(list(self.labels_for(None)))
        if self._has_several_labels:
            labels = self.labels_for(classes.array.tolist())
            return label_lists(labels, classes, len(self.scores), RowIndex(), by_position=True).mask(len(classes))
        return labels_at(classes.array, self.label_columns(classes))

    @property
    def _has_several_labels(self) -> bool:
        if self.label_sizes is not None:
            return True
        return self.labels is not None and self.labels.ndim == 2 and self.labels.dtype.kind == "b"

    def label_columns(self, classes: Names) -> NDArray[np.int64]:
        """Return the column of every label among the classes of a rule."""
        return label_codes(self.labels_for(classes.array.tolist()), classes, len(self.scores), RowIndex())

    def with_labels_of(self, classes: Sequence[object] | None) -> Rows:
        """Return the rows with labels spelled as the classes are: 1.0 for class 1, true for class "true"."""
        if self.labels is None:
            return self
        self._check_label_columns(classes)
        if classes is None or not self._has_whole_labels or not all(isinstance(name, str) for name in classes):
            return replace(self, labels=spell_labels(self.labels, classes))
        if any(map(is_whole_text, map(str, classes))):  # labels are then names, not column numbers
            return replace(self, labels=object_array([str(label) for label in self.labels.tolist()]))
        names = [str(name) for name in classes]
        if any(is_whole(whole_number(name)) for name in names):
            raise FileError.numbers_or_names(self.scores_file, names)
        readings = two_readings(names)
        if readings is not None:
            raise LabelError.number_in_name(self.scores_file, *readings)
        return self

    def _check_label_columns(self, classes: Sequence[object] | None) -> None:
        """Refuse a 0/1 matrix of labels whose columns are not the classes."""
        if self.label_names is None:
            return
        wanted = list(map(str, self.columns if classes is None else classes))
        missing = [name for name in wanted if name not in self.label_names]
        unknown = [name for name in self.label_names if name not in wanted]
        if (missing or unknown) and (classes is not None or self._has_whole_labels):
            raise FileError.label_columns(self.labels_file, missing, unknown)

    def with_groups_of(self, known: Sequence[object]) -> Rows:
        """Return the rows with groups spelled as those of a rule: 1 or 1.0 for "1", and the reverse."""
        if self.groups is None or equal_groups(known):
            return self
        return replace(self, groups=spell_groups(self.groups, known))

    def check_order(self, classes: Sequence[object] | None) -> None:
        """Refuse column numbers as labels if columns have several orders, or another one than the classes."""
        if classes is None or self.file_columns is None or not self._has_whole_labels:
            return
        order = [str(name) for name in classes]
        known = set(order)
        if any(map(is_whole_text, order)):  # labels are then names
            return
        if not all(isinstance(name, str) for name in classes):
            return
        if not self.has_one_order:
            raise LabelError.lines_in_several_orders(self.scores_file)
        found = [name for name in self.file_columns if name in known]
        if found != order and len(found) == len(order):
            raise FileError.numbers_in_another_order(self.scores_file)

    def check_nothing_ignored(self) -> None:
        """Refuse columns that are ignored, where every column that is nothing else counts as a class."""
        if self.ignored:
            with located(Place(file=self.scores_file)):
                raise RuleError.more_columns(self.ignored)

    @contextmanager
    def name_file_in_errors(self) -> Iterator[None]:
        """Add the name of the file to errors about its rows; labels may have a file of their own."""
        try:
            yield
        except (FileError, StorageError, RuleError):
            raise
        except RanksetError as found:
            error = explain_numbers(found, self.scores_file, self.scores, self.names, by_commas=self.by_commas)
            about_labels = isinstance(error, LabelError) and error.what == "labels"
            file = self.labels_file if about_labels else self.scores_file
            error.where = error.where.inside(Place(file=file))
            raise error from error.__cause__
