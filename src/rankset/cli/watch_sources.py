"""Where events of ``rankset watch`` come from: lines of JSON as they come, or rows of a table."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from rankset.cli.files import find_usual_arrays
from rankset.cli.promises import was_passed
from rankset.cli.watch_run import Item, Watch
from rankset.engines.shard_paths import pair_files
from rankset.errors import FileError
from rankset.io.events import Event, EventReader
from rankset.io.layout import Layout
from rankset.io.memory_budget import Budget
from rankset.io.read_file import STDIN, is_of
from rankset.io.readers.jsonl import MAX_LINE
from rankset.io.readers.lines import lines_of, parse_line
from rankset.io.rows import Rows

LINES = (".jsonl", ".ndjson")
FOR_TABLES = ("late", "label_files", "key", "header", "sep", "decimal", "encoding", "sheet")
"""Options that are about tables, by their names in Python."""


def holds_events(path: str, layout: Layout) -> bool:
    """Whether a file holds lines of JSON, as standard input does if no option says otherwise."""
    return is_of(path, LINES, layout.file_format or ("jsonl" if path == STDIN else None))


def check_sources(paths: Sequence[str], label_files: Sequence[str], layout: Layout) -> list[tuple[str, str | None]]:
    """Return the files of rows, each with its file of labels or None; refuse options that are about others."""
    pairs = pair_files(paths or STDIN, label_files or None)
    lines = next((path for path, _ in pairs if holds_events(path, layout)), None)
    if lines is not None:
        flags = {option.name: option.opts[0] for option in click.get_current_context().command.params}
        passed = [flags[name] for name in FOR_TABLES if was_passed(name)]
        if passed:
            raise click.UsageError(f"{passed[0]} is for tables, and {lines} has lines of JSON. Leave it out.")
    return pairs


def items_of(pairs: Sequence[tuple[str, str | None]], layout: Layout, watch: Watch, late: int) -> Iterator[Item]:
    """Yield the events of all files, in their order."""
    for path, labels in pairs:
        if holds_events(path, layout):
            yield from _items_of_lines(path, layout, watch)
        else:
            yield from _items_of_table(path, labels, layout, watch, late)


def _items_of_lines(path: str, layout: Layout, watch: Watch) -> Iterator[Item]:
    """Yield an event per line, as soon as it comes."""
    spec = watch.stream.spec
    needs_groups = spec.condition.needs_groups
    reader = EventReader(spec.classes, spec.kind, spec.groups, layout, needs_groups=needs_groups)
    budget = Budget.of(path)
    with _opened(path) as file:
        for number, line in lines_of(watch.read_from(file), min(MAX_LINE, budget.limit)):
            yield Item(lambda line=line: reader.event(parse_line(line, budget)), path, line=number)  # type: ignore[misc]


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    """Open a file of lines, or standard input."""
    if path == STDIN:
        if sys.stdin is None:
            raise FileError.unreadable(path, "standard input is closed")
        yield sys.stdin.buffer
        return
    with gzip.open(path) if path.endswith(".gz") else Path(path).open("rb") as file:
        try:
            yield file
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FileError.unreadable(path, str(error)) from None


def _items_of_table(path: str, labels: str | None, layout: Layout, watch: Watch, late: int) -> Iterator[Item]:
    """Yield an event per row; if labels come late, they are events of their own, ``late`` rows after theirs."""
    spec, stream = watch.stream.spec, watch.stream
    layout, _ = find_usual_arrays(path, labels or path, replace(layout, absent=""), spec.kind)
    rows = layout.read_rows(path, labels, spec.classes.array.tolist(), kind=spec.kind)
    rows = rows.with_groups_of(spec.groups.array.tolist())
    waiting: deque[tuple[int, Event]] = deque()
    with rows.name_file_in_errors():
        for number, event in enumerate(_events_of(rows, spec.classes)):
            before = stream.n_rows
            now = event if late == 0 else event._replace(label=None)
            yield Item(lambda now=now: now, path, row=number)  # type: ignore[misc]
            if late and stream.n_rows > before:
                name = before if event.identity is None else event.identity
                waiting.append((number, Event(name, label=event.label)))
            if len(waiting) > late:
                yield from _labels(path, [waiting.popleft()])
    yield from _labels(path, waiting)


def _labels(path: str, waiting: Sequence[tuple[int, Event]] | deque[tuple[int, Event]]) -> Iterator[Item]:
    """Yield labels that have come."""
    for number, event in waiting:
        if event.label is not None:
            yield Item(lambda event=event: event, path, row=number)  # type: ignore[misc]


def _events_of(rows: Rows, classes: Any) -> Iterator[Event]:
    """Yield a row of a table with its label, if it has one; all labels are checked first."""
    columns = None if rows.labels is None else rows.label_columns(classes).tolist()
    for number in range(len(rows.scores)):
        label = None if columns is None or columns[number] < 0 else classes.values[columns[number]]
        identity = None if rows.ids is None else _plain(rows.ids[number])
        group = None if rows.groups is None else rows.groups[number]
        yield Event(identity, rows.scores[number : number + 1], group, label)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
