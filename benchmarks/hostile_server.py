"""Sends 100,000 hostile requests to `rankset serve`: `python3 run.py serve-hostile`.

Damaged bodies, wrong types, huge numbers, wrong tokens, slow clients, half-closed connections. It fails if one of them
gets a server error or no answer, if the server crashes, or if its memory does not come back to its start.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import rankset as rs
from hostile_requests import Client, Hostile, misbehave
from serving_process import CLASSES, LABELS, LOGITS, TOKEN, Served, make_rule

THREADS = 4
MORE = 20.0
"""MB that the server may have more in the end: ids of rows that it knows, and what the allocator keeps."""


def main() -> int:
    """Send all requests, and print what came back."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_rule().save(folder / "rule.rankset")
        rs.triage(LOGITS[:1000], LABELS[:1000], kind="logits", classes=CLASSES).save(folder / "triage.rankset")
        files = ("--store", folder / "rows.db", "--triage", folder / "triage.rankset")
        served = Served.start(folder / "rule.rankset", folder, *files, "--max-seconds", 3, token=TOKEN)
        try:
            return attack(served, options.requests, options.seed)
        finally:
            print("exit code of the server:", served.stop())


def attack(served: Served, count: int, seed: int) -> int:
    """Send requests in several threads, with broken connections beside them."""
    process = psutil.Process(served.process.pid)
    send(served, count // 10, 10**6 + seed)  # so that everything that is loaded once is loaded
    first = process.memory_info().rss / 1e6
    begin, done = time.monotonic(), threading.Event()
    broken: Counter[str] = Counter()
    breaker = threading.Thread(target=break_connections, args=(served, seed, done, broken))
    breaker.start()
    with ThreadPoolExecutor(THREADS) as pool:
        parts = pool.map(lambda part: send(served, count // THREADS, THREADS * seed + part), range(THREADS))
        statuses = sum(parts, Counter())
    done.set()
    breaker.join()
    seconds = time.monotonic() - begin
    time.sleep(5)  # slow connections end
    last, load = process.memory_info().rss / 1e6, os.getloadavg()[0]
    log = served.logged()
    answers = {str(status): number for status, number in sorted(statuses.items(), key=str)}
    print(f"{sum(statuses.values()):,} requests in {seconds:.0f} s, answers by status: {answers}")
    print(f"{broken['connections']:,} broken, slow and half-closed connections; load of the machine {load:.1f}")
    print(f"memory {first:.0f} MB after the first requests, {last:.0f} MB in the end")
    faults = {
        "server errors": sum(number for status, number in statuses.items() if status is not None and status >= 500),
        "requests without an answer": statuses[None],
        "tracebacks in the log": log.count("Traceback"),
        "token in the log": int(TOKEN in log),
        "server has ended": int(served.process.poll() is not None),
        "does not predict": int(served.post("/predict", {"rows": LOGITS[:1].tolist()}).status != 200),
        "memory": int(last > first + MORE),
    }
    print("faults:", {name: number for name, number in faults.items() if number} or "none")
    return int(any(faults.values()))


def send(served: Served, count: int, seed: int) -> Counter[int | None]:
    """Send requests on one connection, which is opened again when the server closes it."""
    hostile, client, found = Hostile(seed, CLASSES, TOKEN), Client(served.port), Counter[int | None]()
    for _ in range(count):
        request = hostile.request()
        status, body = client.ask(request)
        found[status] += 1
        if status is None or status >= 500:
            print(status, request[:500], body[:500])
    client.close()
    return found


def break_connections(served: Served, seed: int, done: threading.Event, broken: Counter[str]) -> None:
    """Open connections that do something wrong, until everything is done."""

    def one(number: int) -> None:
        misbehave(served.port, Hostile(10**9 + seed + number, CLASSES, TOKEN))
        broken["connections"] += 1

    with ThreadPoolExecutor(20) as pool:
        number = 0
        while not done.is_set():
            list(pool.map(one, range(number, number + 20)))
            number += 20


if __name__ == "__main__":
    sys.exit(main())
