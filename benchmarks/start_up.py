"""How long commands take from nothing: a new process each, in turn, in the environment of the benchmark."""

import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import matrices
import numpy as np
from results import Results
from tables import grid
from workers import FAST, OURS, PLAIN, Worker

TIMES = 20
NUMPY, IMPORT, NAME = "import numpy", "import numpy, rankset", "import numpy, rankset; rankset.calibrate"
NOTHING, HELP, PREDICT = "`python -c pass`", "`rankset --help`", "`rankset predict` on ten rows of csv"
BEYOND = {IMPORT: "`import rankset` beyond NumPy's own", NAME: "… and `rankset.calibrate`, beyond NumPy's own"}


def measure(results: Results, folder: Path, times: int = TIMES) -> str:
    """Medians of wall times, and of what our import takes in addition to NumPy's."""
    for worker in OURS:
        commands = _commands(worker, folder)
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        rounds = [_round(commands, {**variables, **worker.variables}) for _ in range(times + 1)][1:]
        found = {what: statistics.median(one[what] for one in rounds) for what in commands}
        beyond = {BEYOND[what]: statistics.median(one[what] - one[NUMPY] for one in rounds) for what in BEYOND}
        results.start_up[worker.title] = found | beyond
    return "start-up"


def text(results: Results) -> str:
    """The section."""
    fast, plain = (results.start_up.get(worker.title, {}) for worker in (FAST, PLAIN))
    rows = [(what, f"{1e3 * fast[what]:.0f}", f"{1e3 * plain[what]:.0f}") for what in fast]
    return f"## Start-up, milliseconds\n\nMedians of {TIMES} processes.\n\n" + grid(("", "fast", "plain"), rows)


def _commands(worker: Worker, folder: Path) -> dict[str, Sequence[str | Path]]:
    """What is typed; a rule and ten rows are written for it."""
    programs = worker.python.parent
    probs, labels = matrices.write(folder, 1_000, 10)
    rule, rows = folder / "rule.rankset", folder / "rows.csv"
    if not rule.exists():
        subprocess.run([programs / "rankset", "calibrate", probs, labels, "-o", rule], check=True, capture_output=True)
        np.savetxt(rows, np.load(probs)[:10], delimiter=",", header=",".join(map(str, range(10))), comments="")
    return {
        NOTHING: [worker.python, "-c", "pass"],
        **{code: [worker.python, "-c", code] for code in (NUMPY, IMPORT, NAME)},
        HELP: [programs / "rankset", "--help"],
        PREDICT: [programs / "rankset", "predict", rule, rows, "-o", folder / "sets.csv", "--force"],
    }


def _round(commands: Mapping[str, Sequence[str | Path]], variables: Mapping[str, str]) -> dict[str, float]:
    found = {}
    for what, command in commands.items():
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL, env=variables)
        found[what] = time.perf_counter() - start
    return found
