"""What was measured."""

import math
import statistics
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from workers import Worker

REPETITIONS = ((0.5, 9), (2, 5), (5, 3), (20, 2))
"""How many there are of a run that takes less than so many seconds; one of a run that takes longer."""


@dataclass(frozen=True)
class Task:
    """An operation with a score on a matrix, in one part of the benchmark."""

    rows: int
    classes: int
    score: str
    operation: str
    part: str = "sizes"

    BOTH: ClassVar = ("calibrate", "predict")

    @property
    def size(self) -> str:
        return f"{_short(self.rows)}×{_short(self.classes)}"

    @property
    def cells(self) -> int:
        return self.rows * self.classes


@dataclass(frozen=True)
class Contender:
    """Someone who takes part in a task, and what they are asked to do."""

    title: str
    worker: Worker = field(compare=False)
    operation: str
    score: str

    @property
    def question(self) -> dict[str, Any]:
        return {"name": "matrix", "operation": self.operation, "score": self.score}


@dataclass
class Run:
    """One contender's times in a task, or why there are none."""

    first: float = math.nan
    extra: int = 0
    size: float | None = None
    repetitions: int = 0
    loops: int = 1
    refusal: str = ""
    seconds: list[float] = field(default_factory=list)

    @classmethod
    def after(cls, warm_up: dict[str, Any]) -> "Run":
        """More repetitions where they are short, and runs timed together until about 20 ms are timed."""
        first = warm_up["seconds"]
        repetitions = next((count for limit, count in REPETITIONS if first < limit), 1)
        loops = max(1, min(500, int(0.02 / first)))
        return cls(first, warm_up["bytes"], warm_up.get("size"), repetitions, loops)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


@dataclass(frozen=True)
class Latency:
    """Nanoseconds of single calls on one row: median, 99th percentile, and the median of the yardstick beside them."""

    calls: int
    median: float
    high: float
    yardstick: float

    @property
    def yardsticks(self) -> float:
        return self.median / self.yardstick


@dataclass
class Results:
    """Everything a report is made of."""

    about: dict[str, dict[str, Any]]
    load: float
    load_after: float = math.nan
    runs: dict[Task, dict[str, Run]] = field(default_factory=dict)
    growth: dict[tuple[str, str, str, str], float] = field(default_factory=dict)
    latency: dict[Task, dict[tuple[str, str], Latency]] = field(default_factory=dict)
    """By contender and way of asking."""
    start_up: dict[str, dict[str, float]] = field(default_factory=dict)
    """Seconds of commands, by our worker and what was measured."""
    plain_sizes: list[str] = field(default_factory=list)
    """Sizes on which the fast worker took the plain path."""

    def ratio(self, task: Task, above: str, below: str) -> float | None:
        """How many times as long ``above`` takes: the median over repetitions, each against its neighbour in time."""
        runs = self.runs.get(task, {})
        if not (above in runs and below in runs and runs[above].seconds and runs[below].seconds):
            return None
        pairs = zip(runs[above].seconds, runs[below].seconds, strict=False)
        return statistics.median(one / other for one, other in pairs)

    def expected_refusal(self, task: Task, title: str, limit: float) -> str:
        """Why it need not be tried: on a smaller matrix it was too much, or would be if time only grew with cells."""
        calibration = self.runs.get(replace(task, operation="calibrate"), {}).get(title)
        if calibration and calibration.refusal:
            return calibration.refusal
        for other, runs in self.runs.items():
            alike = (other.score, other.operation, other.part) == (task.score, task.operation, task.part)
            if not alike or title not in runs or other.rows > task.rows or other.classes > task.classes:
                continue
            run, size = runs[title], f" at {other.size}"
            if run.refusal.startswith("more than"):
                return run.refusal if " at " in run.refusal else run.refusal + size
            if run.seconds and run.median > 1 and run.median * task.cells / other.cells > limit:
                return f"more than {limit:.0f} s expected, from {run.median:.1f} s{size}"
        return ""


def _short(count: int) -> str:
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= unit and count % unit == 0:
            return f"{count // unit}{letter}"
    return str(count)
