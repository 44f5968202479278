"""Read text files (``.txt``): one label, group or class name per line, without a header."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankset.io.memory_budget import Budget
from rankset.io.readers.table import ARRAY_BYTES, Table
from rankset.io.source import Source


def read(source: Source) -> Table:
    """Read the lines as one column called 0; empty lines at the end are left out."""
    import pyarrow as pa

    parts, needed = [pa.array([], pa.string())], 0
    with source.open() as stream:
        for number, lines in enumerate(_whole_lines(stream, source.budget)):
            text = lines.decode("utf-8-sig" if number == 0 else "utf-8")
            values = text.removesuffix("\n").replace("\r\n", "\n").removesuffix("\r").split("\n")
            parts.append(pa.array(values, pa.string()))
            needed += parts[-1].nbytes + ARRAY_BYTES
            source.budget.check(needed)
    return Table(_without_empty_end(pa.table({"0": pa.chunked_array(parts)})), is_text=True)


def _without_empty_end(table: Any) -> Any:
    """Table of one column without the empty texts at its end."""
    from pyarrow import compute

    filled = compute.binary_length(table.column(0)).to_numpy().nonzero()[0]
    return table[: int(filled[-1]) + 1 if len(filled) else 0]


def _whole_lines(stream: Any, budget: Budget) -> Iterator[bytes]:
    """Yield the bytes of several complete lines at a time."""
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
