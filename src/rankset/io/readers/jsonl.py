"""Read JSON lines (``.jsonl``, ``.ndjson``): one object per line.

Python's own parser is used, because some texts crash that of pyarrow.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rankset.io.memory_budget import Budget
from rankset.io.readers.table import ARRAY_BYTES, Table
from rankset.io.source import Source

VALUE_BYTES = 96
"""Most bytes that Python takes for a value in a line, besides its text."""
MISSING_BYTES = 24
"""Bytes that a field takes in the table if a line lacks it."""
MAX_FIELDS = 64
"""Objects inside a line that have more distinct fields than this, over all lines, are kept as texts."""
MAX_LINE = 64 << 20
"""Most bytes of a line."""
MAX_ORDERED = 1 << 16
"""Most names in the orders of fields that are kept, over all orders that differ from that of the first line."""
MAX_PART = 32 << 20
"""Bytes of parsed lines after which they are converted to a table."""


def read(source: Source) -> Table:
    """Read the objects as a table with a column per field; fields that a line lacks are missing there.

    A column with values of several types becomes one of texts: numbers and other values as JSON writes them.
    """
    lines = _ParsedLines(source.budget, min(MAX_PART, source.budget.limit // 8))
    with source.open() as stream:
        for number in itertools.count(1):  # as editors count lines
            line = stream.readline(MAX_LINE)
            if not line:
                break
            if len(line) == MAX_LINE:
                raise ValueError(f"line {number} is longer than {MAX_LINE:,} bytes")
            if not line.isspace():
                lines.add(number, line)
    return Table(lines.table(), line_orders=lines.orders.found)


@dataclass
class _Orders:
    """Orders of the fields in lines: that of the ``first`` line, and those ``found`` later (None: too many)."""

    first: tuple[str, ...] | None = None
    found: set[tuple[str, ...]] | None = field(default_factory=set)
    count: int = 0

    def add(self, order: tuple[str, ...]) -> None:
        """Note the order of one more line."""
        if self.first is None:
            self.first = order
        if self.found is None or order == self.first or order in self.found:
            return
        self.found.add(order)
        self.count += len(order)
        if self.count > MAX_ORDERED:
            self.found = None


@dataclass
class _ParsedLines:
    """Lines that were parsed, converted to Arrow tables in parts, with the memory they take.

    ``held`` bytes are in ``parts``, ``waiting`` bytes in ``rows``, at most ``max_waiting``; ``present`` counts the
    fields of all rows.
    """

    budget: Budget
    max_waiting: int
    names: dict[str, None] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    parts: list[Any] = field(default_factory=list)
    held: int = 0
    waiting: int = 0
    count: int = 0
    present: int = 0
    orders: _Orders = field(default_factory=_Orders)

    def add(self, number: int, line: bytes) -> None:
        """Parse one more line, if that fits the budget."""
        cost = 2 * len(line) + VALUE_BYTES * (2 + line.count(b",") + line.count(b"[") + 2 * line.count(b"{"))
        needed = self.held + self.waiting + cost
        self.budget.check(needed)
        row, names = _parse_object(number, line), self.names
        self.rows.append(row)
        self.orders.add(tuple(row))
        names |= dict.fromkeys(row)
        self.count, self.present, self.waiting = self.count + 1, self.present + len(row), self.waiting + cost
        missing = self.count * len(names) - self.present
        self.budget.check(needed + ARRAY_BYTES * len(names) + MISSING_BYTES * missing)
        if self.waiting > self.max_waiting:
            self._convert()
            self.held += 2 * self.parts[-1].nbytes + ARRAY_BYTES * self.parts[-1].num_columns
            self.budget.check(self.held)

    def table(self) -> Any:
        """Arrow table of all lines."""
        if self.rows or not self.parts:
            self._convert()
        return _concatenate(self.parts, list(self.names))

    def _convert(self) -> None:
        import pyarrow as pa

        columns = [_to_arrow([row.get(name) for row in self.rows]) for name in self.names]
        self.parts.append(pa.table(columns, list(self.names)))
        self.rows, self.waiting = [], 0


def _parse_object(number: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {number} is not valid JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(row, dict):
        raise ValueError(f"line {number} is not a JSON object")  # noqa: TRY004
    if not row:
        raise ValueError(f"line {number} has no fields")
    return row


def _to_arrow(values: list[Any]) -> Any:
    """Arrow array of values of one type; of texts if they have several types."""
    import pyarrow as pa

    if len(_fields(values, set())) > MAX_FIELDS:  # every field would be a column of its own
        return _texts(values)
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return _texts(values)


def _fields(values: Iterable[Any], known: set[str]) -> set[str]:
    """Names of the fields in all objects among ``values``, also in lists; stops soon after ``MAX_FIELDS``."""
    for value in values:
        if isinstance(value, dict):
            known.update(value)
            _fields(value.values(), known)
        elif isinstance(value, list) and isinstance(next((one for one in value if one is not None), 0), dict | list):
            _fields(value, known)
        if len(known) > MAX_FIELDS:
            break
    return known


def _texts(values: list[Any]) -> Any:
    """Arrow array of texts: texts and missing values as they are, other values as JSON."""
    import pyarrow as pa

    plain = (value is None or isinstance(value, str) for value in values)
    texts = [value if kept else json.dumps(value, default=str) for value, kept in zip(values, plain, strict=True)]
    return pa.array(texts, pa.string())


def _concatenate(parts: list[Any], names: list[str]) -> Any:
    """One table of several; a column whose types differ between parts, without a common type, becomes one of texts.

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
