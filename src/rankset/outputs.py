"""Sets on disk: csv, jsonl, parquet or npz, part by part, whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rankset import arrow, atomic
from rankset.errors import FileError
from rankset.sets import PredictionSets

BETWEEN = "|"
"""Between the labels of a set in a csv cell."""


OWN = ("size", "top", "labels")
"""The columns of sets."""

Beside = Mapping[str, NDArray[Any]]
"""Columns of the rows that are written before those of their sets."""


Part = tuple[PredictionSets, Beside]
"""Some sets, and the columns beside them."""


def write(path: Path, parts: Iterable[Part], *, force: bool = False) -> int:
    """Writes a row per set (its size, its most likely label, its labels), and tells how many there are."""
    kind = path.suffixes[-2] if path.suffix == ".gz" and len(path.suffixes) > 1 else path.suffix
    if kind not in WRITERS or (path.suffix == ".gz" and kind not in TEXTS):
        raise FileError.unknown_kind(str(path), tuple(WRITERS))
    with ExitStack() as stack:
        file = stack.enter_context(draft(path, force=force))
        if path.suffix == ".gz":
            file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", mtime=0))
        return _written(WRITERS[kind](file, str(path)), parts)


def stream(file: Any, parts: Iterable[Part]) -> None:
    """Writes csv to an open file."""
    _written(Csv(file, "standard output"), parts)


def _written(writer: Writer, parts: Iterable[Part]) -> int:
    rows = 0
    try:
        for sets, beside in parts:
            _check_names(beside)
            writer.add(sets, beside)
            rows += len(sets)
    except BaseException:
        with suppress(Exception):
            writer.close()
        raise
    writer.close()
    return rows


def _check_names(beside: Beside) -> None:
    for name in beside:
        if name in OWN:
            raise FileError.taken(name)


@contextmanager
def draft(path: Path, *, force: bool) -> Iterator[Any]:
    """``atomic.draft``, with what the system refuses told as a ``FileError``."""
    try:
        with atomic.draft(path, force=force) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FileError.unwritable(str(path), error.strerror or str(error)) from None


class Writer(ABC):
    """Sets in one kind of file."""

    def __init__(self, file: Any, path: str) -> None:
        self.file, self.path = file, path

    @abstractmethod
    def add(self, sets: PredictionSets, beside: Beside) -> None:
        """More rows."""

    def close(self) -> None:
        """The end of the rows."""
        self.file.flush()


class Csv(Writer):
    """size, top, labels; labels joined by ``|``."""

    def __init__(self, file: Any, path: str) -> None:
        super().__init__(file, path)
        self.text = io.TextIOWrapper(file, encoding="utf-8", newline="", errors="replace", write_through=True)
        self.writer: Any = None

    def add(self, sets: PredictionSets, beside: Beside) -> None:
        if self.writer is None:
            for name in sets.names.values:
                if BETWEEN in str(name):
                    raise FileError.separator_in_name(self.path, name)
            self.writer = csv.writer(self.text)
            self.writer.writerow((*beside, *OWN))
        others = zip(*(column.tolist() for column in beside.values()), strict=True) if beside else ((),) * len(sets)
        for names, other in zip(sets.to_lists(), others, strict=True):
            self.writer.writerow((*other, len(names), names[0] if names else "", BETWEEN.join(map(str, names))))

    def close(self) -> None:
        self.text.detach()


class JsonLines(Writer):
    """An object per line."""

    def add(self, sets: PredictionSets, beside: Beside) -> None:
        columns = {name: column.tolist() for name, column in beside.items()}
        for place, names in enumerate(sets.to_lists()):
            row = {name: column[place] for name, column in columns.items()}
            row |= {"size": len(names), "top": names[0] if names else None, "labels": names}
            self.file.write(json.dumps(row, default=str).encode() + b"\n")


class Parquet(Writer):
    """The columns of ``PredictionSets.to_frame``."""

    def __init__(self, file: Any, path: str) -> None:
        super().__init__(file, path)
        self.writer: Any = None

    def add(self, sets: PredictionSets, beside: Beside) -> None:
        own = arrow.table(sets)
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.table({**beside, **{name: own.column(name) for name in OWN}})
        if self.writer is None:
            self.writer = parquet.ParquetWriter(self.file, table.schema)
        for name in beside:
            expected, received = self.writer.schema.field(name).type, table.schema.field(name).type
            if expected != received:
                raise FileError.other_type(name, expected, received)
        self.writer.write_table(table.cast(self.writer.schema))

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


class Npz(Writer):
    """offsets, codes and classes: row i holds the classes ``codes[offsets[i]:offsets[i + 1]]``."""

    def __init__(self, file: Any, path: str) -> None:
        super().__init__(file, path)
        self.parts: list[PredictionSets] = []
        self.beside: dict[str, list[NDArray[Any]]] = {}

    def add(self, sets: PredictionSets, beside: Beside) -> None:
        self.parts.append(sets)
        for name, column in beside.items():
            self.beside.setdefault(name, []).append(column.astype(str) if column.dtype == object else column)

    def close(self) -> None:
        sets = PredictionSets.concat(self.parts)
        names = sets.classes.astype(str) if sets.classes.dtype == object else sets.classes
        kept: dict[str, Any] = {name: np.concatenate(parts) for name, parts in self.beside.items()}
        for taken in {"offsets", "codes", "classes"} & set(kept):
            raise FileError.taken(taken)
        np.savez_compressed(self.file, offsets=sets.offsets, codes=sets.codes, classes=names, **kept)


WRITERS: Final[Mapping[str, type[Writer]]] = {".csv": Csv, ".jsonl": JsonLines, ".parquet": Parquet, ".npz": Npz}
TEXTS = (".csv", ".jsonl")
