"""The compiled path against the plain one and against a pure read of the matrix, on small inputs, in seconds.

Fails when an operation fails or the two answers differ; times are only shown.
"""

import statistics
import sys
import tempfile
from pathlib import Path

import matrices
from results import Task
from workers import FAST, PLAIN, READ, Worker

SIZES = ((1, 10), (2_000, 10), (4_000, 500), (200, 10_000))
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
    digests = [[ours.ask("digest", name="matrix", score=score) for ours in (PLAIN, FAST)] for score in SCORES]
    differing = [score for score, (plain, fast) in zip(SCORES, digests, strict=True) if plain != fast]
    for score in differing:
        print(f"{rows}x{classes} {score}: the compiled path's answer differs from the plain path's", file=sys.stderr)
    for worker in (READ, PLAIN, FAST):
        worker.drop()
    return int(bool(differing))


def _time(worker: Worker, operation: str, score: str) -> float:
    """The median of three runs after one."""
    answers = [worker.ask("seconds", name="matrix", operation=operation, score=score, loops=1) for _ in range(4)]
    return float(statistics.median(answer["seconds"] for answer in answers[1:]))


if __name__ == "__main__":
    sys.exit(main())
