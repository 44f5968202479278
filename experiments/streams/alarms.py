"""When alarms notice a change, and how often they are false: python3 run.py alarms-study --data <folder>

Writes the parts "alarms" and "false_alarms" of docs/understand/streams.json. Every stream has its labels at once. Rows
come one at a time, because the alarm about coverage depends on sets, whose level follows every label; the other two
alarms are the same with any number of rows at a time.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import rankset as rs
from streams.changes import CHANGES, told, unchanged
from streams.record import record
from streams.rows import Rows

ALPHA, DELTA = 0.1, 0.05
ALARMS = ("labels", "outputs", "coverage")
FIXED = "coverage, fixed level"
CALIBRATIONS, UNCHANGED_ROWS = (250, 1000), 3000


def watched(rows: Rows, seed: int, **options: Any) -> rs.Alarms:  # noqa: ANN401
    """The alarms after a whole stream."""
    rule = rs.calibrate(rows.probs, rows.labels, method="thr")
    stream = rs.Stream(rule, alpha=ALPHA, delta=DELTA, outputs=rows.probs, seed=seed, **options)
    for t in range(len(rows.truth)):
        stream.predict(rows.new[t : t + 1])
        stream.update(rows.truth[t : t + 1])
    return stream.alarms


def delays(folder: Path, name: str, seeds: int) -> dict[str, Any]:
    """Rows from one change to each alarm, over streams.

    The alarm about coverage comes twice: also of a stream with a fixed level, and a window of all rows.
    """
    rows: dict[str, list[float]] = {alarm: [] for alarm in (*ALARMS, "labels or outputs", FIXED)}
    for seed in range(seeds):
        stream = CHANGES[name](folder, seed)
        for alarm in watched(stream, seed):
            rows[alarm.name].append(row_of(alarm))
        rows["labels or outputs"].append(min(rows["labels"][-1], rows["outputs"][-1]))
        rows[FIXED].append(row_of(watched(stream, seed, level=rs.Fixed(), window=None).coverage))
    return {alarm: told(found) for alarm, found in rows.items()}


def row_of(alarm: rs.Alarm) -> float:
    """The row of an alarm; infinite if it is not raised."""
    return math.inf if alarm.at is None else alarm.at


def false_alarms(folder: Path, calibration: int, streams: int) -> dict[str, Any]:
    """The share of streams without a change in which alarms are raised."""
    raised = []
    for seed in range(streams):
        labels, outputs, coverage = watched(unchanged(folder, seed, calibration, UNCHANGED_ROWS), seed)
        raised.append((labels.raised or outputs.raised, labels.raised, outputs.raised, coverage.raised))
    shares = np.mean(raised, axis=0).round(5).tolist()
    names = ("labels or outputs", *ALARMS)
    return {"calibration": calibration, "streams": streams, **dict(zip(names, shares, strict=True))}


def main() -> int:
    """Measure, and write after every part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of score files")
    parser.add_argument("--seeds", type=int, default=100, help="streams of every change")
    parser.add_argument("--unchanged", type=int, default=2000, help="streams without a change; 0: leave them out")
    options = parser.parse_args()
    warnings.simplefilter("ignore", rs.RanksetWarning)
    command = f"alarms-study --data <folder> --seeds {options.seeds} --unchanged {options.unchanged}"
    found: dict[str, Any] = {}
    for name in CHANGES if options.seeds else ():
        start = time.perf_counter()
        found[name] = delays(options.data, name, options.seeds)
        record("alarms", found, command)
        print(f"{name}: {time.perf_counter() - start:.0f} s", *found[name].items(), sep="\n  ", flush=True)
    wrong = []
    for calibration in CALIBRATIONS if options.unchanged else ():
        wrong.append(false_alarms(options.data, calibration, options.unchanged))
        record("false_alarms", wrong, command)
        print(wrong[-1], flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
