"""What is printed about a stream: by ``rankset watch`` in the end, and by ``rankset inspect``."""

from __future__ import annotations

from typing import Any

import numpy as np

import rankset as rs
from rankset.cli.conditions import condition_in_words
from rankset.cli.echo import echo
from rankset.cli.printing import print_facts
from rankset.cli.watch_run import Watch
from rankset.errors import warn
from rankset.inputs.vocabulary import short

WHOLE = ("row", "rows", "labels", "sizes", "misses")
"""Columns of a history that are whole numbers."""


def stream_facts(stream: rs.Stream) -> dict[str, Any]:
    """Return what a stream is, and what it has seen."""
    return {
        "score": repr(stream.score),
        "condition": repr(stream.condition),
        "condition in words": condition_in_words(stream.condition),
        "kind": stream.kind,
        "classes": len(stream.spec.classes),
        "first classes": list(stream.spec.classes.values[:10]),
        "groups": list(stream.spec.groups.values[:10]),
        "alpha": stream.alpha,
        "follows": repr(stream.method),
        "window": len(stream._window),
        **numbers_of(stream),
        "alarms": [_alarm_facts(alarm) for alarm in stream.alarms],
    }


def numbers_of(stream: rs.Stream) -> dict[str, Any]:
    """Return numbers of rows and labels, the miss rate and its bound, the level, and the mean size of sets."""
    history = stream.history
    rows = float(history["rows"].sum())
    return {
        "level": stream.level,
        "rows": stream.n_rows,
        "labels": stream.n_labels,
        "waiting": stream.n_waiting,
        "misses": stream.misses,
        "miss rate": stream.miss_rate,
        "bound": stream.bound,
        "mean size": float(history["sizes"].sum()) / rows if rows else None,
    }


def _alarm_facts(alarm: rs.Alarm) -> dict[str, Any]:
    told = {"name": alarm.name, "raised": alarm.raised, "at": alarm.at, "since": alarm.since, "chance": alarm.chance}
    return {**told, **({"advice": alarm.advice} if alarm.raised else {})}


def print_stream(stream: rs.Stream, title: str, *, as_json: bool) -> None:
    """Print all about a stream."""
    facts = stream_facts(stream)
    if as_json:
        print_facts(facts, title, as_json=True)
        return
    own = ("score", "condition", "condition in words", "kind", "classes", "first classes", "groups", "alpha", "follows")
    window = {"window": f"{facts['window']:,} rows"}
    print_facts({**{name: facts[name] for name in own}, **window, **_in_words(stream)}, title, as_json=False)
    _print_alarms(stream, err=False)


def _in_words(stream: rs.Stream) -> dict[str, Any]:
    """Return the numbers of a stream as texts."""
    found = numbers_of(stream)
    near = (
        ""
        if stream.bound is None or stream.bound >= 1
        else f"; at most {stream.bound:.3g} from alpha for every sequence of rows"
    )
    rate = f"{stream.miss_rate:.3g} ({stream.misses:,} missed){near}"
    return {
        "rows": f"{stream.n_rows:,}",
        "labels": f"{stream.n_labels:,}, and {stream.n_waiting:,} rows wait for theirs",
        **({"miss rate": rate} if stream.n_labels else {}),
        "level": f"{stream.level:.4g}",
        **({} if found["mean size"] is None else {"mean size": f"{found['mean size']:.4g} labels"}),
    }


def _print_alarms(stream: rs.Stream, *, err: bool) -> None:
    """Print what the alarms say, one line each."""
    for place, alarm in enumerate(stream.alarms):
        echo(f"  {'' if place else 'alarms':<14} {alarm}", err=err)


def print_summary(watch: Watch, title: str) -> None:
    """Print on stderr what a stream has seen, and what of it in this run."""
    stream, counts = watch.stream, watch.counts
    run = f"{counts['rows']:,} rows, {counts['labels']:,} labels, {counts['misses']:,} missed"
    facts = {"alpha": f"{stream.alpha:g}", **_in_words(stream), "this run": run}
    print_facts(facts, short(title, 1000), as_json=False, err=True)
    _print_alarms(stream, err=True)


def warn_of_ignored(watch: Watch) -> None:
    """Say which labels and lines of this run were ignored."""
    counts = watch.counts
    if counts["unknown"]:
        start = _counted(counts["unknown"], "label of an unknown row was", "labels of unknown rows were")
        warn(f"{start} ignored: no such id has come, or so long ago that it was dropped (--waiting).")
    if counts["repeated"]:
        warn(f"{_counted(counts['repeated'], 'label was', 'labels were')} ignored: these rows have one already.")
    if counts["skipped"]:
        start = _counted(counts["skipped"], "invalid event was", "invalid events were")
        warn(f"{start} skipped. The first one: {watch.first_skipped}")


def _counted(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def history_columns(stream: rs.Stream) -> dict[str, Any]:
    """Return the history of a stream as columns of a table."""
    return {name: column.astype(np.int64) if name in WHOLE else column for name, column in stream.history.items()}
