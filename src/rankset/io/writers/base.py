"""What every writer of sets, or of other columns, does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from rankset.sets import PredictionSets

KeptColumns = Mapping[str, Any]
"""Columns of the input that are written before those of the sets, by name: NumPy arrays or Arrow columns."""
SetsAndKept = tuple[PredictionSets, KeptColumns]
"""The sets of some rows, and the kept columns of the same rows."""


class Writer(ABC):
    """Writes sets, or other columns, to an open file; ``path`` names it in errors."""

    def __init__(self, file: Any, path: str) -> None:
        self.file, self.path = file, path

    @abstractmethod
    def add(self, sets: PredictionSets, kept: KeptColumns) -> None:
        """Write more rows."""

    @abstractmethod
    def add_columns(self, own: KeptColumns, kept: KeptColumns) -> None:
        """Write more rows that have no sets: the kept columns, and then those of rankset."""

    def close(self) -> None:
        """Finish the file, without closing it."""
        self.file.flush()
