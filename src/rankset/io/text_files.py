"""Texts as tables: csv and tsv, a text per line, a JSON object per line; read part by part, and counted meanwhile.

Cells of csv and of lines stay the texts they are. What is a number is decided where it is known what a column is for.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankset.io.memory_budget import Budget

COLUMN = 10 << 10
"""Bytes that pyarrow takes for every column of a csv file, beside its cells: 9.1 KB, measured with 50,000 columns."""
ARRAY = 512
"""Bytes that an array of Arrow takes, beside its cells."""
VALUE = 96
"""Bytes that Python takes at most for a value in a line of JSON, beside its text."""
MISSING = 24
"""Bytes that a field takes in the end that a line of JSON lacks."""
MOST_FIELDS = 64
"""Objects in a line of JSON that have more fields than this, in all lines together, are read as texts."""
LINE_END = re.compile(rb"[\r\n]")
MOST_BLOCK = 16 << 20
LEAST_BLOCK = 256 << 10
MOST_LINE = 64 << 20
"""Bytes of a line."""


@dataclass(frozen=True)
class Source:
    """The bytes of a file, or those that came from standard input."""

    budget: Budget
    file: Path | None = None
    data: bytes = b""

    @property
    def packed(self) -> bool:
        return self.file is not None and self.file.suffix.lower() == ".gz"

    @contextmanager
    def stream(self) -> Iterator[Any]:
        """The bytes, unpacked, for Python."""
        if self.file is None:
            yield io.BytesIO(self.data)
            return
        with gzip.open(self.file) if self.packed else self.file.open("rb") as stream:
            yield stream

    @contextmanager
    def native(self) -> Iterator[Any]:
        """The bytes, unpacked, for pyarrow, whose threads must not wait for Python."""
        import pyarrow as pa

        if self.file is None:
            yield pa.BufferReader(self.data)
            return
        with pa.OSFile(os.fsencode(self.file)) as file:
            yield pa.CompressedInputStream(file, "gzip") if self.packed else file

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        """A file with the bytes, unpacked."""
        if self.file is not None and not self.packed:
            yield self.file
            return
        with tempfile.TemporaryDirectory(prefix="rankset-", ignore_cleanup_errors=True) as folder:
            path, size = Path(folder) / "unpacked", 0
            with path.open("wb") as copy, self.stream() as stream:
                while part := stream.read(1 << 20):
                    size += len(part)
                    self.budget.check(size)
                    copy.write(part)
            yield path


def csv_table(source: Source, delimiter: str, *, header: bool) -> Any:
    """The cells of a csv file, all of them as texts."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    budget = source.budget
    with source.stream() as stream:
        first = _first_record(stream, budget)
    budget.check(COLUMN * (LINE_END.split(first, maxsplit=1)[0].count(delimiter.encode()) + 1))
    cells = _cells(first.decode("utf-8-sig"), delimiter)  # names that are no UTF-8 are refused here
    names = cells if header else [f"f{place}" for place in range(len(cells))]  # as pyarrow calls them
    several = len(cells) > 1  # of several columns no row is an empty line
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=several)
    block = max(LEAST_BLOCK, min(MOST_BLOCK, budget.limit // 64), 4 * len(first))
    read = arrow_csv.ReadOptions(block_size=block, autogenerate_column_names=not header, use_threads=False)
    convert = arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    batches, needed = [], COLUMN * len(names)
    with source.native() as native:
        reader = arrow_csv.open_csv(native, read_options=read, parse_options=parse, convert_options=convert)
        if any(kind != pa.string() for kind in reader.schema.types):
            raise ValueError("its first line must name the columns, with quotes around whole names only")
        for batch in reader:
            batches.append(batch)
            needed += batch.nbytes + (8 * batch.num_rows + ARRAY) * batch.num_columns
            budget.check(needed)
    table = pa.Table.from_batches(batches, reader.schema)
    return table if header else table.rename_columns([str(place) for place in range(table.num_columns)])


def _first_record(stream: Any, budget: Budget) -> bytes:
    """The first line that is not empty, and those that belong to it because a quote is open."""
    limit = min(MOST_LINE, budget.limit // 8)
    first = b""
    while line := stream.readline(limit - len(first)):
        if not first and line in (b"\n", b"\r\n"):
            continue
        first += line
        if len(first) >= limit:
            raise ValueError(f"its first line is longer than {limit:,} bytes")
        if first.count(b'"') % 2 == 0:
            break
    return first


def _cells(record: str, delimiter: str) -> list[str]:
    """The cells of one record."""
    return next(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter), [])


def lines_table(source: Source) -> Any:
    """A text per line, without a heading; empty lines at the end are no lines."""
    import pyarrow as pa

    parts, needed = [pa.array([], pa.string())], 0
    with source.stream() as stream:
        for number, lines in enumerate(_whole_lines(stream, source.budget)):
            text = lines.decode("utf-8-sig" if number == 0 else "utf-8")
            values = text.removesuffix("\n").replace("\r\n", "\n").removesuffix("\r").split("\n")
            parts.append(pa.array(values, pa.string()))
            needed += parts[-1].nbytes + ARRAY
            source.budget.check(needed)
    return _without_empty_end(pa.table({"0": pa.chunked_array(parts)}))


def _without_empty_end(table: Any) -> Any:
    """A table of one column, without empty texts at its end: they are empty lines at the end of the file."""
    from pyarrow import compute

    filled = compute.binary_length(table.column(0)).to_numpy().nonzero()[0]
    return table[: int(filled[-1]) + 1 if len(filled) else 0]


def _whole_lines(stream: Any, budget: Budget) -> Iterator[bytes]:
    """Some lines at a time."""
    size, rest = max(1 << 12, min(1 << 20, budget.limit // 64)), b""
    while part := stream.read(size):
        rest += part
        budget.check(2 * len(rest))
        end = rest.rfind(b"\n", len(rest) - len(part)) + 1
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def json_table(source: Source) -> Any:
    """An object per line, by Python's own library: pyarrow does not survive every text.

    A column whose values are of several types becomes one of texts: numbers and other things as JSON writes them.
    Fields that a line lacks are missing there.
    """
    budget = source.budget
    rows: list[dict[str, Any]] = []
    parts: list[Any] = []
    held = waiting = count = present = 0
    step = min(32 << 20, budget.limit // 8)
    names: dict[str, None] = {}
    with source.stream() as stream:
        for number in itertools.count():
            line = stream.readline(MOST_LINE)
            if not line:
                break
            if len(line) == MOST_LINE:
                raise ValueError(f"line {number} is longer than {MOST_LINE:,} bytes")
            if line.isspace():
                continue
            cost = 2 * len(line) + VALUE * (2 + line.count(b",") + line.count(b"[") + 2 * line.count(b"{"))
            budget.check(held + waiting + cost)
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError(f"line {number} is no object")  # noqa: TRY004
            if not row:
                raise ValueError(f"line {number} has no fields")
            rows.append(row)
            names |= dict.fromkeys(row)
            count, present, waiting = count + 1, present + len(row), waiting + cost
            budget.check(held + waiting + ARRAY * len(names) + MISSING * (count * len(names) - present))
            if waiting > step:
                parts.append(_objects_table(rows, list(names)))
                held += 2 * parts[-1].nbytes + ARRAY * parts[-1].num_columns
                rows, waiting = [], 0
                budget.check(held)
    if rows or not parts:
        parts.append(_objects_table(rows, list(names)))
    return _joined(parts, list(names))


def _objects_table(rows: list[dict[str, Any]], names: list[str]) -> Any:
    """A table of some lines."""
    import pyarrow as pa

    return pa.table([_values([row.get(name) for row in rows]) for name in names], names)


def _values(values: list[Any]) -> Any:
    """Values of one type as they are, of several types as texts."""
    import pyarrow as pa

    if len(_fields(values, set())) > MOST_FIELDS:  # every field would be a column of its own
        return _texts(values)
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return _texts(values)


def _fields(values: Iterable[Any], known: set[str]) -> set[str]:
    """The names of fields in the objects among some values, and in lists of them; few more than ``MOST_FIELDS``."""
    for value in values:
        if isinstance(value, dict):
            known.update(value)
            _fields(value.values(), known)
        elif isinstance(value, list) and isinstance(next((one for one in value if one is not None), 0), dict | list):
            _fields(value, known)
        if len(known) > MOST_FIELDS:
            break
    return known


def _texts(values: list[Any]) -> Any:
    import pyarrow as pa

    plain = (value is None or isinstance(value, str) for value in values)
    texts = [value if kept else json.dumps(value, default=str) for value, kept in zip(values, plain, strict=True)]
    return pa.array(texts, pa.string())


def _joined(parts: list[Any], names: list[str]) -> Any:
    """One table of several; a column that has types in them which do not go together is one of texts.

    Later parts have the columns of earlier ones, in the same order, and perhaps more.
    """
    import pyarrow as pa

    for place, name in enumerate(names):
        fields = [part.schema.field(name) for part in parts if part.num_columns > place]
        try:
            columns = [part.select([name]) for part in parts if part.num_columns > place]
            if len({str(field.type) for field in fields}) > 1:
                pa.concat_tables(columns, promote_options="permissive")
        except pa.ArrowException:
            parts = [
                part.set_column(place, name, _texts(part.column(name).to_pylist()))
                if part.num_columns > place
                else part
                for part in parts
            ]
    return pa.concat_tables(parts, promote_options="permissive")
