"""The compiled path against the plain one and against a pure read of the matrix, on small inputs, in seconds.

Fails when an operation fails, the two answers differ or the compiled path was not taken; times are only shown.
"""

import statistics
import sys
import tempfile
from pathlib import Path

import matrices
from results import Task
from workers import FAST, PLAIN, READ, Worker

SIZES = ((1, 10), (2_000, 10), (20_000, 500), (1_000, 10_000))
LARGE = 9_000_000
"""With so many entries the compiled path must be the one taken, lest nothing be compared."""

SCORES = ("RANK", "APS", "THR")


def main() -> int:
    """Show a line per operation and return 1 if any answer differs."""
    workers = (READ, PLAIN, FAST)
    print(f"{'':<24} {'read':>9} {'plain':>9} {'fast':>9}  milliseconds")
    with tempfile.TemporaryDirectory(prefix="rankset-bench-") as name:
        try:
            codes = [_compare(Path(name), *size) for size in SIZES]
        finally:
            for worker in workers:
                worker.stop()
    return max(codes)


def _compare(folder: Path, rows: int, classes: int) -> int:
    test = matrices.write(folder, rows, classes)
    known = matrices.write(folder, max(rows, 200), classes)
    for worker in (READ, PLAIN, FAST):
        worker.load("matrix", known, test)
    for score in SCORES:
        for operation in Task.BOTH:
            task = Task(rows, classes, score, operation)
            times = [_time(READ, "calibrate", "read"), *(_time(ours, operation, score) for ours in (PLAIN, FAST))]
            print(f"{task.size:<9} {score:<4} {operation:<9} {''.join(f'{1e3 * time:10.2f}' for time in times)}")
    faults = [fault for score in SCORES if (fault := _fault(score, large=rows * classes > LARGE))]
    for fault in faults:
        print(f"{rows}x{classes} {fault}", file=sys.stderr)
    for worker in (READ, PLAIN, FAST):
        worker.drop()
    return int(bool(faults))


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
