"""What ``rankset watch`` does with every event: predict, learn, save, answer, and say when an alarm is raised."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import rankset as rs
from rankset.cli.echo import echo
from rankset.cli.watch_signals import Stop, Stopped
from rankset.errors import COMMAND_LINE, Place, RanksetError
from rankset.io.events import Event
from rankset.io.writers.values import json_value


class Ways(NamedTuple):
    """How a stream is watched: values of options."""

    state: Path | None
    save_every: int
    alarm_lines: bool
    skip_invalid: bool


class Item(NamedTuple):
    """Something that may be an event, and its place: a line of JSON, or a row of a table."""

    read: Callable[[], Event]
    file: str
    line: int | None = None
    row: int | None = None

    def place(self, where: Place) -> Place:
        """Return the place of an error about the event."""
        part = None if self.line is None else f"line {self.line}"
        return where.at_row(self.row).inside(Place(self.file, part))


class Watch:
    """A stream while it gets events; ``counts`` are those of this run."""

    def __init__(self, stream: rs.Stream, ways: Ways, out: IO[bytes]) -> None:
        self.stream, self.ways, self.stop = stream, ways, Stop()
        self.counts: Counter[str] = Counter()
        self.first_skipped = ""
        self._out, self._events, self._can_save = out, 0, True
        self._raised = {alarm.name for alarm in stream.alarms.raised}

    def run(self, items: Iterable[Item], *, first: bool) -> None:
        """Take all events until they end, one is invalid, or a signal comes, and save what was learned.

        ``first``: there is no such state yet, so it is saved with the first event, too.
        """
        with self.stop.listening():
            try:
                with suppress(Stopped):
                    for item in items:
                        self._take(item, first=first)
                        self.stop.check()
                self._out.flush()
            except (RanksetError, OSError):
                with suppress(OSError):
                    self._out.flush()
                if self._can_save and self._events:
                    self.save()
                raise
            self.save()

    def save(self) -> None:
        """Write the state file, if there shall be one."""
        if self.ways.state is None:
            return
        self._can_save = False  # if this fails, it is not tried again
        self.stream.save(self.ways.state)
        self._can_save = True

    def read_from(self, file: Any) -> Callable[[int], bytes]:
        """Return a function that reads what a file has; answers are given out before it waits for more."""

        def read(size: int) -> bytes:
            self._out.flush()
            return self.stop.wait_for(file.read1, size)

        return read

    def _take(self, item: Item, *, first: bool) -> None:
        """Take one event. It is saved, if it is time for that, before its answer is given out."""
        try:
            answer = self._answer(item.read())
        except RanksetError as error:
            error.where = item.place(error.where)
            if not self.ways.skip_invalid:
                raise
            self.counts["skipped"] += 1
            self.first_skipped = self.first_skipped or error.render(COMMAND_LINE)
            return
        self._events += 1
        if self._events % self.ways.save_every == 0 or (first and self._events == 1):
            self._out.flush()
            self.save()
        if answer is not None:
            self._write(answer)
        self._tell_alarms()

    def _answer(self, event: Event) -> dict[str, Any] | None:
        """Predict, and learn; return the answer, None to a label alone."""
        name, answer = event.identity, None
        if event.scores is not None:
            level = self.stream.level
            ids = None if name is None else [name]
            name = self.stream.n_rows if name is None else name
            groups = None if event.group is None else [event.group]
            labels = self.stream.predict(event.scores, groups=groups, ids=ids).to_lists()[0]
            answer = {"id": json_value(name), "set": json_value(labels), "size": len(labels), "level": level}
            self.counts["rows"] += 1
        if event.label is not None:
            learned = self.stream.update([event.label], ids=[name])
            self.counts.update({"labels": learned.rows, "misses": learned.misses})
            self.counts.update({"repeated": learned.repeated, "unknown": learned.unknown})
        return answer

    def _tell_alarms(self) -> None:
        """Say which alarms have just been raised."""
        for alarm in self.stream.alarms.raised:
            if alarm.name in self._raised:
                continue
            self._raised.add(alarm.name)
            echo(str(alarm), err=True)
            if self.ways.alarm_lines:
                facts = {"at": alarm.at, "since": alarm.since, "chance": alarm.chance, "advice": alarm.advice}
                self._write({"alarm": alarm.name, **facts})

    def _write(self, line: dict[str, Any]) -> None:
        self._out.write(json.dumps(line, default=str, allow_nan=False).encode() + b"\n")
