"""The numbers of the live page, as one object of JSON."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.conditions import Marginal, condition_in_words
from rankset.core.coverage_law import binomial_interval
from rankset.evaluation.short_names import short_name
from rankset.inputs.vocabulary import short
from rankset.rules.sentences import proven_in_words
from rankset.serving.loaded import Loaded
from rankset.serving.metrics import Requests
from rankset.serving.monitor import Monitor
from rankset.streams.alarms import WORDS, Alarm
from rankset.streams.over_time import CONFIDENCE, OverTime, finished

MOST_CLASSES = 200
"""So many classes are shown: those with the lowest coverage."""
NAMES = ("row", "rows", "labels", "coverage", "low", "high", "size")
COUNTS = ("seen", "rows", "labels", "misses", "accepted", "decided", "checked", "wrong")


def live_numbers(
    loaded: Loaded, monitor: Monitor, requests: Requests, *, store: bool = True, troubles: Sequence[str] = ()
) -> dict[str, Any]:
    """Return all numbers of the live page, as they are now; ``troubles`` are sentences about the server itself.

    Numbers are about the rule that is served now; only those over time go back further.
    """
    spec = loaded.rule.spec
    with monitor.lock:
        history, starts = monitor.history.columns(), monitor.history.starts
        alarms, raised = monitor.watching.alarms, dict(monitor.raised)
        own, ever = monitor.own.copy(), monitor.ever.copy()
    sums = {name: getattr(own, name) for name in COUNTS}
    before = ever.rows - own.rows
    condition = "" if isinstance(spec.condition, Marginal) else condition_in_words(spec.condition)
    return {
        "time": round(time.time(), 3),
        "score": short(short_name(spec.score), 200),
        "condition": short(condition, 200),
        "kind": spec.kind,
        "n": loaded.rule.n,
        "n_classes": spec.n_columns,
        "alpha": float(loaded.alpha),
        "proven": proven_in_words(loaded.levels[loaded.alpha]),
        "confidence": CONFIDENCE,
        "name": None if loaded.name is None else short(loaded.name, 80),
        **sums,
        "before": before,
        "seen_before": ever.seen - own.seen,
        "size": own.size_sum / own.rows if own.rows else None,
        "several": spec.n_groups > 1,
        "triage": loaded.triage is not None,
        "store": store,
        "troubles": list(troubles),
        "per_second": round(requests.per_second, 2),
        "requests": requests.total,
        "alarms": [_alarm(one, raised.get(one.name)) for one in alarms],
        "blocks": {**_blocks(OverTime.of(history, float(loaded.alpha)), before), "start": starts},
        "classes": _classes(loaded, own.class_labels, own.class_misses),
    }


def _alarm(alarm: Alarm, time: float | None) -> dict[str, Any]:
    """Return what an alarm says, and when it was raised; evidence is a logarithm to base 10."""
    return {
        "name": alarm.name,
        "raised": alarm.raised,
        "at": alarm.at,
        "time": time,
        "since": alarm.since,
        "evidence": round(alarm.log_wealth / math.log(10), 4),
        "highest": round(alarm.highest / math.log(10), 4),
        "limit": round(-math.log10(alarm.delta), 4),
        "chance": alarm._chance_text,
        "rows": alarm.rows,
        "seen": WORDS[alarm.name][0],
        "advice": alarm.advice,
    }


def _blocks(found: OverTime, before: int) -> dict[str, Any]:
    """Return the numbers over time, without shares and means of a block that has just begun.

    What adds up over time starts anew with the rule, after ``before`` rows.
    """
    own = found.row > before
    labels, misses = ((values * own).cumsum() for values in (found.labels, found.misses))
    running = np.divide(labels - misses, labels, out=np.full(len(labels), math.nan), where=own & (labels > 0))
    columns: dict[str, Any] = {name: _numbers(getattr(found, name)) for name in NAMES}
    labelled = _finished(found.labels, own)
    drawn = {"size": _finished(found.rows, own), "coverage": labelled, "low": labelled, "high": labelled}
    for name, places in drawn.items():
        columns[name] = _numbers(np.where(places, getattr(found, name), math.nan))
    columns["running"] = _numbers(running)
    columns["evidence"] = {name: _numbers(np.where(own, values, math.nan)) for name, values in found.evidence.items()}
    return columns


def _finished(counts: NDArray[Any], own: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which blocks are large enough to be drawn: not the last one of a rule if it has just begun."""
    return np.concatenate([finished(counts[~own]), finished(counts[own])])


def _numbers(values: Any) -> list[float | int | None]:
    """Return numbers for JSON, with few digits; NaN as None."""
    return [None if math.isnan(value) else float(f"{value:.5g}") for value in values.tolist()]


def _classes(loaded: Loaded, labels: Any, misses: Any) -> list[dict[str, Any]]:
    """Return the classes with the lowest coverage, with intervals."""
    seen = np.flatnonzero(labels)
    order = seen[np.lexsort((-labels[seen], 1 - misses[seen] / labels[seen]))][:MOST_CLASSES]
    found = []
    for column in order.tolist():
        n, missed = int(labels[column]), int(misses[column])
        low, high = binomial_interval(n - missed, n, CONFIDENCE)
        name = short(loaded.names[column], 80)
        numbers = {"coverage": 1 - missed / n, "low": low, "high": high}
        found.append({"name": name, "labels": n, **{key: round(value, 4) for key, value in numbers.items()}})
    return found
