"""What we mean to reach, beside what was measured."""

from collections.abc import Callable, Iterator

from results import Results, Task
from workers import FAST, PLAIN, READ

BIG, SHORT = (50_000, 1_000), (10_000, 10)


def goals(results: Results) -> Iterator[tuple[str, str, str, str, str]]:
    """Rows: what, then limit and measured value of the plain and of the fast path; a cross where it falls short."""
    for score, operation, plain, fast in (
        ("RANK", "calibrate", 10, 2.5),
        ("RANK", "predict", 20, 6),
        ("APS", "calibrate", 14, 4),
        ("APS", "predict", 28, 7),
    ):
        task = Task(*BIG, score, operation)

        def readings(title: str, task: Task = task) -> float | None:
            return results.ratio(task, title, READ.title)

        yield _row(f"{task.size} {score} {operation}, in readings", readings, "≤", plain, fast)
    calibrate = Task(*BIG, "RANK", "calibrate")
    yield _row(
        f"{calibrate.size} RANK calibrate, against official RANK",
        lambda title: results.ratio(calibrate, "official RANK", title),
        "≥",
        30,
        120,
    )
    yield _row(
        f"{Task(*SHORT, '', '').size}, the worst of APS and THR against TorchCP, RANK against official RANK",
        lambda t: _worst(results, t),
        "≥",
        0.5,
        0.8,
    )
    yield _row("growth exponent: the worst", lambda title: _steepest(results, title), "≤", 1.25, 1.25)
    yield _row(f"{calibrate.size} RANK calibrate, extra memory / matrix", lambda t: _memory(results, t), "≤", 0.1, 0.05)


def _row(
    what: str, measured: Callable[[str], float | None], sign: str, plain: float, fast: float
) -> tuple[str, str, str, str, str]:
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


def _worst(results: Results, title: str) -> float | None:
    """Of all scores both have at the small size; RANK stands against the official score, as TorchCP lacks it."""
    found = [
        results.ratio(task, "official RANK" if task.score == "RANK" else "TorchCP", title)
        for task in results.runs
        if (task.rows, task.classes) == SHORT
    ]
    return min((ratio for ratio in found if ratio), default=None)


def _steepest(results: Results, title: str) -> float | None:
    return max((value for key, value in results.growth.items() if key[-1] == title), default=None)


def _memory(results: Results, title: str) -> float | None:
    run = results.runs.get(Task(*BIG, "RANK", "calibrate"), {}).get(title)
    return run.extra / (4 * BIG[0] * BIG[1]) if run else None
