"""What we mean to reach, beside what was measured."""

from collections.abc import Callable, Iterable, Iterator

import start_up
from results import Results, Task
from workers import FAST, PLAIN, READ

BIG, SHORT, WIDER = (50_000, 1_000), (10_000, 10), (10_000, 100)
OFFICIAL, TORCHCP, PUNCC = "official RANK", "TorchCP", "puncc"

Row = tuple[str, str, str, str, str]
Measured = Callable[[str], float | None]
"""A figure of one of our paths, by its title."""


def goals(results: Results) -> Iterator[Row]:
    """Rows: what, then limit and measured value of the plain and of the fast path; a cross where it falls short."""
    yield from _large(results)
    yield from _small(results)
    yield from _more(results)
    yield from _start_up(results)


def _large(results: Results) -> Iterator[Row]:
    """Large matrices against reading them and against the official score; growth and memory."""
    for score, operation, plain, fast in (
        ("RANK", "calibrate", 10, 2.5),
        ("RANK", "predict", 20, 6),
        ("APS", "calibrate", 14, 4),
        ("APS", "predict", 28, 7),
        ("THR", "calibrate", 2, 1.3),
    ):
        task = Task(*BIG, score, operation)
        yield _row(f"{task.size} {score} {operation}, in readings", _readings(results, task), "≤", plain, fast)
    calibrate = Task(*BIG, "RANK", "calibrate")
    against = _against(results, [calibrate], OFFICIAL)
    yield _row(f"{calibrate.size} RANK calibrate, against official RANK", against, "≥", 30, 120)
    thr = [task for task in results.runs if (task.score, task.operation, task.part) == ("THR", "calibrate", "sizes")]
    yield _row("THR calibrate, the worst size against puncc", _against(results, thr, PUNCC), "≥", 1.2, 1.2)
    yield _row("growth exponent: the worst", lambda title: _steepest(results, title), "≤", 1.25, 1.25)
    yield _row(f"{calibrate.size} RANK calibrate, extra memory / matrix", lambda t: _memory(results, t), "≤", 0.1, 0.05)


def _small(results: Results) -> Iterator[Row]:
    """Matrices of few entries, and single rows."""
    everything = [task for task in results.runs if (task.rows, task.classes, task.part) == (*SHORT, "sizes")]
    short, wider = Task(*SHORT, "", "").size, Task(*WIDER, "", "").size
    yield _row(
        f"{short}, the worst of APS and THR against TorchCP, RANK against official RANK",
        _against(results, everything),
        "≥",
        0.5,
        0.8,
    )
    thr = [Task(*SHORT, "THR", "predict")]
    yield _row(f"{short} THR predict, against TorchCP", _against(results, thr, TORCHCP), "≥", 0.5, 0.8)
    sorted_scores = [task for task in everything if task.score != "THR"]
    what = f"{short}, the worst of APS against TorchCP, RANK against official RANK"
    yield _row(what, _against(results, sorted_scores), "≥", 1.5, 1.5)
    thr = [Task(*WIDER, "THR", "predict")]
    yield _row(f"{wider} THR predict, against TorchCP", _against(results, thr, TORCHCP), "≥", 1, 1)
    yield _row("one row, asked beforehand, the worst, in yardsticks", _one_row(results, "asked"), "≤", 25, 25)
    yield _row("one row, `rule.predict`, the worst, in yardsticks", _one_row(results, "predict"), "≤", 60, 60)


def _more(results: Results) -> Iterator[Row]:
    """p-values, RAPS and auto."""
    tasks = [Task(5_000, 1_000, score, "p_values", "more") for score in ("RANK", "APS", "THR")]
    for task in tasks:
        yield _row(f"{task.size} {task.score} p-values, in readings", _readings(results, task), "≤", 300, 60)
    raps = Task(*BIG, "RAPS", "predict", "more")
    yield _row(f"{raps.size} RAPS predict, in readings", _readings(results, raps), "≤", 8, 8)
    for task, limit in (
        (Task(*BIG, "auto", "calibrate", "more"), 4),
        (Task(5_000, 10, "auto", "calibrate", "more"), 0.15),
    ):
        yield _row(f"{task.size} auto, seconds", _seconds(results, task), "≤", limit, limit)


def _start_up(results: Results) -> Iterator[Row]:
    """Commands, in milliseconds."""
    limits = (*((what, 60) for what in start_up.BEYOND.values()), (start_up.HELP, 250), (start_up.PREDICT, 500))
    for what, limit in limits:

        def milliseconds(title: str, what: str = what) -> float | None:
            found = results.start_up.get(title, {}).get(what)
            return None if found is None else 1e3 * found

        yield _row(f"{what}, ms", milliseconds, "≤", limit, limit)


def _row(what: str, measured: Measured, sign: str, plain: float, fast: float) -> Row:
    return (
        what,
        f"{sign} {plain:g}",
        _shown(measured(PLAIN.title), sign, plain),
        f"{sign} {fast:g}",
        _shown(measured(FAST.title), sign, fast),
    )


def _shown(value: float | None, sign: str, limit: float) -> str:
    if value is None:
        return "not measured"
    return f"{value:.3g}{'' if (value <= limit if sign == '≤' else value >= limit) else ' ✗'}"


def _readings(results: Results, task: Task) -> Measured:
    return lambda title: results.ratio(task, title, READ.title)


def _seconds(results: Results, task: Task) -> Measured:
    def seconds(title: str) -> float | None:
        run = results.runs.get(task, {}).get(title)
        return run.median if run and run.seconds else None

    return seconds


def _against(results: Results, tasks: Iterable[Task], peer: str = "") -> Measured:
    """The worst of several tasks; without a peer RANK stands against the official score, which TorchCP lacks."""
    tasks = list(tasks)

    def worst(title: str) -> float | None:
        peers = (peer or (OFFICIAL if task.score == "RANK" else TORCHCP) for task in tasks)
        found = [results.ratio(task, other, title) for task, other in zip(tasks, peers, strict=True)]
        return min((ratio for ratio in found if ratio), default=None)

    return worst


def _one_row(results: Results, way: str) -> Measured:
    def worst(title: str) -> float | None:
        found = [by_way[title, way] for by_way in results.latency.values() if (title, way) in by_way]
        return max((one.yardsticks for one in found), default=None)

    return worst


def _steepest(results: Results, title: str) -> float | None:
    return max((value for key, value in results.growth.items() if key[-1] == title), default=None)


def _memory(results: Results, title: str) -> float | None:
    run = results.runs.get(Task(*BIG, "RANK", "calibrate"), {}).get(title)
    return run.extra / (4 * BIG[0] * BIG[1]) if run else None
