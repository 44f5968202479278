"""Encodings of text files: which one a file has, and its bytes as UTF-8.

Readers get UTF-8. A mark at the start of the file tells UTF-8, UTF-16 and UTF-32; other files are UTF-8 or, if their
bytes cannot be that, cp1252, the encoding of Excel's csv files in western Europe and America.
"""

from __future__ import annotations

import codecs
import io
import re
from typing import Any

from rankset.errors import FileError
from rankset.io.dialect import PLAIN_ENCODING

FALLBACK = "cp1252"
"""Encoding of files that are not UTF-8."""
MARKS = {
    codecs.BOM_UTF8: PLAIN_ENCODING,
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Marks at the start of a file; those of UTF-32 come first, because that of UTF-16 is the start of one of them."""
HEAD = 4096
"""Bytes that are looked at for zeros, which tell UTF-16 without a mark."""
PART = 1 << 20
UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


def encoding_of(head: bytes) -> str:
    """Return the encoding that the first bytes of a file tell; UTF-8 if they tell nothing."""
    for mark, name in MARKS.items():
        if head.startswith(mark):
            return name
    first, second = head[:HEAD:2], head[1:HEAD:2]
    if len(head) < 4:
        return PLAIN_ENCODING
    if 2 * second.count(0) > len(second) and not first.count(0):
        return "utf-16-le"
    if 2 * first.count(0) > len(first) and not second.count(0):
        return "utf-16-be"
    return PLAIN_ENCODING


def encoding_of_other(path: str, stream: Any) -> str:
    """Return the encoding of a file that is not UTF-8: cp1252, unless its bytes tell that it cannot be.

    A file with letters of UTF-8 besides the other bytes is refused: one of the two readings has wrong letters.
    """
    decoder, letter, rest = codecs.getincrementaldecoder(FALLBACK)(), None, b""
    while part := stream.read(PART):
        try:
            decoder.decode(part)
        except UnicodeDecodeError:
            raise FileError.unknown_encoding(path) from None
        found = UTF8_LETTER.search(rest + part)
        letter = letter or (None if found is None else found[0])
        rest = part[-3:]
    if letter is None:
        return FALLBACK
    try:
        raise FileError.two_encodings(path, letter.decode(PLAIN_ENCODING), letter.decode(FALLBACK, "replace"))
    except UnicodeDecodeError:  # half of a surrogate pair, which UTF-8 does not have
        raise FileError.unknown_encoding(path) from None


def as_utf8(stream: Any, encoding: str, path: str) -> Any:
    """Return a stream of the same text in UTF-8, without the mark at its start."""
    return io.BufferedReader(_Recoded(stream, encoding, path), PART)


class _Recoded(io.RawIOBase):
    """The text of ``stream`` in UTF-8."""

    def __init__(self, stream: Any, encoding: str, path: str) -> None:
        self.stream, self.encoding, self.path = stream, encoding, path
        self.decoder = codecs.getincrementaldecoder(encoding)()
        self.waiting, self.at_start, self.at_end = b"", True, False

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        """Fill ``target`` with bytes of UTF-8; return their number, 0 at the end."""
        while not self.waiting and not self.at_end:
            self._read_more()
        count = min(len(target), len(self.waiting))
        target[:count] = self.waiting[:count]
        self.waiting = self.waiting[count:]
        return count

    def _read_more(self) -> None:
        part = self.stream.read(PART // 4)
        self.at_end = not part
        try:
            text = self.decoder.decode(part, final=self.at_end)
            if text and self.at_start:
                text, self.at_start = text.removeprefix("\ufeff"), False
            self.waiting = text.encode(PLAIN_ENCODING)
        except ValueError:  # UnicodeError: bytes that the encoding does not have, half of a letter at the end
            raise FileError.undecodable(self.path, self.encoding) from None
