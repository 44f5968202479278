"""Check the parts of a workbook (.xlsx) before it is parsed: what they unpack to, and what parsing them takes.

A workbook is a zip file of XML files. Parts are unpacked piece by piece and only looked at as bytes: the tags are
counted, and what no spreadsheet program writes (document types with entities, other encodings) is refused.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
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
ELEMENT_BYTES = 300
"""Bytes that an XML element of a sheet or of the texts takes; measured: 80 to 200."""
OTHER_ELEMENT_BYTES = 1500
"""Bytes that an element of another part takes, styles mostly; measured: 300 to 850."""
ROW_BYTES = 700
"""Bytes that a row of a sheet leaves behind, besides its cells; measured: up to 650."""
COPIES = 5
"""Copies of the bytes of a row, or of all texts, that are in memory at a time."""
SHEET = re.compile(r"(?:.*/)?worksheets/[^/]+\.xml", re.IGNORECASE)
TEXTS = re.compile(r"(?:.*/)?sharedStrings\.xml", re.IGNORECASE)
ROW = b"<row"
DECLARED = re.compile(rb"""^(?:\xef\xbb\xbf)?\s*<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']""")
ENCODINGS = (b"utf-8", b"us-ascii", b"ascii")
FORMULA = re.compile(rb"<(?:[A-Za-z0-9_]+:)?f[\s/>]")
DOCUMENT_TYPE = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def check_workbook(stream: Any, budget: Budget) -> tuple[int, bool]:
    """Refuse a workbook that takes more memory than the budget.

    Return the bytes that parsing it takes, besides the cells, and whether one of its sheets has formulas.
    """
    formulas, needed = False, 0
    with zipfile.ZipFile(stream) as archive:
        entries = archive.infolist()
        if len(entries) > MAX_PARTS:
            raise FileError.unreadable(budget.path, f"it has more than {MAX_PARTS:,} parts")
        for info in entries:
            _check_entry(info, budget)
            needed += ENTRY_BYTES
            if info.filename.lower().endswith((".xml", ".rels")):
                part = _check_part(archive, info, budget.with_taken(needed))
                needed += part.cost
                formulas = formulas or part.has_formulas
    return needed, formulas


def _check_entry(info: zipfile.ZipInfo, budget: Budget) -> None:
    """Refuse a part with a forged size, or that is packed by a method which unpacks without a limit."""
    if info.compress_type not in COMPRESSION_METHODS or info.flag_bits & 1:
        raise FileError.unreadable(budget.path, f"{info.filename!r} is encrypted, or packed by an unknown method")
    if info.file_size > MAX_RATIO * max(1, info.compress_size) + 4096:
        raise FileError.bomb(budget.path, info.filename, info.compress_size, info.file_size)


@dataclass
class _Part:
    """What was counted in a part: elements and bytes, of a sheet in the largest of its rows, and rows."""

    is_sheet: bool
    is_texts: bool
    has_formulas: bool = False
    rows: int = 0
    elements: int = 0
    size: int = 0
    most_elements: int = 0
    most_bytes: int = 0

    def add(self, piece: bytes) -> None:
        """Count what is in one more piece."""
        runs = piece.split(ROW) if self.is_sheet else [piece]
        for place, run in enumerate(runs):
            if place:
                self.rows, self.elements, self.size = self.rows + 1, 1, 0
            self.elements += run.count(b"<") - run.count(b"</")
            self.size += len(run)
            self.most_elements, self.most_bytes = (
                max(self.most_elements, self.elements),
                max(self.most_bytes, self.size),
            )

    @property
    def cost(self) -> int:
        """Bytes that parsing the part takes."""
        element = ELEMENT_BYTES if self.is_sheet or self.is_texts else OTHER_ELEMENT_BYTES
        return element * self.most_elements + COPIES * self.most_bytes + ROW_BYTES * self.rows


def _check_part(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget) -> _Part:
    """Count what is in a part, and refuse what no spreadsheet program writes."""
    name = info.filename
    part, rest = _Part(SHEET.fullmatch(name) is not None, TEXTS.fullmatch(name) is not None), b""
    with archive.open(info) as stream:
        while piece := stream.read(PIECE):
            joined = rest + piece
            if not rest:
                _check_start(joined, budget.path, name)
            if DOCUMENT_TYPE.search(joined):
                raise FileError.unreadable(budget.path, f"{name!r} has a document type")
            if part.is_sheet and FORMULA.search(joined):
                part.has_formulas = True
            part.add(piece)
            budget.check(part.cost)
            rest = joined[-OVERLAP:]
    return part


def _check_start(start: bytes, path: str, name: str) -> None:
    """Refuse a part whose bytes are not what they look like: another encoding than UTF-8."""
    declared = DECLARED.match(start)
    if b"\0" in start[:OVERLAP] or (declared is not None and declared[1].lower() not in ENCODINGS):
        raise FileError.unreadable(path, f"{name!r} is not UTF-8")
