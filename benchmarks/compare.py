"""Everybody on the same matrices, in turn, in one run; writes RESULTS.md.

python3 run.py bench                          # all of it, about 25 minutes
python3 run.py bench --parts sizes,small --sizes 10000x10 --output some.md
"""

import argparse
import math
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import latency
import matrices
import report
import start_up
from results import Contender, Results, Run, Task
from workers import FAST, OURS, PATIENCE, PEERS, READ, Refusal, Worker

SIZES = ((10_000, 10), (10_000, 100), (50_000, 1_000), (5_000, 10_000), (1_000_000, 100))
SMALL = ((1, 10), (100, 10), (1, 1_000))
GROWTH = {"n": ((50_000, 1_000), (100_000, 1_000)), "K": ((20_000, 2_000), (20_000, 4_000))}
MORE = (
    ((1_000, 100), ("RANK", "APS", "THR"), "p_values"),
    ((5_000, 1_000), ("RANK", "APS", "THR"), "p_values"),
    ((50_000, 1_000), ("RAPS",), "predict"),
    ((50_000, 1_000), ("auto",), "calibrate"),
    ((5_000, 10), ("auto",), "calibrate"),
)
SMALL_CALIBRATION = 1_000
PARTS = ("sizes", "small", "latency", "more", "start-up", "growth")
SCORES = ("RANK", "APS", "THR")
LIMIT = 60.0
"""Seconds after which a repetition is too long."""


def main() -> int:
    """Measure, and write what has been measured so far after every step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=_sizes, default=SIZES, help="such as 10000x10,50000x1000")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=PARTS, help=",".join(PARTS))
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("RESULTS.md"))
    options = parser.parse_args()
    workers = (READ, *OURS, *PEERS)
    results = Results({worker.title: worker.ask("about") for worker in workers}, os.getloadavg()[0])
    with tempfile.TemporaryDirectory(prefix="rankset-bench-") as name:
        try:
            for step in _steps(results, Path(name), options.parts, options.sizes):
                print(step, file=sys.stderr, flush=True)
                results.load_after = os.getloadavg()[0]
                options.output.write_text(report.text(results))
        finally:
            for worker in workers:
                worker.stop()
    return 0


def _steps(results: Results, folder: Path, parts: Sequence[str], sizes: Sequence[tuple[int, int]]) -> Iterator[str]:
    for rows, classes in sizes if "sizes" in parts else ():
        files = matrices.write(folder, rows, classes)
        tasks = [Task(rows, classes, score, operation) for score in SCORES for operation in Task.BOTH]
        yield from _tasks(results, tasks, files, files)
    for rows, classes in SMALL if "small" in parts else ():
        files = matrices.write(folder, rows, classes)
        known = files if rows > 1 else matrices.write(folder, SMALL_CALIBRATION, classes)
        operations = Task.BOTH if rows > 1 else ("predict",)
        tasks = [Task(rows, classes, score, do, "small") for score in SCORES for do in operations]
        yield from _tasks(results, tasks, known, files)
    for classes in latency.CLASSES if "latency" in parts else ():
        row, known = matrices.write(folder, 1, classes), matrices.write(folder, SMALL_CALIBRATION, classes)
        for score in SCORES:
            yield latency.measure(results, Task(1, classes, score, "predict", "latency"), known, row)
    for size, scores, operation in MORE if "more" in parts else ():
        files = matrices.write(folder, *size)
        yield from _tasks(results, [Task(*size, score, operation, "more") for score in scores], files, files)
    if "start-up" in parts:
        yield start_up.measure(results, folder)
    for letter, pair in GROWTH.items() if "growth" in parts else ():
        yield _growth(results, letter, [matrices.write(folder, *size) for size in pair])


def _tasks(results: Results, tasks: list[Task], known: list[str], files: list[str]) -> Iterator[str]:
    """All tasks on one matrix."""
    workers = (READ, *OURS, *PEERS)
    for worker in workers:
        worker.load("matrix", known, files)
    if tasks[0].part != "more" and not FAST.ask("compiled", name="matrix")["compiled"]:
        results.plain_sizes.append(tasks[0].size)
    for task in tasks:
        results.runs[task] = _interleaved(results, task)
        yield report.line(results, task)
    for worker in workers:
        worker.drop()


def _interleaved(results: Results, task: Task) -> dict[str, Run]:
    """Every contender once for memory, then all of them in turn, starting with another one each time."""
    runs = {}
    for contender in _contenders(results, task):
        runs[contender] = _first(results, task, contender)
    able = [contender for contender, run in runs.items() if not run.refusal]
    for repetition in range(max(runs[contender].repetitions for contender in able)):
        shift = repetition % len(able)
        for contender in [*able[shift:], *able[:shift]]:
            if repetition < runs[contender].repetitions:
                _again(contender, runs[contender])
    return {contender.title: run for contender, run in runs.items()}


def _contenders(results: Results, task: Task) -> Iterator[Contender]:
    """Who takes part: a pure read, we twice (and as a mask, where sets are asked for), peers that have the score."""
    if task.part != "small":
        yield Contender(READ.title, READ, "calibrate", "read")
    for worker in OURS:
        yield Contender(worker.title, worker, task.operation, task.score)
        if task.operation == "predict" and task.part != "more":
            yield Contender(f"{worker.title}, mask", worker, "mask", task.score)
    for worker in PEERS:
        about = results.about[worker.title]
        if task.score in about["scores"] and (task.operation != "p_values" or about["p_values"]):
            yield Contender(worker.title, worker, task.operation, task.score)


def _first(results: Results, task: Task, contender: Contender) -> Run:
    """The warm-up: extra memory, how long it takes, or why it is left out."""
    if reason := results.expected_refusal(task, contender.title, LIMIT):
        return Run(refusal=reason)
    try:
        if contender.operation != "calibrate":
            contender.worker.ask("prepare", LIMIT, name="matrix", score=contender.score)
        answer = contender.worker.ask("memory", LIMIT, **contender.question)
        if answer["seconds"] < (
            10 if contender.worker in OURS else 2
        ):  # the first run may have compiled or imported something
            answer = contender.worker.ask("memory", LIMIT, **contender.question)
    except Refusal as refusal:
        return Run(refusal=str(refusal))
    return Run.after(answer)


def _again(contender: Contender, run: Run) -> None:
    """One more repetition."""
    try:
        run.seconds.append(contender.worker.ask("seconds", loops=run.loops, **contender.question)["seconds"])
    except Refusal as refusal:
        run.refusal, run.repetitions = str(refusal), 0


def _growth(results: Results, letter: str, files: list[list[str]]) -> str:
    """The last step's exponents of our own times, halves and wholes in turn."""
    for worker in OURS:
        for name, matrix in zip(("half", "whole"), files, strict=True):
            worker.load(name, matrix, matrix)
        for score in SCORES:
            for operation in Task.BOTH:
                steps = [_step(worker, operation, score) for _ in range(6)][1:]
                results.growth[letter, score, operation, worker.title] = statistics.median(steps)
        worker.drop()
    return f"growth in {letter}"


def _step(worker: Worker, operation: str, score: str) -> float:
    """log2 of whole time over half time, both measured now."""
    half, whole = (
        worker.ask("seconds", PATIENCE, name=name, operation=operation, score=score, loops=1)["seconds"]
        for name in ("half", "whole")
    )
    return math.log2(whole / half)


def _sizes(text: str) -> list[tuple[int, int]]:
    return [(int(rows), int(classes)) for rows, classes in (size.split("x") for size in text.split(","))]


if __name__ == "__main__":
    sys.exit(main())
