"""One library in a process of its own: reads a question per line on stdin, answers with a line on stdout, both JSON.

Imports and loading are never timed. Extra peak memory is the kernel's high-water mark of the process (VmHWM), set back
to the present size before the run, less that size: whatever the library allocates, in any language, result included.
"""

import ctypes
import importlib
import importlib.metadata
import json
import os
import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
from peers import Peer

MEMORY_LIMIT = 12 << 30


class Worker:
    """The peer, the matrices it was given by name, and the rules it made of them."""

    def __init__(self, name: str) -> None:
        self.peer = cast("Peer", importlib.import_module(f"peers.{name}"))
        self.data: dict[str, tuple[Any, Any]] = {}
        self.rows: dict[str, Any] = {}
        self.rules: dict[tuple[str, str], Any] = {}

    def about(self) -> dict[str, Any]:
        """Which scores there are, and the versions behind them."""
        versions = {name: version(name) for name in self.peer.PACKAGES}
        return {
            "scores": list(self.peer.SCORES),
            "p_values": hasattr(self.peer, "p_values"),
            "warm_up": getattr(self.peer, "WARM_UP", None),
            "versions": {name: v for name, v in versions.items() if v},
        }

    def load(self, name: str, calibration: list[str], test: list[str]) -> dict[str, Any]:
        """Load rows to calibrate on and rows to predict, the same array where the files are the same."""
        ours = self.peer.load(*map(np.load, calibration))
        self.data[name] = ours, ours if test == calibration else self.peer.load(*map(np.load, test))
        self.rows[name] = np.load(test[0], mmap_mode="r")
        return {}

    def drop(self) -> dict[str, Any]:
        """Forget everything loaded."""
        self.data.clear()
        self.rows.clear()
        self.rules.clear()
        return {}

    def prepare(self, name: str, score: str) -> dict[str, Any]:
        """Make the rule that predictions need."""
        self.rule(name, score)
        return {}

    def seconds(self, name: str, operation: str, score: str, loops: int) -> dict[str, Any]:
        """Wall time of one run, the mean of ``loops`` runs where one is too short to be timed."""
        run = self.operation(name, operation, score)
        start = time.perf_counter()
        for _ in range(loops):
            run()
        return {"seconds": (time.perf_counter() - start) / loops}

    def memory(self, name: str, operation: str, score: str) -> dict[str, Any]:
        """Extra peak memory of one run, and the mean size of the sets where there are sets."""
        run = self.operation(name, operation, score)
        trim()
        Path("/proc/self/clear_refs").write_text("5")
        before, start = status("VmRSS"), time.perf_counter()
        result = run()
        found = {"seconds": time.perf_counter() - start, "bytes": max(0, status("VmHWM") - before)}
        return found | ({"size": self.peer.mean_size(result)} if operation == "predict" else {})

    def latency(self, name: str, way: str, score: str, calls: int, budget: float) -> dict[str, Any]:
        """Single calls on the rows of a matrix, and the yardstick, its largest entries by NumPy, between them.

        Calls are timed one by one, a hundred and then as many yardsticks, until there are enough or ``budget`` seconds
        are over.
        """
        run, rows = self.way(name, way, score), np.array(self.rows[name])

        def yardstick() -> object:
            return rows.max(axis=1)

        each(run, 50)
        each(yardstick, 50)
        times: list[int] = []
        yardsticks: list[int] = []
        start = time.perf_counter()
        while len(times) < calls and time.perf_counter() - start < budget:
            times += each(run, 100)
            yardsticks += each(yardstick, 100)
        median, high = np.percentile(times, (50, 99)).tolist()
        return {"calls": len(times), "median": median, "high": high, "yardstick": float(np.median(yardsticks))}

    def way(self, name: str, way: str, score: str) -> Callable[[], object]:
        """One way to ask for sets; most libraries have one."""
        ways = getattr(self.peer, "ways", None)
        return ways(self.rule(name, score), self.data[name][1])[way] if ways else self.operation(name, way, score)

    def compiled(self, name: str) -> dict[str, Any]:
        """Whether compiled code works on a matrix."""
        return {"compiled": cast("Any", self.peer).compiled(self.data[name][1])}

    def digest(self, name: str, score: str) -> dict[str, Any]:
        """A hash of what the rule answers, and whether compiled code answered."""
        peer, test = cast("Any", self.peer), self.data[name][1]
        return {"digest": peer.digest(self.rule(name, score), test), "compiled": peer.compiled(test)}

    def operation(self, name: str, operation: str, score: str) -> Callable[[], Any]:
        """One run of an operation as a function of nothing; a rule it needs is made beforehand."""
        ours, test = self.data[name]
        if operation == "calibrate":
            return lambda: self.peer.calibrate(score, ours)
        rule, function = self.rule(name, score), getattr(self.peer, operation)
        return lambda: function(rule, test)

    def rule(self, name: str, score: str) -> Any:  # noqa: ANN401
        """The rule of a matrix and a score, made once."""
        if (name, score) not in self.rules:
            self.rules[name, score] = self.peer.calibrate(score, self.data[name][0])
        return self.rules[name, score]


def each(run: Callable[[], object], calls: int) -> list[int]:
    """Nanoseconds of every call."""
    clock, found = time.perf_counter_ns, []
    for _ in range(calls):
        start = clock()
        run()
        found.append(clock() - start)
    return found


def version(package: str) -> str | None:
    """A distribution's version, if it is there."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def status(field: str) -> int:
    """One line of the kernel's account of this process, in bytes."""
    found = re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) << 10 if found else 0


def trim() -> None:
    """Give freed memory back to the system, so that using it again counts."""
    function = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if function:
        function(0)


def main(name: str) -> None:
    """Answer until stdin ends; what libraries print goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))
    worker = Worker(name)
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = getattr(worker, question.pop("do"))(**question)
        except Exception as error:  # noqa: BLE001 - whatever a library raises is its answer
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
