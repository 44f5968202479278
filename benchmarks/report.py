"""Results as a page of tables. No host name, no path."""

import math
import os
import re
from collections.abc import Callable
from pathlib import Path

import latency
import slower
import start_up
from goals import goals
from results import Results, Run, Task
from tables import Cell, by_task, grid, name
from workers import FAST, PEERS, PLAIN, READ

INTRODUCTION = """# Measured

`python3 run.py bench` wrote this page. Ratios are its message: everybody runs on the same float32 matrices in one run,
in turn, each in a process and an environment of its own. *fast* is rankset with `rankset[fast]`, *plain* is the NumPy
path (`RANKSET_PLAIN=1`). A ratio is the median of the ratios within repetitions, not the quotient of the medians shown
as seconds. A dash: the library has no such score.
"""
METHOD = """## How

* Rows like a good network's softmax, seeded, labels drawn from the probabilities themselves; alpha = 0.1; sets are
  predicted for the rows calibrated on. Imports, loading and rules that a prediction needs are not timed.
* One warm-up, then 9 repetitions (5 where one takes over half a second, 3 over two, 2 over five, 1 over 20), another
  library first each time. A ratio is the median of ratios within repetitions. What takes under 20 ms is run several
  times and divided.
* *Reading* is the largest entry of the matrix by NumPy, one thread per core.
* Extra peak memory is the kernel's high-water mark during one run of its own (VmHWM, set back before), less the size
  before: everything allocated in any language, the result included, the matrix itself not.
* Left out: more than 60 s a repetition or more than 12 GB, found by trying, or from a smaller matrix if time grew with
  cells only.
* TorchCP: `SplitPredictor` with `score_type="identity"` on tensors. It is installed without torchsort, torch_geometric
  and transformers; empty stubs stand for what its import wants of them, and nothing timed touches those.
* official RANK: the authors' way, on torch: sort all classes of every row, score = rank minus probability; a few lines
  of ours. Both torch peers use one thread or all, whichever sorts the matrix at hand sooner.
* MAPIE: `SplitConformalClassifier(prefit=True)` around an estimator that hands the matrix through, options as they come
  (`include_last_label=True`, not randomised, hence its larger APS sets).
* crepes: `ConformalClassifier` with `hinge`, no smoothing. puncc: `APS` and `LAC` around `IdPredictor`.
* rankset answers with compressed rows and checks every entry of its input; *mask* adds `.mask`, the (n, K) matrix that
  TorchCP, MAPIE, crepes and the official score answer with. puncc answers with lists.
* Nobody but rankset and the official score has RANK; crepes has no APS. crepes and TorchCP have p-values
  (`predict_p`), MAPIE and puncc have none for labels. RAPS has the penalty 0.001 after 5 ranks; MAPIE's chooses its
  penalty when it calibrates, which is not timed.
* One row: `time.perf_counter_ns` around every call, with garbage collection as it is, after 50 calls. Ours are measured
  with `ask = rule.at(0.1)` made beforehand, and as `rule.predict(row, 0.1)`. A *yardstick* is the median of
  `row.max(axis=1)` by NumPy, of as many calls in the same process, a hundred of ours and a hundred of these in turn.
* Start-up: wall times of processes, in turn, in the environment of *fast*; the variable `RANKSET_PLAIN` is set for
  *plain*.
"""

TITLES = (FAST.title, PLAIN.title, *(peer.title for peer in PEERS))


def text(results: Results) -> str:
    """The whole page."""
    large = [task for task in results.runs if task.part == "sizes"]
    small = [task for task in results.runs if task.part == "small"]
    more = [task for task in results.runs if task.part == "more"]
    parts = [
        INTRODUCTION,
        _paths(results),
        _machine(results),
        "## Goals\n\nWhat we mean to reach, and a cross where we do not.\n\n"
        + grid(("", "asked", "plain", "asked", "fast"), goals(results)),
        "## How many times as long others take\n\nAgainst fast / plain; bold where we are slower.\n\n"
        + by_task(large, [(peer.title, _faster(results, peer.title)) for peer in PEERS]),
        "## Against reading the matrix\n\nTime in readings; its inverse is the share of the bandwidth.\n\n"
        + by_task(large, _reading(results)),
        "## Seconds\n\n" + by_task(large, _columns(results, _seconds)),
        "## Extra peak memory, MB\n\n" + by_task(large, [("matrix", _matrix_size), *_columns(results, _memory)]),
        "## Growth\n\nExponent of the last doubling, n to 100k at K = 1,000, K to 4,000 at n = 20k; 1 is linear.\n\n"
        + _growth(results),
        "## Small inputs, microseconds\n\nRules from 1,000 rows where one row is predicted.\n\n"
        + by_task(small, _columns(results, _microseconds)),
        latency.text(results),
        "## p-values, RAPS, auto\n\nIn readings of the matrix.\n\n"
        + by_task(more, [(_short(title), _in_readings(results, title)) for title in TITLES])
        + "\nIn seconds.\n\n"
        + by_task(more, _columns(results, _seconds)),
        start_up.text(results),
        slower.text(results),
        "## Labels per set\n\nThe same job was done, but for MAPIE's APS, which does not draw.\n\n"
        + by_task([task for task in large if task.operation == "predict"], _columns(results, _set_size)),
        "## Left out\n\n" + _left_out(results),
        METHOD,
    ]
    return "\n".join(part if part.endswith("\n") else part + "\n" for part in parts if part)


def line(results: Results, task: Task) -> str:
    """One task while the others are still to come."""
    runs = results.runs[task].items()
    times = ", ".join(f"{title} {_seconds(run) if run.seconds else run.refusal}" for title, run in runs)
    return f"{name(task)}: {times}"


def _paths(results: Results) -> str:
    """What the compiled path did, as far as it was measured."""
    seconds = results.about[FAST.title].get("warm_up")
    parts = []
    if seconds is not None:
        parts.append(
            f"Compiled code of *fast* was loaded before, by `rankset.warm_up()` ({seconds:.1f} s, not in any table)."
        )
    if results.plain_sizes:
        parts.append(f"*fast* took the NumPy path, too, at {', '.join(results.plain_sizes)}.")
    return "\n".join(parts)


def _machine(results: Results) -> str:
    found = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    cores = len(os.sched_getaffinity(0))
    versions = [
        f"{title} ({', '.join(f'{name} {version}' for name, version in about['versions'].items())})"
        for title, about in results.about.items()
        if title not in {READ.title, PLAIN.title}
    ]
    return (
        f"Machine: {cores} cores, {found[1] if found else 'unknown CPU'}; load average before {results.load:.1f}, "
        f"after {results.load_after:.1f} (the benchmark itself included).\n"
        f"Versions: {'; '.join(versions)}.\n"
    )


def _columns(results: Results, show: Callable[[Run], str]) -> list[tuple[str, Cell]]:
    def column(title: str) -> Cell:
        def cell(task: Task) -> str:
            run = results.runs[task].get(title)
            return "–" if run is None else show(run) if run.seconds else "left out"

        return cell

    masks = [f"{worker.title}, mask" for worker in (FAST, PLAIN)]
    return [(_short(title), column(title)) for title in (READ.title, *TITLES[:2], *masks, *TITLES[2:])]


def _in_readings(results: Results, title: str) -> Cell:
    def cell(task: Task) -> str:
        run, ratio = results.runs[task].get(title), results.ratio(task, title, READ.title)
        return "–" if run is None else "left out" if ratio is None else f"{ratio:,.1f}"

    return cell


def _short(title: str) -> str:
    return title.removeprefix("rankset, ")


def _faster(results: Results, peer: str) -> Cell:
    def cell(task: Task) -> str:
        run = results.runs[task].get(peer)
        if run is None or not run.seconds:
            return "–" if run is None else "left out"
        return " / ".join(_times(results.ratio(task, peer, ours.title)) for ours in (FAST, PLAIN))

    return cell


def _reading(results: Results) -> list[tuple[str, Cell]]:
    def ours(title: str) -> Cell:
        return lambda task: f"{results.ratio(task, title, READ.title) or math.nan:.1f}"

    def share(title: str) -> Cell:
        return lambda task: f"{100 / (results.ratio(task, title, READ.title) or math.nan):.0f} %"

    def speed(task: Task) -> str:
        return f"{4e-9 * task.cells / results.runs[task][READ.title].median:.1f}"

    pair = [(_short(worker.title), worker.title) for worker in (FAST, PLAIN)]
    shares = [(f"share, {short}", share(title)) for short, title in pair]
    return [("read, GB/s", speed), *((short, ours(title)) for short, title in pair), *shares]


def _growth(results: Results) -> str:
    def exponent(key: tuple[str, str, str], title: str) -> str:
        return f"{results.growth.get((*key, title), math.nan):.2f}"

    keys = dict.fromkeys((letter, score, operation) for letter, score, operation, _ in results.growth)
    rows = [(f"in {' '.join(key)}", exponent(key, FAST.title), exponent(key, PLAIN.title)) for key in keys]
    return grid(("", "fast", "plain"), rows)


def _left_out(results: Results) -> str:
    found = [
        f"* {title}, {name(task)}: {run.refusal}"
        for task, runs in results.runs.items()
        for title, run in runs.items()
        if run.refusal
    ]
    return "\n".join(found or ["Nothing."])


def _times(ratio: float | None) -> str:
    if ratio is None:
        return "–"
    shown = f"{ratio:.0f}×" if ratio >= 10 else f"{ratio:.1f}×"
    return f"**{ratio:.2f}×**" if ratio < 1 else shown


def _seconds(run: Run) -> str:
    return f"{run.median:#.3g}"


def _microseconds(run: Run) -> str:
    return f"{1e6 * run.median:,.0f}"


def _memory(run: Run) -> str:
    return f"{run.extra / 1e6:,.1f}"


def _matrix_size(task: Task) -> str:
    return f"{4 * task.cells / 1e6:,.1f}"


def _set_size(run: Run) -> str:
    return "–" if run.size is None or math.isnan(run.size) else f"{run.size:.2f}"
