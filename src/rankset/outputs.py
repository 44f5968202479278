"""Sets on disk: csv, jsonl, parquet or npz, part by part, whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from rankset.errors import FileError
from rankset.sets import PredictionSets

BETWEEN = "|"
"""Between the labels of a set in a csv cell."""


def write(path: Path, parts: Iterable[PredictionSets], *, force: bool = False) -> int:
    """Writes a row per set (its size, its most likely label, its labels), and tells how many there are."""
    kind = path.suffixes[-2] if path.suffix == ".gz" and len(path.suffixes) > 1 else path.suffix
    if kind not in WRITERS:
        raise FileError.unknown_kind(str(path), tuple(WRITERS))
    rows = 0
    with ExitStack() as stack:
        file = stack.enter_context(draft(path, force=force))
        if path.suffix == ".gz":
            file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", mtime=0))
        writer = WRITERS[kind](file)
        for sets in parts:
            writer.add(sets)
            rows += len(sets)
        writer.close()
    return rows


def stream(file: Any, parts: Iterable[PredictionSets]) -> None:
    """Writes csv to an open file."""
    writer = Csv(file)
    for sets in parts:
        writer.add(sets)
    writer.close()


@contextmanager
def draft(path: Path, *, force: bool) -> Iterator[Any]:
    """A file beside ``path`` that takes its place when all is written, and vanishes if anything goes wrong."""
    if path.exists() and not force:
        raise FileError.exists(str(path))
    beside = path.with_name(f".{os.urandom(8).hex()}.draft")
    try:
        file = beside.open("xb")
    except OSError as error:
        raise FileError.unwritable(str(path), error.strerror or str(error)) from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink()


class Writer(ABC):
    """Sets in one kind of file."""

    def __init__(self, file: Any) -> None:
        self.file = file

    @abstractmethod
    def add(self, sets: PredictionSets) -> None:
        """More rows."""

    def close(self) -> None:
        """The end of the rows."""
        self.file.flush()


class Csv(Writer):
    """size, top, labels; labels joined by ``|``."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.text = io.TextIOWrapper(file, encoding="utf-8", newline="", errors="replace", write_through=True)
        self.writer = csv.writer(self.text)
        self.writer.writerow(("size", "top", "labels"))

    def add(self, sets: PredictionSets) -> None:
        for names in sets.to_lists():
            self.writer.writerow((len(names), names[0] if names else "", BETWEEN.join(map(str, names))))

    def close(self) -> None:
        self.text.detach()


class JsonLines(Writer):
    """An object per line."""

    def add(self, sets: PredictionSets) -> None:
        for names in sets.to_lists():
            row = {"size": len(names), "top": names[0] if names else None, "labels": names}
            self.file.write(json.dumps(row).encode() + b"\n")


class Parquet(Writer):
    """The columns of ``PredictionSets.to_frame``."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.writer: Any = None

    def add(self, sets: PredictionSets) -> None:
        try:
            from pyarrow import parquet
        except ImportError:
            raise FileError.no_pyarrow("a .parquet file") from None
        table = sets.to_frame("pyarrow")
        if self.writer is None:
            self.writer = parquet.ParquetWriter(self.file, table.schema)
        self.writer.write_table(table.cast(self.writer.schema))

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


class Npz(Writer):
    """offsets, codes and classes: row i holds the classes ``codes[offsets[i]:offsets[i + 1]]``."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.parts: list[PredictionSets] = []

    def add(self, sets: PredictionSets) -> None:
        self.parts.append(sets)

    def close(self) -> None:
        sets = PredictionSets.concat(self.parts)
        names = sets.classes.astype(str) if sets.classes.dtype == object else sets.classes
        np.savez_compressed(self.file, offsets=sets.offsets, codes=sets.codes, classes=names)


WRITERS: Final[Mapping[str, type[Writer]]] = {".csv": Csv, ".jsonl": JsonLines, ".parquet": Parquet, ".npz": Npz}
