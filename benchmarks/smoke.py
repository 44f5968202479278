"""The compiled path against the plain one and against a pure read of the matrix, on small inputs, in seconds.

Fails when an operation fails, the two answers differ or the compiled path was not taken; times are only shown. Single
rows and start-up are tried as well, briefly, and the page is written from what was measured.
"""

import statistics
import sys
import tempfile
from pathlib import Path

import latency
import matrices
import report
import start_up
from results import Results, Task
from workers import FAST, OURS, PLAIN, READ, Worker

SIZES = ((1, 10), (2_000, 10), (20_000, 500), (1_000, 10_000))
LARGE = 9_000_000
"""With so many entries the compiled path must be the one taken, lest nothing be compared."""

FEW = 20_000
"""Up to so many entries p-values and auto are tried, too."""

SCORES = ("RANK", "APS", "THR", "RAPS")


def main() -> int:
    """Show a line per operation and return 1 if any answer differs."""
    workers = (READ, PLAIN, FAST)
    print(f"{'':<24} {'read':>9} {'plain':>9} {'fast':>9}  milliseconds")
    with tempfile.TemporaryDirectory(prefix="rankset-bench-") as name:
        try:
            codes = [_compare(Path(name), *size) for size in SIZES]
            print(_briefly(Path(name)))
        finally:
            for worker in workers:
                worker.stop()
    return max(codes)


def _compare(folder: Path, rows: int, classes: int) -> int:
    test = matrices.write(folder, rows, classes)
    known = matrices.write(folder, max(rows, 200), classes)
    for worker in (READ, PLAIN, FAST):
        worker.load("matrix", known, test)
    few = rows * classes <= FEW
    tasks = [Task(rows, classes, score, do) for score in SCORES for do in (*Task.BOTH, *["p_values"][: int(few)])]
    for task in [*tasks, *[Task(rows, classes, "auto", "calibrate")][: int(few)]]:
        times = [_time(READ, "calibrate", "read"), *(_time(ours, task.operation, task.score) for ours in OURS)]
        shown = "".join(f"{1e3 * time:10.2f}" for time in times)
        print(f"{task.size:<9} {task.score:<4} {task.operation:<9} {shown}")
    faults = [fault for score in SCORES if (fault := _fault(score, large=rows * classes > LARGE))]
    for fault in faults:
        print(f"{rows}x{classes} {fault}", file=sys.stderr)
    for worker in (READ, PLAIN, FAST):
        worker.drop()
    return int(bool(faults))


def _briefly(folder: Path) -> str:
    """Single rows and start-up, and the sections of the page about them."""
    results = Results({worker.title: worker.ask("about") for worker in OURS}, load=0.0)
    row, known = matrices.write(folder, 1, 10), matrices.write(folder, 200, 10)
    for score in SCORES[:3]:
        latency.measure(results, Task(1, 10, score, "predict", "latency"), known, row, OURS, calls=200)
    start_up.measure(results, folder, times=1)
    page = report.text(results)
    return page[page.index("## One row") : page.index("## p-values")] + start_up.text(results)


def _fault(score: str, *, large: bool) -> str:
    """What is wrong with the two answers, if anything."""
    plain, fast = (ours.ask("digest", name="matrix", score=score) for ours in (PLAIN, FAST))
    if plain["digest"] != fast["digest"]:
        return f"{score}: the compiled path's answer differs from the plain path's"
    if plain["compiled"] or (large and not fast["compiled"]):
        return f"{score}: RANKSET_PLAIN or the size chose the wrong path, so nothing was compared"
    return ""


def _time(worker: Worker, operation: str, score: str) -> float:
    """The median of three runs after one."""
    answers = [worker.ask("seconds", name="matrix", operation=operation, score=score, loops=1) for _ in range(4)]
    return float(statistics.median(answer["seconds"] for answer in answers[1:]))


if __name__ == "__main__":
    sys.exit(main())
