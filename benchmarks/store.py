"""How fast a store takes rows and labels, and how large it gets: `python3 run.py bench-store`.

Rows have 100 classes in float32, sets of ten labels and ids of 36 characters. A store in PostgreSQL must be empty.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
import uuid
from pathlib import Path

import numpy as np

import rankset as rs
from rankset.serving import Feedback, Prediction, Store

CLASSES, ROWS, SECONDS = 100, 20_000, 3.0


def rows_of(probs: np.ndarray, count: int) -> list[Prediction]:
    """Rows with ids of their own."""
    codes = np.arange(10, dtype=np.int32)
    return [
        Prediction(str(uuid.uuid4()), time.time(), probs[n % len(probs)], None, codes, 0.1, 0.5) for n in range(count)
    ]


def acknowledged(store: Store, rows: list[Prediction], threads: int) -> float:
    """Labels per second, one per call, that several threads together get acknowledged."""
    counts = [0] * threads
    end = time.perf_counter() + SECONDS

    def send(thread: int) -> None:
        while time.perf_counter() < end:
            store.feedback([Feedback(rows[(thread + threads * counts[thread]) % len(rows)].id, 1, time.time())])
            counts[thread] += 1

    workers = [threading.Thread(target=send, args=(thread,)) for thread in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(counts) / SECONDS


def measure(where: str) -> None:
    """Measure, and print."""
    random = np.random.default_rng(0)
    probs = random.dirichlet(np.ones(CLASSES), 2000).astype(np.float32)
    rule = rs.calibrate(probs, random.integers(0, CLASSES, len(probs)))
    rows = rows_of(probs, ROWS)
    with Store.open(where, rule=rule) as store:
        start = time.perf_counter()
        for first in range(0, ROWS, 20):
            store.remember(rows[first : first + 20])
        offered = time.perf_counter() - start
        store.check()
        written = time.perf_counter() - start
        store.prune()
        print(f"remembered       {ROWS / offered:10,.0f} rows per second taken, {ROWS / written:,.0f} written")
        print(f"size             {store._database.live_size() / store.rows:10,.0f} bytes per row")
        for threads in (1, 8):
            half = rows[:10_000] if threads == 1 else rows[10_000:]
            print(f"acknowledged     {acknowledged(store, half, threads):10,.0f} labels per second, {threads} threads")
        print(f"lost             {store.lost:10,} rows")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="URL of an empty PostgreSQL database; by default an SQLite file")
    given = parser.parse_args().store
    with tempfile.TemporaryDirectory() as folder:
        measure(given or str(Path(folder) / "served.db"))
