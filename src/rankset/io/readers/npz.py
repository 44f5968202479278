"""Read ``.npz`` files: several NumPy arrays by name."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import FileError
from rankset.io.memory_budget import Budget
from rankset.io.readers import npy
from rankset.io.unreadable import unreadable_as_error

COMPRESSION_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Methods that NumPy uses; others decompress without a limit."""
MAX_RATIO = 1100
"""Largest compression ratio that deflate can reach; a larger one is a forged entry."""
ENTRY_BYTES = 16
"""Bytes that Python takes for every byte of the directory of a zip file."""


@dataclass(frozen=True)
class Archive:
    """The arrays of an .npz file by name, each checked before it is decompressed."""

    file: Path
    names: list[str]
    budget: Budget

    @classmethod
    def of(cls, file: Path, budget: Budget) -> Archive:
        """Read the names of the arrays."""
        with _LimitedFile(file, budget) as stream, zipfile.ZipFile(stream) as archive:
            entries = (info.filename for info in archive.infolist())
            return cls(file, [name.removesuffix(".npy") for name in entries if name.endswith(".npy")], budget)

    def read(self, name: str) -> NDArray[Any]:
        """Read one array."""
        path = str(self.file)
        if name not in self.names:
            raise FileError.no_key(path, name, sorted(self.names))
        with unreadable_as_error(path), zipfile.ZipFile(self.file) as archive:
            info = archive.getinfo(f"{name}.npy")
            if info.compress_type not in COMPRESSION_METHODS:
                raise FileError.unreadable(path, f"{name!r} is compressed by an unknown method (known: deflate)")
            if info.file_size > MAX_RATIO * max(1, info.compress_size) + 4096:
                raise FileError.bomb(path, name, info.compress_size, info.file_size)
            with archive.open(info) as stream:
                npy.check_header(stream, info.file_size, path, repr(name))
            self.budget.check(info.file_size)
            with archive.open(info) as stream:
                return npy.check_array(np.lib.format.read_array(stream, allow_pickle=False))


class _LimitedFile(io.FileIO):
    """A file whose zip directory is read at once, if that fits the budget."""

    def __init__(self, file: Path, budget: Budget) -> None:
        super().__init__(file)
        self.budget = budget

    def read(self, size: int | None = -1, /) -> bytes:
        """Read ``size`` bytes, if what Python makes of them fits the budget."""
        self.budget.check(ENTRY_BYTES * (size or 0))
        return super().read(size) or b""
