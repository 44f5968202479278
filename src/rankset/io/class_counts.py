"""Read a number for each class, of its training rows or its factor: csv with two columns, or JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rankset.core.arrays import is_real
from rankset.errors import FileError
from rankset.errors.values import short_repr
from rankset.io.dialect import RECOGNISED, Dialect
from rankset.io.read_file import read_lines

SEPARATORS = ("\t", ";", ",")
"""Separators that are tried, in this order: class names have commas more often than tabs."""
LARGEST = 1e15
"""Largest count or factor."""
COUNTS, FACTORS = "training counts", "factors of classes"
"""What the numbers of a file are."""


def read_class_counts(path: str, dialect: Dialect = RECOGNISED) -> dict[str, float]:
    """Return the count of each class, by name, in the order of the file.

    A file whose name ends in .json is an object with a number for every class. Other files have a line for every
    class with its name and its count; the first line can be a header. The separator is a comma, a semicolon or a tab.
    Raises ``FileError`` if the file cannot be read, has a class twice, or a count is not a positive number.
    """
    return {name: _count(path, name, value) for name, value in _read_pairs(path, dialect, COUNTS).items()}


def read_class_factors(path: str, dialect: Dialect = RECOGNISED) -> dict[str, float]:
    """Return the factor of each class, by name, from a file such as those of counts; factors can be 0."""
    return {name: _factor(path, name, value) for name, value in _read_pairs(path, dialect, FACTORS).items()}


def _read_pairs(path: str, dialect: Dialect, what: str) -> dict[str, Any]:
    """Return the value of each class."""
    lines = read_lines(path, dialect)
    if not any(map(str.strip, lines)):
        raise FileError.unreadable(path, "it is empty")
    is_json = path.lower().endswith((".json", ".json.gz"))
    found: dict[str, Any] = {}
    for name, value in _pairs_of_json(path, lines, what) if is_json else _pairs_of_lines(path, lines, dialect, what):
        if name in found:
            raise FileError.class_counted_twice(path, name, what)
        if isinstance(value, list):  # also the pairs of an object
            raise FileError.no_object_of_counts(path, f"a list or an object for the class {short_repr(name)}", what)
        found[name] = value
    return found


def counts_in_order(
    counts: Mapping[str, float], columns: Iterable[object], path: str, what: str = COUNTS
) -> tuple[float, ...]:
    """Return the numbers in the order of the columns; raise ``FileError`` if a class is missing or unknown."""
    names = [str(name) for name in columns]
    known = set(names)
    unknown = [name for name in counts if name not in known]
    if unknown:
        raise FileError.counts_of_others(path, unknown, names, what)
    missing = [name for name in names if name not in counts]
    if missing:
        raise FileError.classes_without_count(path, missing, what)
    return tuple(counts[name] for name in names)


def _pairs_of_json(path: str, lines: Sequence[str], what: str) -> list[tuple[str, Any]]:
    """Return names and values of an object; names may occur twice."""
    try:
        found = json.loads("\n".join(lines), object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        raise FileError.no_object_of_counts(path, "other text", what) from None
    if not isinstance(found, _Pairs) or not found:
        raise FileError.no_object_of_counts(path, "an empty object" if found == [] else "other values", what)
    return found


class _Pairs(list[tuple[str, Any]]):
    """The names and values of an object of JSON, in their order."""


def _pairs_of_lines(path: str, lines: Sequence[str], dialect: Dialect, what: str) -> Iterator[tuple[str, Any]]:
    """Yield names and counts as texts or numbers, without a header."""
    rows = _cells(path, lines, dialect, what)
    values = [_number(count, dialect) for _, count in rows]
    header = values[0] is None and len(rows) > 1
    for (name, count), value in zip(rows[header:], values[header:], strict=True):
        yield name, count if value is None else value


def _cells(path: str, lines: Sequence[str], dialect: Dialect, what: str) -> list[list[str]]:
    """Return the two cells of every line that is not empty, with the first separator that gives two in every line."""
    for separator in dict.fromkeys((dialect.sep or SEPARATORS[0], *SEPARATORS)):
        try:
            rows = [row for row in csv.reader(lines, delimiter=separator) if any(map(str.strip, row))]
        except csv.Error as error:
            raise FileError.unreadable(path, str(error)) from None
        if rows and all(len(row) == 2 for row in rows):
            return rows
    place = next(place for place, line in enumerate(lines) if line.strip())
    raise FileError.no_columns_of_counts(path, lines[place], place, what)


def _number(text: str, dialect: Dialect) -> float | None:
    """Return a text as a number; None if it is none."""
    try:
        return float(text.replace(",", ".") if dialect.decimal == "," else text) if "_" not in text else None
    except ValueError:
        return None


def _count(path: str, name: str, value: Any) -> float:
    """Return a value as a count; raise ``FileError`` if it is not a positive number."""
    if not is_real(value) or not 0 < value <= LARGEST:
        raise FileError.no_count(path, name, value, LARGEST)
    return float(value)


def _factor(path: str, name: str, value: Any) -> float:
    """Return a value as a factor; raise ``FileError`` if it is not a number from 0 on."""
    if not is_real(value) or not 0 <= value <= LARGEST:
        raise FileError.no_factor(path, name, value, LARGEST)
    return float(value)
