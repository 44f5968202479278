"""How text is written in a file: the separator of cells, the decimal mark of numbers, and the encoding."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from rankset.errors import KindError
from rankset.errors.fields import Either

SEPARATORS = (",", ";", "\t", "|")
"""Separators that are recognised."""
SEPARATOR_NAMES = {"tab": "\t", "\\t": "\t"}
"""Words for separators that are hard to type."""
DECIMALS = (".", ",")
PLAIN_ENCODING = "utf-8"
NOT_FOR_FILES = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})
"""Text encodings of Python that no program uses for files; some unpack to more text than there are bytes."""


@dataclass(frozen=True)
class Dialect:
    """What users say about the text of their files; None where it is to be recognised.

    ``sep`` separates cells, ``decimal`` stands before the decimals of a number ("." or ","), ``encoding`` is the name
    of a text encoding of Python.
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    @classmethod
    def of(cls, sep: str | None, decimal: str | None, encoding: str | None) -> Dialect:
        """Return the checked dialect; "tab" and the two characters ``\\t`` stand for a tab."""
        found = cls(
            None if sep is None else _separator(sep),
            None if decimal is None else _decimal(decimal),
            None if encoding is None else _encoding(encoding),
        )
        if found.sep is not None and found.sep == found.decimal:
            expected = ("different from the decimal mark", Either(" (sep=..., decimal=...)", " (--sep, --decimal)"))
            raise KindError.argument("the separator", expected, sep)
        return found


RECOGNISED = Dialect()
"""Nothing is said: everything is recognised."""


@dataclass
class Recognised:
    """What was recognised in a file and differs from the usual: comma (tab in .tsv), decimal point, UTF-8.

    Fields are filled while the file is read; None means as usual, or as the user said. ``one_column``: the separator
    does not occur, because there is one column only. ``whole``: all scores are whole numbers, so that no decimal mark
    was seen; it is found in files with semicolons only.
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    one_column: bool = False
    whole: bool = False

    def __bool__(self) -> bool:
        return any(part is not None for part in (self.sep, self.decimal, self.encoding)) or self.one_column


def _separator(text: str) -> str:
    sep = SEPARATOR_NAMES.get(text, text) if isinstance(text, str) else ""
    if len(sep) != 1 or not sep.isascii() or sep.isalnum() or sep in "\"'.+-_\r\n\0":
        expected = ("one character such as ; or , or | or the word tab", Either(" (sep=...)", " (--sep)"))
        raise KindError.argument("the separator", expected, text)
    return sep


def _decimal(text: str) -> str:
    if text not in DECIMALS:
        expected = (". or ,", Either(" (decimal=...)", " (--decimal)"))
        raise KindError.argument("the decimal mark", expected, text)
    return text


def _encoding(text: str) -> str:
    """Return the name that Python uses for an encoding of text files; utf-8 for all that read UTF-8."""
    try:
        found = codecs.lookup(text)
        "".encode(text)  # codecs that are no text encodings refuse
    except (LookupError, TypeError, ValueError):
        found = None
    if found is None or found.name.replace("_", "-") in NOT_FOR_FILES:
        expected = "the name of a text encoding, such as utf-8, cp1252, utf-16 or latin-1"
        raise KindError.argument("the encoding", (expected, Either(" (encoding=...)", " (--encoding)")), text)
    return PLAIN_ENCODING if found.name in ("utf-8", "utf-8-sig") else found.name
