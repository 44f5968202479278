"""One row at a time, as a service asks: every call timed by itself."""

import statistics
from collections.abc import Sequence

from results import Latency, Results, Task
from tables import grid
from workers import FAST, OURS, PEERS, PLAIN, Refusal, Worker

CLASSES = (10, 100, 1_000)
CALLS = 10_000
BUDGET = 20.0
"""Seconds after which no further calls are made."""
WORDS = {"asked": "asked", "labels": "asked, and the labels", "predict": "predict"}
WAYS = tuple(WORDS)
"""How we are asked, see ``ways`` of ``peers/ours.py``. Others have one way."""


def measure(
    results: Results,
    task: Task,
    known: list[str],
    row: list[str],
    workers: Sequence[Worker] = (*OURS, *PEERS),
    calls: int = CALLS,
) -> str:
    """One score on one row, everybody with rules of the same rows."""
    found = results.latency[task] = {}
    for worker in workers:
        if task.score in results.about[worker.title]["scores"]:
            worker.load("row", known, row)
            ways = WAYS if worker in OURS else ("predict",)
            found |= {(worker.title, way): _latency(worker, task.score, way, calls) for way in ways}
            worker.drop()
    times = (f"{title} {way} {1e-3 * one.median:.0f}" for (title, way), one in found.items() if one.calls)
    return f"one row, {task.size} {task.score}, microseconds: {', '.join(times)}"


def _latency(worker: Worker, score: str, way: str, calls: int) -> Latency:
    try:
        return Latency(**worker.ask("latency", name="row", way=way, score=score, calls=calls, budget=BUDGET))
    except Refusal:
        return Latency(0, *[float("nan")] * 3)


def text(results: Results) -> str:
    """Two sections: everybody in microseconds, and we in yardsticks."""
    ours = [(worker.title, way) for worker in (FAST, PLAIN) for way in WAYS]
    keys = [*ours, *((peer.title, "predict") for peer in PEERS)]
    head = [f"{title.removeprefix('rankset, ')} {WORDS[way]}" for title, way in ours] + [peer.title for peer in PEERS]
    rows = [
        (_row(task), _yardstick(found), *(_shown(found.get(key)) for key in keys))
        for task, found in results.latency.items()
    ]
    in_yardsticks = [
        (_row(task), *(f"{found[key].yardsticks:.1f}" if key in found else "–" for key in ours))
        for task, found in results.latency.items()
    ]
    return (
        "## One row, microseconds\n\n"
        f"Median / 99th percentile of {CALLS:,} calls. {_fewer(results)}Rules from 1,000 rows. *asked*: "
        "`ask(row)` with `ask = rule.at(0.1)` made beforehand; *and the labels*: `ask(row)[0]`; *predict*: "
        "`rule.predict(row, 0.1)`.\n\n"
        + grid(("", "`row.max(axis=1)`", *head), rows)
        + "\n### In yardsticks\n\nMedians in medians of `row.max(axis=1)`, on the same row in the same process.\n\n"
        + grid(("", *head[: len(ours)]), in_yardsticks)
    )


def _row(task: Task) -> str:
    return f"{task.size} {task.score}"


def _yardstick(found: dict[tuple[str, str], Latency]) -> str:
    return f"{1e-3 * statistics.median(one.yardstick for (title, _), one in found.items() if title == FAST.title):.1f}"


def _shown(found: Latency | None) -> str:
    if found is None or not found.calls:
        return "–" if found is None else "left out"
    return " / ".join(
        f"{1e-3 * time:,.1f}" if time < 1e5 else f"{1e-3 * time:,.0f}" for time in (found.median, found.high)
    )


def _fewer(results: Results) -> str:
    """Who was asked less often, because it would have taken longer than the budget."""
    least: dict[str, int] = {}
    for found in results.latency.values():
        for (title, _), one in found.items():
            if 0 < one.calls < CALLS:
                least[title] = min(one.calls, least.get(title, CALLS))
    told = ", ".join(f"{title} {calls:,}" for title, calls in least.items())
    return f"Fewer where these take over {BUDGET:.0f} s, at least: {told}. " if told else ""
