"""What a file holds: one matrix without names (npy), arrays by name (npz), or a table with named columns."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import FileError
from rankset.io import arrow_to_numpy, object_rows, pandas_index
from rankset.io.dialect import Recognised
from rankset.io.memory_budget import Budget
from rankset.io.parse_scores import has_comma, parse_scores
from rankset.io.readers.npz import Archive
from rankset.io.spelling import alike_names
from rankset.io.unreadable import unreadable_as_error

NO_LIMIT = Budget("", sys.maxsize)
"""Budget of tables that are in memory already."""

Scores = tuple[NDArray[Any], list[str] | None]
"""A matrix of scores, and the names of its columns if they have names."""


@dataclass(frozen=True)
class Columns:
    """The content of the file ``path``: exactly one of ``matrix``, ``archive`` and ``table`` (of Arrow).

    ``has_names``: the columns of the table have names, not only numbers. ``is_text``: its cells are texts as the file
    has them. ``budget``: memory that making arrays of them may take. ``line_orders``, ``sep``, ``recognised`` and
    ``formulas``: as in ``Table``. ``decimal``: the decimal mark that the user passed.
    """

    path: str
    matrix: NDArray[Any] | None = None
    archive: Archive | None = None
    table: Any = None
    has_names: bool = True
    is_text: bool = False
    budget: Budget = NO_LIMIT
    line_orders: Collection[tuple[str, ...]] | None = ()
    sep: str | None = None
    decimal: str | None = None
    recognised: Recognised = field(default_factory=Recognised, compare=False)
    formulas: Mapping[str, int] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the columns or arrays; empty for a matrix."""
        if self.archive is not None:
            return self.archive.names
        return [] if self.table is None else list(self.table.column_names)

    @property
    def n_rows(self) -> int:
        """Number of rows; of an archive, that of its first array."""
        if self.archive is not None:
            return len(self.archive.read(self.names[0])) if self.names else 0
        return len(self.table if self.matrix is None else self.matrix)

    def have_one_order(self, names: Sequence[str]) -> bool:
        """Whether the columns ``names`` are in the same order in every line of the file."""
        if self.line_orders is None:
            return False
        known = set(names)
        places = {name: place for place, name in enumerate(self.names) if name in known}
        found = ([places[name] for name in order if name in places] for order in self.line_orders)
        return all(order == sorted(order) for order in found)

    def spelled_like(self, classes: Sequence[object] | None) -> Columns:
        """Return the columns with names as the classes have them, where only the composition of letters differs."""
        if classes is None or self.table is None or not self.has_names:
            return self
        names = self.names
        found = alike_names([name for name in map(str, classes) if name not in names], names)
        places = {own: name for name, own in found.items() if own not in classes}
        if not places or len(places) < len(found):
            return self
        return replace(self, table=self.table.rename_columns([str(places.get(name, name)) for name in names]))

    def names_without(self, names: Collection[str]) -> list[str]:
        """Names of the columns except ``names`` and the index."""
        without = {*names, *self.index}
        return [name for name in self.names if name not in without]

    @property
    def is_blank(self) -> bool:
        """Whether the file has no content: neither rows nor columns."""
        return self.table is not None and not self.names and len(self.table) == 0

    @property
    def index(self) -> frozenset[str]:
        """Columns that hold the index of a pandas frame; they are neither classes nor labels."""
        return frozenset(name for name in pandas_index.index_metadata(self.table) if isinstance(name, str))

    def index_values(self, *, unnamed: bool = False) -> list[NDArray[Any]] | None:
        """Levels of the index of a pandas frame; None where there is none.

        If ``unnamed``, a column without a name is the index of a csv file: pandas writes an index like that.
        """
        names = [name for name in self.names if name in self.index]
        if names:
            return [self._column(name, whole=False) for name in names]
        if unnamed and self.is_text and "" in self.names and len(self.names) > 1:
            return [self._column("", whole=True)]
        numbers = pandas_index.described_range(pandas_index.index_metadata(self.table))
        if numbers is None:
            return None
        self.budget.check(self.table.nbytes + 16 * len(self.table))
        return pandas_index.range_values(numbers, len(self.table))

    @property
    def index_names(self) -> frozenset[str]:
        """Names of all levels of the index of a pandas frame, also of one that is a range and no column."""
        name = pandas_index.range_name(pandas_index.index_metadata(self.table))
        return self.index if name is None or name in self.names else self.index | {name}

    def row_names(self, name: str) -> NDArray[Any] | None:
        """The column or the level of the index with this name; None where there is none."""
        if name in self.names:
            return self.column(name)
        levels = self.index_values() if name in self.index_names else None
        return None if levels is None else levels[0]

    def column(self, name: str) -> NDArray[Any]:
        """One column of labels or ids: texts, or whole numbers if all its texts are whole numbers."""
        return self._column(name, whole=True)

    def group_column(self, name: str) -> NDArray[Any]:
        """One column of groups: texts stay texts, so that a name means the same in every file."""
        groups = self._column(name, whole=False)
        if self.is_text:
            blank = [row for row, group in enumerate(groups.tolist()) if group == ""]
            if blank:
                raise FileError.missing_cell(self.path, name, blank[0])
        return groups

    def number_column(self, name: str) -> NDArray[Any]:
        """One column of numbers, such as weights of rows."""
        return (
            self._column(name, whole=False)
            if self.table is None or name not in self.names
            else self.numbers([name])[:, 0]
        )

    def text_column(self, name: str) -> NDArray[Any]:
        """One column as its texts are."""
        return self._column(name, whole=False)

    def kept_column(self, name: str) -> Any:
        """One column that is copied to the output: as ``column``, or as an Arrow column where the file has types."""
        if self.table is None or self.is_text or name not in self.names:
            return self._column(name, whole=True)
        column = self.table.column(name)
        self.budget.check(self.table.nbytes + 2 * column.nbytes + 24 * len(column))
        return column

    def _column(self, name: str, *, whole: bool) -> NDArray[Any]:
        if name not in self.names:
            raise FileError.no_column(self.path, name, self.names)
        if self.archive is not None:
            return self.archive.read(name)
        self._check_formulas([name])
        with unreadable_as_error(self.path):
            column = self.table.column(name)
            if column.type.num_fields:  # lists and objects
                raise FileError.nested(self.path, name, str(column.type))
            self.budget.check(self.table.nbytes + 2 * column.nbytes + 24 * len(column))
            return arrow_to_numpy.names_or_numbers(column, self.budget, whole=whole and self.is_text)

    def only_column(self) -> NDArray[Any]:
        """The one column of a file of labels, groups or names."""
        if self.matrix is not None:
            if self.matrix.ndim != 1 and self.matrix.shape[1:] != (1,):
                raise FileError.not_a_column(self.path, self.matrix.shape)
            return self.matrix.reshape(-1)
        names = self.names_without(())
        if len(names) != 1:
            raise FileError.one_column(self.path, self.names)
        return self.column(names[0])

    def scores(
        self,
        apart: Sequence[str] = (),
        *,
        key: str | None = None,
        wanted: Sequence[str] | None = None,
        kind: str = "probs",
    ) -> Scores:
        """Return the matrix of scores and the names of its columns, if they have names.

        Table: the ``wanted`` columns if all of them exist, else all except those ``apart``. A column of lists is a
        matrix without names, one of objects a matrix with the names of their entries; ``kind`` says what numbers are.
        Archive: the array called ``key``, else the only one that is not ``apart``.
        """
        if key is not None and self.archive is None:
            raise FileError.no_arrays(self.path, key)
        if self.matrix is not None:
            return self.matrix, None
        names = self.names_without(apart)
        with unreadable_as_error(self.path):
            if self.archive is None:
                return self._scores_of_table(names, apart, wanted, kind)
            if key is None and len(names) != 1:
                raise FileError.which_key(self.path, names)
            return self.archive.read(names[0] if key is None else key), None

    def _scores_of_table(
        self, names: list[str], apart: Sequence[str], wanted: Sequence[str] | None, kind: str
    ) -> Scores:
        """The same for a table whose columns ``names`` may be scores."""
        if not names:
            raise FileError.no_scores(self.path, self.names)
        known = set(self.names) if self.has_names else set()  # without a header columns are found by position
        clash = [name for name in wanted or () if name in known and name in apart]
        if clash:
            raise FileError.class_apart(self.path, clash[0])
        nested = [] if wanted is not None and known.issuperset(wanted) else self._nested_columns(names)
        if len(nested) == 1:
            self._check_only_nested(nested[0], names if wanted is None else ())
            column = self.table.column(nested[0])
            if object_rows.is_objects(column):
                return object_rows.matrix_of_objects(self.path, nested[0], column, self.budget, kind, wanted)
            self.budget.check(self.table.nbytes + (column.nbytes if column.num_chunks > 1 else 0))
            return arrow_to_numpy.matrix_of_lists(self.path, nested[0], column), None
        if wanted is not None and known & set(wanted):
            missing = [name for name in wanted if name not in known]
            if missing:
                raise FileError.no_class(self.path, missing)
            names = list(wanted)
        self._check_class_names(names)
        self._check_formulas(names)
        self.budget.check(self.table.nbytes + 8 * len(self.table) * len(names))
        return self._matrix(names), names if self.has_names else None

    def _nested_columns(self, names: Sequence[str]) -> list[str]:
        """The columns of lists and objects among ``names``."""
        columns = {} if self.is_text else {name: self.table.column(name) for name in names}
        return [
            name
            for name, column in columns.items()
            if arrow_to_numpy.is_list(column.type) or object_rows.is_objects(column)
        ]

    def _check_only_nested(self, lists: str, names: Sequence[str]) -> None:
        """Refuse a column of lists or objects beside several of numbers, which could be the classes as well."""
        import pyarrow as pa

        kinds = {name: self.table.schema.field(name).type for name in names if name != lists}
        numbers = [name for name, kind in kinds.items() if pa.types.is_floating(kind)]
        if len(numbers) > 1:
            raise FileError.lists_and_columns(self.path, lists, numbers)

    def _check_class_names(self, names: Sequence[str]) -> None:
        """Refuse names that show a file read the wrong way: an index, no header, or another separator."""
        if self.has_names and "" in names:
            raise FileError.no_name(self.path)
        if self.has_names and all(map(_is_fraction, names)):
            raise FileError.no_header(self.path, names)
        if len(names) == 1 and ";" in names[0]:
            raise FileError.other_separator(self.path, names[0])

    def numbers(self, names: Sequence[str]) -> NDArray[Any]:
        """Return the matrix of the numbers in some columns of a table."""
        self._check_formulas(names)
        self.budget.check(self.table.nbytes + 8 * len(self.table) * len(names))
        with unreadable_as_error(self.path):
            return self._matrix(names)

    def _matrix(self, names: Sequence[str]) -> NDArray[Any]:
        """Numbers of some columns of the table."""
        table = self.table.select(names)
        if self.is_text:
            in_cells = self.sep is not None or has_comma(table)  # numbers in the cells of a workbook have no mark
            return parse_scores(self.path, table, self.sep, self.decimal if in_cells else None, self.recognised)
        kinds = [arrow_to_numpy.number_dtype(self.path, field) for field in table.schema]
        return arrow_to_numpy.matrix_of_columns(
            table, np.result_type(*kinds), partial(arrow_to_numpy.numbers, self.path)
        )

    def _check_formulas(self, names: Sequence[str]) -> None:
        """Refuse columns of a workbook with formulas that no program has calculated."""
        for name in names:
            if name in self.formulas:
                raise FileError.formula(self.path, name, self.formulas[name])


def _is_fraction(name: str) -> bool:
    """Whether the name of a column looks like one of its numbers."""
    try:
        return not float(name.replace(",", ".")).is_integer()
    except (ValueError, OverflowError):
        return False
