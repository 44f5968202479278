"""Rows with candidates of their own in a file (``--options``): a list of names and a list of numbers per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankset.errors import FileError, Place, located
from rankset.inputs.ragged import Ragged
from rankset.io.arrow_to_numpy import is_list
from rankset.io.object_rows import ENTRY_BYTES, is_objects, object_entries

if TYPE_CHECKING:
    from rankset.io.columns import Columns


def read_candidates(columns: Columns, name: str, apart: Sequence[str]) -> Ragged:
    """Return the rows of a table whose column ``name`` has the names of the candidates of each row.

    The numbers are in the only other column of lists that is not ``apart``. If the column ``name`` has objects, these
    hold names and numbers: ``{"Paris": 0.9, "Lyon": 0.1}``.
    """
    if name not in columns.names:
        raise FileError.no_column(columns.path, name, columns.names)
    column = None if columns.table is None or columns.is_text else columns.table.column(name)
    if column is None or not (is_list(column.type) or is_objects(column)):
        raise FileError.no_options(columns.path, name)
    columns.budget.check(columns.table.nbytes + ENTRY_BYTES * (len(column) + columns.table.nbytes // 4))
    if not is_list(column.type):
        rows = [object_entries(columns.path, name, row, number) for number, row in enumerate(column.to_pylist())]
        with located(Place(file=columns.path)):
            return Ragged.of(rows)
    others = {other: columns.table.column(other).type for other in columns.names_without({*apart, name})}
    lists = [other for other, kind in others.items() if is_list(kind)]
    if len(lists) != 1:
        raise FileError.which_scores(columns.path, lists)
    names, numbers = (_lists(columns, one) for one in (name, lists[0]))
    with located(Place(file=columns.path)):
        return Ragged.of(numbers, names=names)


def _lists(columns: Columns, name: str) -> list[Any]:
    """Return the lists of a column; raise an error if one is missing."""
    rows = columns.table.column(name).to_pylist()
    missing = next((number for number, row in enumerate(rows) if row is None), None)
    if missing is not None:
        raise FileError.missing_cell(columns.path, name, missing)
    return rows
