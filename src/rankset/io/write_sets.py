"""Sets on disk: csv, jsonl, parquet or npz, part by part, whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rankset.errors import FileError, Place, located
from rankset.inputs.matrix import object_array
from rankset.inputs.vocabulary import check_distinct, distinct_texts
from rankset.io import arrow, atomic
from rankset.io.memory_budget import Budget
from rankset.sets import PredictionSets

BETWEEN = "|"
"""Between the labels of a set in a csv cell."""


OWN = ("size", "top", "labels")
"""The columns of sets."""

Beside = Mapping[str, Any]
"""Columns of the rows that are written before those of their sets."""


Part = tuple[PredictionSets, Beside]
"""Some sets, and the columns beside them."""


@dataclass(frozen=True)
class Style:
    """How csv is written: for programs, as it is; for spreadsheets, so that they take texts for texts."""

    encoding: str = "utf-8"
    delimiter: str = ","
    guarded: bool = False

    def cell(self, value: object) -> object:
        """``value`` as it stands in a cell; with ``guarded``, an apostrophe goes before what would be a formula."""
        text = str(value)
        return f"'{text}" if self.guarded and FORMULA.match(text) and not NUMBER.fullmatch(text) else value


FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")
"""How cells begin that spreadsheets run, or whose first character they skip."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)

PLAIN = Style()
EXCEL = Style(encoding="utf-8-sig", guarded=True)
"""With the mark by which Excel knows UTF-8."""


def write(path: Path, parts: Iterable[Part], *, force: bool = False, style: Style = PLAIN) -> int:
    """Writes a row per set (its size, its most likely label, its labels), and tells how many there are.

    ``style`` is for csv, and refused for other kinds of files unless it is the plain one.
    """
    kind = path.suffixes[-2] if path.suffix == ".gz" and len(path.suffixes) > 1 else path.suffix
    if kind not in WRITERS or (path.suffix == ".gz" and kind not in TEXTS):
        raise FileError.unknown_kind(str(path), tuple(WRITERS))
    if style != PLAIN and kind != ".csv":
        raise FileError.not_for_spreadsheets(str(path))
    with ExitStack() as stack:
        file = stack.enter_context(draft(path, force=force))
        if path.suffix == ".gz":
            file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", mtime=0))
        writer = Csv(file, str(path), style) if kind == ".csv" else WRITERS[kind](file, str(path))
        return _written(writer, parts)


def stream(file: Any, parts: Iterable[Part], *, style: Style = PLAIN) -> None:
    """Writes csv to an open file."""
    _written(Csv(file, "standard output", style), parts)


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

    def __init__(self, file: Any, path: str, style: Style = PLAIN) -> None:
        super().__init__(file, path)
        self.style = style
        self.text = io.TextIOWrapper(
            file, encoding=style.encoding, newline="", errors="backslashreplace", write_through=True
        )
        self.writer: Any = None
        self.names: NDArray[Any] = np.empty(0, dtype=object)

    def add(self, sets: PredictionSets, beside: Beside) -> None:
        if self.writer is None:
            for name in sets.names.values:
                if BETWEEN in str(name):
                    raise FileError.separator_in_name(self.path, name)
            with located(Place(file=self.path)):
                self.names = np.array([*distinct_texts(sets.names, "a csv file"), None], dtype=object)[:-1]
            self.writer = csv.writer(self.text, delimiter=self.style.delimiter)
            self._row((*beside, *OWN))
        others = zip(*map(_cells, beside.values()), strict=True) if beside else ((),) * len(sets)
        codes = np.split(sets.codes, sets.offsets[1:-1]) if len(sets) else ()
        for some, other in zip(codes, others, strict=True):
            names = self.names[some].tolist()
            self._row((*other, len(names), names[0] if names else "", BETWEEN.join(names)))

    def _row(self, cells: Iterable[object]) -> None:
        self.writer.writerow(map(self.style.cell, cells) if self.style.guarded else cells)

    def close(self) -> None:
        self.text.detach()


class JsonLines(Writer):
    """An object per line. NaN and what is missing are null, infinities the texts "Infinity" and "-Infinity"."""

    def add(self, sets: PredictionSets, beside: Beside) -> None:
        columns = {name: [_json(value) for value in _values(column)] for name, column in beside.items()}
        names = np.array([*map(_json, sets.names.values), None], dtype=object)[:-1]
        codes = np.split(sets.codes, sets.offsets[1:-1]) if len(sets) else ()
        for place, some in enumerate(codes):
            labels = names[some].tolist()
            row = {name: column[place] for name, column in columns.items()}
            row |= {"size": len(labels), "top": labels[0] if labels else None, "labels": labels}
            self.file.write(json.dumps(row, default=str, allow_nan=False).encode() + b"\n")


def _values(column: Any) -> list[Any]:
    """The values of a kept column as Python has them: dates and times as ISO texts, None where there is none."""
    if not isinstance(column, np.ndarray):
        return _of_arrow(column)
    if column.dtype.kind != "M":
        return column.tolist()
    return [None if text == "NaT" else text for text in np.datetime_as_string(column).tolist()]


def _cells(column: Any) -> list[Any]:
    """The values of a kept column for csv: lists and objects as JSON."""
    values = _values(column)
    return [json.dumps(_json(value), default=str) if isinstance(value, list | dict) else value for value in values]


def _of_arrow(column: Any) -> list[Any]:
    """The same for a column of Arrow; durations are told in seconds."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):  # a text that is repeated is one text in memory
        return [word for chunk in getattr(column, "chunks", [column]) for word in _looked_up(chunk)]
    if pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_timestamp(kind):
        return _iso(column)
    if pa.types.is_duration(kind):
        digits = UNITS.index(kind.unit) * 3
        counts = column.cast(pa.int64()).to_pylist()
        return [None if count is None else str(Decimal(count).scaleb(-digits)) for count in counts]
    return column.to_pylist()


UNITS = ("s", "ms", "us", "ns")


def _looked_up(chunk: Any) -> list[Any]:
    """The values that the numbers of a dictionary array stand for."""
    words = _of_arrow(chunk.dictionary)
    return [None if place is None else words[place] for place in chunk.indices.to_pylist()]


def _iso(column: Any) -> list[str | None]:
    """Dates and times as ISO texts of one format, with the offset of their time zone."""
    import pyarrow as pa

    try:
        written = column.cast(pa.string()).to_pylist()
    except pa.ArrowException:  # a time zone that is not known here
        written = column.cast(pa.timestamp(column.type.unit, "UTC")).cast(pa.string()).to_pylist()
    return [None if text is None else OFFSET.sub(r"\1:\2", text.replace(" ", "T")) for text in written]


OFFSET = re.compile(r"([+-]\d\d)(\d\d)$")
"""The end of a time with an offset, as Arrow writes it."""


def _json(value: Any) -> Any:
    """``value`` as JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
    if isinstance(value, np.ndarray):
        return [_json(part) for part in value.tolist()]
    if isinstance(value, list | tuple):
        return [_json(part) for part in value]
    if isinstance(value, dict):
        return {str(name): _json(part) for name, part in value.items()}
    return value


class Parquet(Writer):
    """The columns of ``PredictionSets.to_frame``."""

    def __init__(self, file: Any, path: str) -> None:
        super().__init__(file, path)
        self.writer: Any = None

    def add(self, sets: PredictionSets, beside: Beside) -> None:
        own = arrow.table(sets)
        import pyarrow as pa

        step = _rows_at_once(beside.values())
        for start in range(0, max(1, len(sets)), step):
            part = slice(start, start + step)
            kept = {name: _of_one_type(column[part]) for name, column in beside.items()}
            try:
                self._add(pa.table({**kept, **{name: own.column(name)[part] for name in OWN}}), kept)
            except pa.ArrowException as error:
                raise FileError.unwritable(self.path, " ".join(str(error).split())[:200]) from None

    def _add(self, table: Any, kept: Beside) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        if self.writer is None:  # a column that is empty so far counts as one of texts
            kinds = [pa.string() if pa.types.is_null(field.type) else field.type for field in table.schema]
            schema = pa.schema(list(zip(table.column_names, kinds, strict=True)))
            self.writer = parquet.ParquetWriter(self.file, schema)
        for name in kept:
            expected, received = self.writer.schema.field(name).type, table.schema.field(name).type
            if expected != received and not pa.types.is_null(received):
                raise FileError.other_type(name, expected, received)
        self.writer.write_table(table.cast(self.writer.schema))

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


AT_ONCE = 32 << 20
"""Bytes of kept texts that are written at once."""


def _rows_at_once(columns: Iterable[Any]) -> int:
    """How many rows are written at once: repeated texts are one in memory, and many in what is written."""
    longest = [_longest(column) for column in columns if not isinstance(column, np.ndarray)]
    return max(1, AT_ONCE // max([1, *longest]))


def _longest(column: Any) -> int:
    """Bytes of the longest of some repeated texts; 0 where a column has none."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_dictionary(column.type) or pa.types.is_nested(column.type.value_type):
        return 0
    sizes = [compute.max(compute.binary_length(_texts_of(chunk.dictionary))).as_py() for chunk in column.chunks]
    return max([0, *(size for size in sizes if size)])


def _texts_of(words: Any) -> Any:
    import pyarrow as pa

    texts = pa.types.is_string(words.type) or pa.types.is_large_string(words.type) or pa.types.is_binary(words.type)
    return words if texts else pa.array([], pa.string())


def _of_one_type(column: Any) -> Any:
    """A kept column; texts, which Arrow has several types for, as one type."""
    import pyarrow as pa

    if isinstance(column, np.ndarray):
        return column
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return column.cast(pa.string()) if texts else column


class Npz(Writer):
    """offsets, codes and classes: row i holds the classes ``codes[offsets[i]:offsets[i + 1]]``."""

    def __init__(self, file: Any, path: str) -> None:
        super().__init__(file, path)
        self.parts: list[PredictionSets] = []
        self.beside: dict[str, list[NDArray[Any]]] = {}

    def add(self, sets: PredictionSets, beside: Beside) -> None:
        self.parts.append(sets)
        for name, column in beside.items():
            kept = column if isinstance(column, np.ndarray) else _array(column)
            self.beside.setdefault(name, []).append(self._plain(name, kept) if kept.dtype == object else kept)

    def _plain(self, name: str, kept: NDArray[Any]) -> NDArray[Any]:
        """Objects as texts."""
        if any(isinstance(value, list | dict | bytes | np.ndarray) for value in kept.tolist()):
            raise FileError.no_array(self.path, name)
        longest = max((len(str(value)) for value in kept.tolist()), default=0)
        Budget.of(self.path).check(4 * longest * len(kept))  # an array of texts is as wide as the longest
        return kept.astype(str)

    def close(self) -> None:
        sets = PredictionSets.concat(self.parts)
        names = sets.classes
        if names.dtype == object:
            names = names.astype(str)  # without zeros at the end of texts
            with located(Place(file=self.path)):
                check_distinct(sets.names, names.tolist(), "an npz file")
        kept: dict[str, Any] = {name: _concatenated(name, parts) for name, parts in self.beside.items()}
        for taken in {"offsets", "codes", "classes", "file", "allow_pickle"} & set(kept):
            raise FileError.taken(taken)
        np.savez_compressed(self.file, offsets=sets.offsets, codes=sets.codes, classes=names, **kept)


def _concatenated(name: str, parts: list[NDArray[Any]]) -> NDArray[Any]:
    try:
        return np.concatenate(parts)
    except TypeError:
        kinds = list(dict.fromkeys(str(part.dtype) for part in parts))
        raise FileError.other_type(name, kinds[0], kinds[1]) from None


def _array(column: Any) -> NDArray[Any]:
    """A column of Arrow as an array; with a time zone, or where something is missing, of its values."""
    if getattr(column.type, "tz", None) is not None or column.null_count:
        return object_array(_values(column))
    return column.to_numpy()


WRITERS: Final[Mapping[str, type[Writer]]] = {".csv": Csv, ".jsonl": JsonLines, ".parquet": Parquet, ".npz": Npz}
TEXTS = (".csv", ".jsonl")
