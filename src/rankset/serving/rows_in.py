"""Rows of a request as a matrix of the columns of a rule: lists, objects by class, or columns by class."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from rankset.errors import Place, short_repr
from rankset.inputs.named_rows import match_columns
from rankset.inputs.vocabulary import Name
from rankset.rules.spec import RuleSpec
from rankset.serving.client_words import near_name, numbers_of_rows
from rankset.serving.json_bodies import check_repeated, decode
from rankset.serving.refusals import Refused
from rankset.serving.row_bounds import FEW, SPACE, check_bounds, first_signs, other_width, too_many_members

Matrix = NDArray[Any]
T = TypeVar("T")
FORMS = "a list of rows, each a list of numbers or an object with a number per class; or an object of columns"


def rows_of(raw: msgspec.Raw, spec: RuleSpec, most: int, numbers: float = math.inf) -> Matrix:
    """Return rows of JSON as float64: (n, K), or (n,) for kind "binary"; ``numbers`` is the most of rows times K."""
    check_bounds(raw, spec, most)
    text = bytes(raw)
    first, second = first_signs(text)
    if first == b"[" and second == b"{":
        return _of_objects(raw, spec, most, numbers)
    check_numbers(text.count(b",") + 1, numbers)
    if first == b"{":
        return _of_columns(raw, spec, most)
    if first == b"[" and second in (b"[", b"]"):
        return matrix_of(_of_lists(raw, spec, most), spec, most)
    if first == b"[" and spec.kind == "binary":
        return np.array(_limited(decode(raw, list[float], "rows", ["rows"]), most), dtype=np.float64)
    received = _called(first, second)
    if spec.kind == "binary":
        raise Refused.field("rows", "be a list of numbers", received, remedy=numbers_of_rows(spec))
    raise Refused.field("rows", f"be {FORMS}", received, remedy="One row is [[0.7, 0.3]], not [0.7, 0.3].")


def check_numbers(count: int, most: float) -> None:
    """Raise ``Refused`` if rows times classes are too many."""
    if count > most:
        raise Refused.large("rows times classes", int(most), f"{count:,}")


def _called(first: bytes, second: bytes) -> str:
    """Return what rows are instead, by their first characters."""
    called = {b'"': "texts", b"n": "null", b"t": "true", b"f": "false"}
    if first == b"[":
        return f"a list of {called.get(second, 'numbers')}"
    return {b'"': "a text", b"n": "null", b"t": "true", b"f": "false"}.get(first, "a number")


def _limited(rows: list[Any], most: int) -> list[Any]:
    if len(rows) > most:
        raise Refused.large("the number of rows", most, f"{len(rows):,}")
    return rows


def _of_lists(raw: msgspec.Raw, spec: RuleSpec, most: int) -> Matrix:
    rows: list[list[float]] = _limited(decode(raw, list[list[float]], "rows", ["rows"]), most)
    width = 1 if spec.kind == "binary" else spec.n_columns
    for number, row in enumerate(rows):
        if len(row) != width:
            raise other_width(len(row), spec, number)
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)


def matrix_of(matrix: Matrix, spec: RuleSpec, most: int) -> Matrix:
    """Return an array as the rows of a rule; raise an error if it has another shape."""
    if matrix.ndim == 1 and spec.kind != "binary":
        raise Refused.field("the array", f"have two axes, rows and {spec.n_columns:,} classes", f"shape {matrix.shape}")
    if matrix.ndim == 2 and matrix.shape[1] != (1 if spec.kind == "binary" else spec.n_columns):
        raise other_width(matrix.shape[1], spec)
    if len(matrix) > most:
        raise Refused.large("the number of rows", most, f"{len(matrix):,}")
    return matrix[:, 0] if spec.kind == "binary" and matrix.ndim == 2 else matrix


def _classes_by_text(spec: RuleSpec) -> dict[str, Name]:
    """Return class names by the texts with which JSON writes them as names of members."""
    others = {str(name): name for name in spec.classes.values if not isinstance(name, str)}
    others |= {str(name).lower(): name for name in spec.classes.values if isinstance(name, bool)}  # as JSON writes them
    return {**others, **{name: name for name in spec.classes.values if isinstance(name, str)}}


def _check_named(spec: RuleSpec) -> None:
    if spec.kind == "binary":
        raise Refused.field("rows", "be numbers for this rule", "numbers by class", remedy=numbers_of_rows(spec))


def _decoded(raw: msgspec.Raw, kind: type[T]) -> T:
    """Return numbers by class; an error names the class of the first entry that is something else."""
    try:
        return decode(raw, kind, "rows", ["rows"])
    except Refused as error:
        row, name = _wrong_entry(raw)
        if name is not None:
            error.where = Place(row=row, column=name.encode("utf-8", "backslashreplace").decode()[:100])
        raise


def _wrong_entry(raw: msgspec.Raw) -> tuple[int | None, str | None]:
    """Return the row and the class of the first entry that is no number; None for both if there is none."""
    try:
        found = decode(raw, dict[str, Any] if bytes(raw).lstrip(SPACE)[:1] == b"{" else list[Any])
    except Refused:
        return None, None
    if isinstance(found, dict):
        for name, column in found.items():
            for row, value in enumerate(column) if isinstance(column, list) else [(None, None)]:
                if type(value) not in (int, float):
                    return row, name
    for row, named in enumerate(found) if isinstance(found, list) else ():
        if not isinstance(named, dict):
            break
        for name, value in named.items():
            if type(value) not in (int, float):
                return row, name
    return None, None


def _of_objects(raw: msgspec.Raw, spec: RuleSpec, most: int, numbers: float) -> Matrix:
    _check_named(spec)
    rows = _limited(_decoded(raw, list[dict[str, float]]), most)
    check_numbers(len(rows) * spec.n_columns, numbers)
    for number, row in enumerate(rows):
        if len(row) > max(FEW, spec.n_columns):
            raise too_many_members(spec, len(row), number)
    check_repeated(raw)
    names = _classes_by_text(spec)
    named = [_by_class(row, names, "each row", number) for number, row in enumerate(rows)]
    known = set(spec.classes.values)
    for number, row in enumerate(named):
        if not row.keys() <= known:
            raise _unknown_class(next(name for name in row if name not in known), spec, "each row", number)
    return match_columns(named, spec.classes.values, spec.kind, "rows")[0]


def _unknown_class(name: object, spec: RuleSpec, what: str, row: int | None = None) -> Refused:
    """Return the error for a number that is of no class."""
    expected, received = "have names of classes of GET /rule alone", f"{short_repr(name)}, which is no class"
    remedy = near_name(name, spec.classes.values) or "GET /rule lists the classes."
    return Refused.field(what, expected, received, Place(row=row), remedy)


def _by_class(named: dict[str, T], names: dict[str, Name], what: str, row: int | None = None) -> dict[Name, T]:
    """Return members by class; raise an error if a class is named twice, in two spellings."""
    found = {names.get(text, text): value for text, value in named.items()}
    if len(found) < len(named):
        raise Refused.field(what, "have every class once", "one in two spellings", Place(row=row))
    return found


def _of_columns(raw: msgspec.Raw, spec: RuleSpec, most: int) -> Matrix:
    _check_named(spec)
    columns = _decoded(raw, dict[str, list[float]])
    check_repeated(raw)
    names = _classes_by_text(spec)
    found = _by_class(columns, names, "columns of rows")
    known = set(spec.classes.values)
    unknown = [name for name in found if name not in known]
    missing = [name for name in spec.classes.values if name not in found]
    if unknown:
        raise _unknown_class(unknown[0], spec, "columns of rows")
    if missing:
        received = f"no column {missing[0]!r}"[:200]
        remedy = "Send a list of numbers for every class, also for those whose numbers are all 0."
        raise Refused.field("columns of rows", "be the classes of GET /rule, all of them", received, remedy=remedy)
    lengths = {len(values) for values in found.values()}
    if len(lengths) > 1:
        raise Refused.field("columns of rows", "have the same length", f"{min(lengths):,} and {max(lengths):,}")
    _limited(next(iter(found.values())), most)
    return np.array([found[name] for name in spec.classes.values], dtype=np.float64).T.copy()
