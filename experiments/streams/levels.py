"""What levels do on streams that drift: python3 run.py streams-study --data <folder>

Writes the part "levels" of docs/understand/streams.json. Rows come one at a time: a set is asked for, then the label of
the row that came so many rows before is told. For every stream, method, delay and seed: the share of misses, the
largest share of misses in any 250 rows, and the mean size beside that of the rule that calibrated, without a stream.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

import rankset as rs
from streams.made import MADE, UNCHANGED
from streams.natural import NATURAL, natural
from streams.record import numbers, record
from streams.rows import Rows

ALPHA = 0.1
SPAN = 250
"""Rows in which misses are counted for the worst stretch."""
METHODS: Mapping[str, Callable[[rs.Rule], rs.Stream]] = {
    "window 1000": lambda rule: rs.Stream(rule, alpha=ALPHA, level=rs.Fixed()),
    "Adaptive()": lambda rule: rs.Stream(rule, alpha=ALPHA),
    "Adaptive(0.005)": lambda rule: rs.Stream(rule, alpha=ALPHA, level=rs.Adaptive(0.005)),
    "Adaptive(0.02)": lambda rule: rs.Stream(rule, alpha=ALPHA, level=rs.Adaptive(0.02)),
    "Decaying()": lambda rule: rs.Stream(rule, alpha=ALPHA, level=rs.Decaying()),
    "Experts()": lambda rule: rs.Stream(rule, alpha=ALPHA, level=rs.Experts()),
}
DELAYED = ("window 1000", "Adaptive()", "Experts()")
DELAYS = (0, 20, 100, 500)


def stream_rows(folder: Path, name: str, seed: int) -> Rows:
    """One stream by name."""
    if name in NATURAL:
        return Rows.cut(*natural(folder, name, seed))
    return {**MADE, **UNCHANGED}[name](folder, seed)


def followed(stream: rs.Stream, rows: Rows, delay: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Sizes and misses of a stream whose labels come late."""
    n = len(rows.truth)
    sizes, missed = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.bool_)
    for t in range(n):
        sets = stream.predict(rows.new[t : t + 1])
        sizes[t], missed[t] = sets.sizes[0], not sets.covers(rows.truth[t : t + 1])[0]
        if t >= delay:
            stream.update(rows.truth[t - delay : t - delay + 1], ids=[t - delay])
    return sizes, missed


def worst(missed: NDArray[np.bool_], span: int = SPAN) -> float:
    """The largest share of misses in as many rows that follow each other."""
    sums = np.concatenate([[0], np.cumsum(missed)])
    return float((sums[span:] - sums[:-span]).max() / span)


def runs(rows: Rows) -> Iterator[tuple[str, int, NDArray[np.int64], NDArray[np.bool_]]]:
    """Every method and delay on one stream; the rule alone comes first."""
    rule = rs.calibrate(rows.probs, rows.labels, method="thr")
    sets = rule.predict(rows.new, ALPHA)
    yield "fixed rule", 0, sets.sizes, ~sets.covers(rows.truth)
    for name, made in METHODS.items():
        for delay in DELAYS if name in DELAYED else DELAYS[:1]:
            yield name, delay, *followed(made(rule), rows, delay)


def measured(folder: Path, name: str, seeds: int) -> list[dict[str, Any]]:
    """Every method and delay on one stream, over seeds."""
    found: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    for seed in range(seeds):
        base = 0.0
        for method, delay, sizes, missed in runs(stream_rows(folder, name, seed)):
            base = base or float(sizes.mean())
            numbers = (float(missed.mean()), worst(missed), float(sizes.mean()) / base)
            found.setdefault((method, delay), []).append(numbers)
    return [{"stream": name, "method": m, "delay": d, **summary(values)} for (m, d), values in found.items()]


def summary(values: list[tuple[float, float, float]]) -> dict[str, float]:
    """Means over seeds, and the worst seed; the error in points."""
    misses, worsts, sizes = np.array(values).T
    errors = 100 * np.abs(misses - ALPHA)
    answer = {
        "misses": misses.mean(),
        "error": errors.mean(),
        "error_most": errors.max(),
        "worst": worsts.mean(),
        "worst_most": worsts.max(),
        "size": sizes.mean(),
    }
    return {name: round(float(value), 4) for name, value in answer.items()}


def main() -> int:
    """Measure, and write after every stream."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of score files and tables")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--only", default="", help="streams whose name contains this")
    options = parser.parse_args()
    warnings.simplefilter("ignore", rs.RanksetWarning)
    for name in [*UNCHANGED, *MADE, *NATURAL]:
        if options.only in name:
            start = time.perf_counter()
            cells = measured(options.data, name, options.seeds)
            others = [cell for cell in numbers().get("levels", []) if cell["stream"] != name]
            record("levels", [*others, *cells], f"streams-study --data <folder> --seeds {options.seeds}")
            print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
            for cell in cells:
                print("  ", *list(cell.values())[1:], flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
