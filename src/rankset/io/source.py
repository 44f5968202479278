"""The bytes of a file or of standard input, decompressed where the name ends in ``.gz``, and text as UTF-8."""

from __future__ import annotations

import gzip
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankset.io.dialect import PLAIN_ENCODING, RECOGNISED, Dialect
from rankset.io.encodings import as_utf8
from rankset.io.memory_budget import Budget


@dataclass(frozen=True)
class Source:
    """The bytes of ``file``, or ``data`` if there is no file; ``budget`` limits the memory for reading them.

    ``header``: the first line of a csv file holds the names of the columns. ``dialect``: what the user said about the
    text. ``sheet``: the name or number of the sheet of a workbook. ``encoding``: that of the text; readers get UTF-8.
    """

    budget: Budget
    file: Path | None = None
    data: bytes = b""
    header: bool = True
    dialect: Dialect = RECOGNISED
    sheet: str | None = None
    encoding: str = PLAIN_ENCODING

    def with_encoding(self, encoding: str) -> Source:
        """Return the same source as text in an encoding."""
        return replace(self, encoding=encoding)

    @property
    def is_gzipped(self) -> bool:
        """Whether the file is compressed with gzip, by its name."""
        return self.file is not None and self.file.suffix.lower() == ".gz"

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Open the decompressed bytes as a Python file; text as UTF-8."""
        with self._open_bytes() as stream:
            if self.encoding == PLAIN_ENCODING:
                yield stream
            else:
                yield as_utf8(stream, self.encoding, self.budget.path)

    @contextmanager
    def _open_bytes(self) -> Iterator[Any]:
        if self.file is None:
            yield io.BytesIO(self.data)
            return
        with gzip.open(self.file) if self.is_gzipped else self.file.open("rb") as stream:
            yield stream

    @contextmanager
    def open_for_arrow(self) -> Iterator[Any]:
        """Open the decompressed bytes as a pyarrow file, whose threads need not wait for Python; text as UTF-8."""
        import pyarrow as pa

        if self.encoding != PLAIN_ENCODING:
            with self.open() as stream:
                yield pa.PythonFile(stream, mode="r")
            return
        if self.file is None:
            yield pa.BufferReader(self.data)
            return
        with pa.OSFile(os.fsencode(self.file)) as file:
            yield pa.CompressedInputStream(file, "gzip") if self.is_gzipped else file

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        """Path of a file with the decompressed bytes; a temporary file unless the source is such a file itself."""
        if self.file is not None and not self.is_gzipped:
            yield self.file
            return
        with tempfile.TemporaryDirectory(prefix="rankset-", ignore_cleanup_errors=True) as folder:
            path, size = Path(folder) / "decompressed", 0
            with path.open("wb") as copy, self.open() as stream:
                while part := stream.read(1 << 20):
                    size += len(part)
                    self.budget.check(size)
                    copy.write(part)
            yield path
