"""How fast a stream is, and how much memory it needs: python3 run.py streams-speed --rows 10000000

Writes the part "speed" of docs/understand/streams.json. A stream with 10 classes, THR, the usual window of 1,000 rows
and all alarms; the label of every row comes before the next rows. Run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

import rankset as rs
from rankset.streams.window import Window
from streams.record import record

CLASSES, CALIBRATION, POOL = 10, 1000, 100_000
BATCHES = (1, 10, 100, 1000)
MEMORY_BATCH = 1000
STATM = Path("/proc/self/statm")

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]


def pool(n: int = POOL, seed: int = 0) -> Rows:
    """Probabilities, and labels drawn from them."""
    rng = np.random.default_rng(seed)
    probs = rs.softmax(2 * rng.normal(size=(n, CLASSES)))
    labels = (probs.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return probs, np.minimum(labels, CLASSES - 1)


def started(rows: Rows) -> rs.Stream:
    """A stream after calibration."""
    probs, labels = (part[:CALIBRATION] for part in rows)
    return rs.Stream(rs.calibrate(probs, labels, method="thr"), alpha=0.1, outputs=probs)


def follow(stream: rs.Stream, rows: Rows, batch: int, count: int) -> Iterator[float]:
    """Seconds of each ``predict`` with its ``update``, for this many batches; rows are used again and again."""
    probs, labels = rows
    starts = range(0, len(labels) - batch + 1, batch)
    for number in range(count):
        part = slice(starts[number % len(starts)], starts[number % len(starts)] + batch)
        start = time.perf_counter()
        stream.predict(probs[part])
        stream.update(labels[part])
        yield time.perf_counter() - start


def rows_per_second(rows: Rows, batch: int, seen: int = 200_000) -> float:
    """Rows per second after so many rows, when everything that is kept has its full length."""
    stream = started(rows)
    for _ in follow(stream, rows, MEMORY_BATCH, seen // MEMORY_BATCH):
        pass
    times = list(follow(stream, rows, batch, min(20_000, 60_000 // batch)))
    return batch / float(np.median(times))


def microseconds(call: Callable[[int], object], count: int = 20_000) -> float:
    """The median time of one call."""
    times = np.empty(count)
    for number in range(count):
        start = time.perf_counter()
        call(number)
        times[number] = time.perf_counter() - start
    return float(np.median(times)) * 1e6


def insertion(size: int) -> float:
    """Microseconds for a row that enters a full window, and the oldest one that leaves."""
    rng = np.random.default_rng(0)
    window = Window(size, 1, (np.dtype(np.float64),))
    window.fill((0, (value,)) for value in rng.random(size).tolist())
    keys = [(value,) for value in rng.random(20_000).tolist()]
    return microseconds(lambda number: window.add(0, keys[number]), len(keys))


def resident() -> float:
    """Megabytes of this process that are in memory; Linux only."""
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory(rows: Rows, most: int) -> list[dict[str, float]]:
    """Megabytes after 0.1, 1 and 10 million rows, and rows per second up to there."""
    stream, found, seen, start = started(rows), [], 0, time.perf_counter()
    for goal in (100_000, 1_000_000, 10_000_000):
        if goal <= most:
            for _ in follow(stream, rows, MEMORY_BATCH, (goal - seen) // MEMORY_BATCH):
                pass
            seen = goal
            speed = seen / (time.perf_counter() - start)
            found.append({"rows": goal, "megabytes": round(resident(), 1), "rows_per_second": round(speed)})
            print(found[-1], flush=True)
    return found


def main() -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000, help="most rows for memory")
    options = parser.parse_args()
    rows = pool()
    found: dict[str, Any] = {"python": platform.python_version(), "numpy": np.__version__}
    found["memory"] = memory(rows, options.rows) if STATM.exists() else []
    found["rows_per_second"] = {str(batch): round(rows_per_second(rows, batch)) for batch in BATCHES}
    found["one_row_microseconds"] = round(1e6 / rows_per_second(rows, 1), 1)
    found["insertion_microseconds"] = {str(size): round(insertion(size), 2) for size in (1000, 100_000, 1_000_000)}
    record("speed", found, f"streams-speed --rows {options.rows}")
    print(found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
