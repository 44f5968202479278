"""``study_stream``: all numbers of the page of a stream."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.conditions import Marginal, condition_in_words
from rankset.errors import KindError
from rankset.evaluation.short_names import short_name
from rankset.inputs.vocabulary import short
from rankset.reports.results import Study
from rankset.streams.alarms import WORDS, Alarm
from rankset.streams.levels import Experts, Fixed, LevelMethod
from rankset.streams.over_time import CONFIDENCE, OverTime
from rankset.streams.stream import Stream

LONGEST = 200
"""Longer texts of scores, conditions and levels are truncated."""


def study_stream(stream: Stream) -> Study:
    """Return all numbers of the page of a stream, as they are now.

    Parameters
    ----------
    stream : Stream
        A stream, with or without rows and labels.

    Returns
    -------
    Study
        ``data["blocks"]`` has the numbers over time, ``data["alarms"]`` what the alarms say.

    Raises
    ------
    KindError
        If ``stream`` is no ``Stream``.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> stream = rs.Stream(rs.calibrate(probs[:1000], labels[:1000], kind="logits"), alpha=0.1)
    >>> _ = stream.predict(probs[1000:1100]), stream.update(labels[1000:1100])
    >>> rs.reports.study_stream(stream).data["blocks"]["coverage"]
    [0.9]
    """
    if not isinstance(stream, Stream):
        raise KindError.argument("stream", "a Stream", stream)
    with stream._lock:
        return Study({**_described(stream), **_counted(stream), "blocks": _blocks(stream)})


def _described(stream: Stream) -> dict[str, Any]:
    """Return what the stream is, in words."""
    spec = stream.spec
    condition = "" if isinstance(spec.condition, Marginal) else condition_in_words(spec.condition)
    return {
        "stream": True,
        "scores": [{"name": short(repr(spec.score), LONGEST), "label": short(short_name(spec.score), LONGEST)}],
        "condition": short(condition, LONGEST),
        "method": short(_method_text(stream.method), LONGEST),
        "bounded": not isinstance(stream.method, Fixed | Experts),
        "classes": spec.n_columns,
        "alpha": stream.alpha,
        "confidence": CONFIDENCE,
        "tolerance": stream._watching.tolerance,
    }


def _method_text(method: LevelMethod) -> str:
    """Return how the level follows misses, as code; without arguments if they are the usual ones."""
    return f"{type(method).__name__}()" if method == type(method)() else repr(method)


def _counted(stream: Stream) -> dict[str, Any]:
    """Return the numbers of the stream as a whole."""
    history, alarms = stream.history, stream.alarms
    restarted = stream.n_rows - alarms.outputs.rows
    return {
        "rows": stream.n_rows,
        "labels": stream.n_labels,
        "misses": stream.misses,
        "miss_rate": _number(stream.miss_rate),
        "bound": stream.bound,
        "delay": stream.delay,
        "waiting": stream.n_waiting,
        "most_waiting": stream._waiting.most,
        "dropped": stream._waiting.dropped,
        "level": stream.level,
        "window": len(stream._window),
        "most_window": stream._window.size,
        "size": _number(history["sizes"].sum() / stream.n_rows) if stream.n_rows else None,
        "restarted": restarted if restarted > 0 else None,
        "alarms": [_alarm(one) for one in alarms],
    }


def _alarm(alarm: Alarm) -> dict[str, Any]:
    """Return what an alarm says; evidence is a logarithm to base 10."""
    return {
        "name": alarm.name,
        "raised": alarm.raised,
        "at": alarm.at,
        "since": alarm.since,
        "delta": float(f"{alarm.delta:.12g}"),
        "evidence": alarm.log_wealth / math.log(10),
        "highest": alarm.highest / math.log(10),
        "limit": -math.log10(alarm.delta),
        "chance": alarm._chance_text,
        "rows": alarm.rows,
        "seen": WORDS[alarm.name][0],
        "advice": alarm.advice,
    }


def _blocks(stream: Stream) -> dict[str, Any]:
    """Return the numbers over time; None where a block has no rows or no labels."""
    found = OverTime.of(stream.history, stream.alpha)
    names = ("row", "rows", "labels", "misses", "coverage", "low", "high", "running", "size", "level")
    columns: dict[str, Any] = {name: _numbers(getattr(found, name)) for name in names}
    columns["evidence"] = {name: _numbers(values) for name, values in found.evidence.items()}
    return {**columns, "below": int(found.below.sum()), "above": int(found.above.sum())}


def _numbers(values: NDArray[np.float64]) -> list[float | int | None]:
    return [_number(value) for value in values.tolist()]


def _number(value: float) -> float | int | None:
    """Return a number for JSON: whole ones as integers, NaN as None."""
    if math.isnan(value):
        return None
    return int(value) if float(value).is_integer() else float(value)
