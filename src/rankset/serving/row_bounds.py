"""Bounds of rows that are looked at before they are decoded: numbers of lists, objects, members and entries.

Decoding makes an object of Python for each of them, and nobody is answered meanwhile. Counting bytes takes a fraction
of that time. Whatever a rule can predict is within these bounds; what is beyond is refused as it would be after
decoding.
"""

from __future__ import annotations

import re

import msgspec

from rankset.errors import Place
from rankset.rules.spec import RuleSpec
from rankset.serving.client_words import numbers_of_rows
from rankset.serving.refusals import Refused

FEW = 10_000
"""So many members or entries are decoded at once, so that errors can name the one that is wrong."""
TEXTS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
"""Texts of JSON, which may have commas in them."""
SPACE = b" \t\r\n"


def check_bounds(raw: msgspec.Raw, spec: RuleSpec, most: int) -> None:
    """Raise ``Refused`` if rows have more lists, objects, members or entries than ``most`` rows of a rule."""
    text = bytes(raw)
    first, second = first_signs(text)
    if max(text.count(b","), text.count(b"["), text.count(b"{")) < FEW:
        return
    if first == b"{":
        _check_columns(text, spec, most)
    elif first == b"[" and second == b"{":
        _check_objects(text, spec, most)
    elif first == b"[":
        _check_lists(text, spec, most)


class PerRow(msgspec.Struct):  # type: ignore[misc]
    """Members of bodies that have an entry for each row, not decoded."""

    ids: msgspec.Raw = msgspec.Raw(b"")
    groups: msgspec.Raw = msgspec.Raw(b"")
    labels: msgspec.Raw = msgspec.Raw(b"")


def check_lists(body: bytes, most: int) -> None:
    """Raise ``Refused`` if ids, groups or labels have more entries than ``most``, before they are decoded."""
    if body.count(b",") <= max(FEW, most):
        return
    try:
        found = msgspec.json.decode(body, type=PerRow)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return  # the decoder of the body says what is wrong
    for name in PerRow.__struct_fields__:
        text = bytes(getattr(found, name))
        if text.count(b",") <= max(FEW, most):
            continue
        if text.count(b'","') > 2 * max(FEW, most):  # these stand between texts, or are a text that is one comma
            raise Refused.large(f"the number of {name}", most)
        entries = TEXTS.sub(b"", text).count(b",") + 1
        if entries > max(FEW, most):
            raise Refused.large(f"the number of {name}", most, f"{entries:,}")


def first_signs(text: bytes) -> tuple[bytes, bytes]:
    """Return the first two characters that are no space."""
    rest = text.lstrip(SPACE)
    return rest[:1], rest[1:200].lstrip(SPACE)[:1] or rest[1:].lstrip(SPACE)[:1]


def _in_names(sign: str, spec: RuleSpec) -> int:
    """Return how often a character stands in the names of all classes."""
    return sum(str(name).count(sign) for name in spec.classes.values)


def _check_lists(text: bytes, spec: RuleSpec, most: int) -> None:
    rows = text.count(b"[") - 1
    width = 1 if spec.kind == "binary" else spec.n_columns
    commas = text.count(b",")
    if rows > most:
        raise Refused.large("the number of rows", most, f"{rows:,}")
    if rows == 0 and spec.kind == "binary" and commas >= most:
        raise Refused.large("the number of rows", most, f"{commas + 1:,}")
    if rows and commas > max(FEW, rows * width):
        _refuse_widest(text, spec, width)


def _refuse_widest(text: bytes, spec: RuleSpec, width: int) -> None:
    """Refuse the first row that has another width; the commas of the lists say which."""
    start = text.find(b"[", text.find(b"[") + 1)
    row = 0
    while start >= 0:
        end = text.find(b"]", start)
        received = text.count(b",", start, end) + 1
        if received > width:
            raise other_width(received, spec, row)
        start, row = text.find(b"[", end), row + 1


def _check_objects(text: bytes, spec: RuleSpec, most: int) -> None:
    rows, members = text.count(b"{"), text.count(b":")
    if rows > most * (1 + _in_names("{", spec)):
        raise Refused.large("the number of rows", most)
    if members > max(FEW, rows * (spec.n_columns + _in_names(":", spec))):
        raise too_many_members(spec)


def _check_columns(text: bytes, spec: RuleSpec, most: int) -> None:
    classes = spec.n_columns
    if text.count(b":") > max(FEW, classes + _in_names(":", spec)):
        expected, remedy = "be the classes of GET /rule, all of them", "Send a list of numbers for every class."
        raise Refused.field("columns of rows", expected, "more of them", remedy=remedy)
    lists, entries = text.count(b"["), text.count(b",")
    if lists > max(FEW, classes + _in_names("[", spec)) or entries > classes * most + _in_names(",", spec):
        raise Refused.large("the number of rows", most)


def other_width(received: int, spec: RuleSpec, row: int | None = None) -> Refused:
    """Return the error for a row that has another number of entries."""
    remedy = "Send one number per class, in the order of GET /rule."
    expected = f"have {spec.n_columns:,} numbers, one per class"
    if spec.kind == "binary":
        expected, remedy = "have one number", numbers_of_rows(spec)
    return Refused.field("each row", expected, f"{received:,}", Place(row=row), remedy)


def too_many_members(spec: RuleSpec, received: int | None = None, row: int | None = None) -> Refused:
    """Return the error for an object that has more members than there are classes."""
    expected = f"have at most {spec.n_columns:,} members, one per class"
    said = "more" if received is None else f"{received:,}"
    return Refused.field("each row", expected, said, Place(row=row), "GET /rule lists the classes.")
