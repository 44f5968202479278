"""The bytes of a file or of standard input, decompressed where the name ends in ``.gz``."""

from __future__ import annotations

import gzip
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankset.io.memory_budget import Budget


@dataclass(frozen=True)
class Source:
    """The bytes of ``file``, or ``data`` if there is no file; ``budget`` limits the memory for reading them.

    ``header``: the first line of a csv file holds the names of the columns.
    """

    budget: Budget
    file: Path | None = None
    data: bytes = b""
    header: bool = True

    @property
    def is_gzipped(self) -> bool:
        """Whether the file is compressed with gzip, by its name."""
        return self.file is not None and self.file.suffix.lower() == ".gz"

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Open the decompressed bytes as a Python file."""
        if self.file is None:
            yield io.BytesIO(self.data)
            return
        with gzip.open(self.file) if self.is_gzipped else self.file.open("rb") as stream:
            yield stream

    @contextmanager
    def open_for_arrow(self) -> Iterator[Any]:
        """Open the decompressed bytes as a pyarrow file, whose threads need not wait for Python."""
        import pyarrow as pa

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
