"""Check the parts of a workbook (.xlsx) before it is parsed: what they unpack to, and what parsing them takes.

A workbook is a zip file of XML files. Parts are unpacked piece by piece and only looked at as bytes: the tags are
counted, and what no spreadsheet program writes (document types with entities, other encodings) is refused.
"""

from __future__ import annotations

import re
import zipfile
from typing import Any

from rankset.errors import FileError
from rankset.io.memory_budget import Budget
from rankset.io.readers.npz import COMPRESSION_METHODS, MAX_RATIO

PIECE = 1 << 20
OVERLAP = 64
"""Bytes of a piece that are looked at again together with the next one."""
ENTRY_BYTES = 2000
"""Bytes that Python takes for a part of the zip file."""
MAX_PARTS = 10_000
TAG_BYTES = 700
"""Bytes that a tag of a part that is read at once takes: an element, its attributes, and what openpyxl makes of it."""
ROW_BYTES = 450
"""Bytes that a row of a sheet leaves behind, besides its cells."""
SHEET = re.compile(r"(?:.*/)?worksheets/[^/]+\.xml")
DECLARED = re.compile(rb"""^(?:\xef\xbb\xbf)?\s*<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']""")
ENCODINGS = (b"utf-8", b"us-ascii", b"ascii")
DOCUMENT_TYPE = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def check_workbook(stream: Any, budget: Budget) -> bool:
    """Refuse a workbook that takes more memory than the budget; return whether one of its sheets has formulas."""
    formulas, needed = False, 0
    with zipfile.ZipFile(stream) as archive:
        entries = archive.infolist()
        if len(entries) > MAX_PARTS:
            raise FileError.unreadable(budget.path, f"it has more than {MAX_PARTS:,} parts")
        for info in entries:
            _check_entry(info, budget)
            if info.filename.lower().endswith((".xml", ".rels")):
                cost, found = _check_part(archive, info, budget)
                needed += ENTRY_BYTES + cost
                formulas = formulas or found
                budget.check(needed)
    return formulas


def _check_entry(info: zipfile.ZipInfo, budget: Budget) -> None:
    """Refuse a part with a forged size, or that is packed by a method which unpacks without a limit."""
    if info.compress_type not in COMPRESSION_METHODS or info.flag_bits & 1:
        raise FileError.unreadable(budget.path, f"{info.filename!r} is encrypted, or packed by an unknown method")
    if info.file_size > MAX_RATIO * max(1, info.compress_size) + 4096:
        raise FileError.bomb(budget.path, info.filename, info.compress_size, info.file_size)


def _check_part(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget) -> tuple[int, bool]:
    """Return the bytes that parsing a part takes, and whether it has formulas."""
    is_sheet = SHEET.fullmatch(info.filename) is not None
    tags = rows = in_row = most_in_row = size = 0
    formulas, rest = False, b""
    with archive.open(info) as part:
        while piece := part.read(PIECE):
            joined = rest + piece
            if not rest:
                _check_start(joined, budget.path, info.filename)
            if DOCUMENT_TYPE.search(joined):
                raise FileError.unreadable(budget.path, f"{info.filename!r} has a document type")
            formulas = formulas or (is_sheet and (b"<f>" in joined or b"<f " in joined or b":f" in joined))
            size, tags, rows = size + len(piece), tags + piece.count(b"<"), rows + piece.count(b"<row")
            first, *others = piece.split(b"<row") if is_sheet else [piece]
            in_row += first.count(b"<")
            most_in_row = max(most_in_row, in_row, *(other.count(b"<") for other in others))
            in_row = others[-1].count(b"<") if others else in_row
            rest = joined[-OVERLAP:]
            budget.check(TAG_BYTES * (most_in_row if is_sheet else tags) + size * (not is_sheet))
    return (TAG_BYTES * most_in_row + ROW_BYTES * rows if is_sheet else TAG_BYTES * tags + 2 * size), formulas


def _check_start(start: bytes, path: str, name: str) -> None:
    """Refuse a part whose bytes are not what they look like: another encoding than UTF-8."""
    declared = DECLARED.match(start)
    if b"\0" in start[:OVERLAP] or (declared is not None and declared[1].lower() not in ENCODINGS):
        raise FileError.unreadable(path, f"{name!r} is not UTF-8")
