"""The HTML of a stream, which notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankset import notebook

if TYPE_CHECKING:
    from rankset.streams.alarms import Alarm
    from rankset.streams.stream import Stream


def stream_card(stream: Stream) -> str:
    """Return the numbers of a stream and its alarms as HTML."""
    with stream._lock:
        spec, bound = stream.spec, stream.bound
        near = "" if bound is None else f"at most {bound:.3g} from alpha for every sequence of rows"
        rate = f"{stream.miss_rate:.3g}" if stream.n_labels else "no labels"
        facts: list[tuple[object, ...]] = [
            ("alpha", f"{stream.alpha:g}", ""),
            ("score", repr(spec.score), ""),
            ("condition", repr(spec.condition), ""),
            ("level", f"{stream.level:.4g}", notebook.faint(repr(stream.method))),
            ("window", f"{len(stream._window):,} rows", ""),
            ("rows", f"{stream.n_rows:,}", notebook.faint(f"{stream.n_waiting:,} wait for labels")),
            ("labels", f"{stream.n_labels:,}", ""),
            ("miss rate", rate, notebook.faint(near)),
        ]
        alarms = notebook.table(map(_alarm_row, stream.alarms), ("alarm", "", ""))
    return notebook.card("Stream", notebook.table(facts), alarms)


def _alarm_row(alarm: Alarm) -> tuple[object, ...]:
    said = str(alarm).removeprefix(f"{alarm.name}: ")
    if not alarm.raised:
        return alarm.name, "no alarm", notebook.faint(said.removeprefix("no alarm "))
    return alarm.name, notebook.chips(["ALARM"]), said.removeprefix("ALARM ")
