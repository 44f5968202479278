"""Asks `rankset serve` for one row at a time, 200 times a second for a minute: `python3 run.py serve-load`.

Requests are sent at fixed times, whether earlier ones were answered or not; the time of a request counts from then on.
It fails if the 99th percentile is above 10 ms, a request fails, the memory of the server is above 250 MB, or a set
differs from that of Python.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import rankset as rs
from serving_process import Served

ALPHA = 0.1
MOST_MS, MOST_MB = 10.0, 250.0
ROWS = 2000


def outputs(n: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities of n rows of k classes, and labels drawn from them."""
    rng = np.random.default_rng(seed)
    powers = np.exp(2 * rng.normal(size=(n, k)))
    probs = powers / powers.sum(axis=1, keepdims=True)
    return probs, np.array([rng.choice(k, p=row) for row in probs])


def main() -> int:
    """Start a server, send requests, and print what was measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--classes", type=int, default=100)
    parser.add_argument("--feedback", action="store_true", help="Send the label of every tenth row, too.")
    options = parser.parse_args()
    probs, labels = outputs(2000, options.classes, 0)
    rule = rs.calibrate(probs, labels)
    rows, _ = outputs(ROWS, options.classes, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rule.save(folder / "rule.rankset")
        served = Served.start(folder / "rule.rankset", folder, "--store", folder / "rows.db", "--alpha", ALPHA)
        try:
            return measured(served, rule, rows, options)
        finally:
            print("exit code of the server:", served.stop())


def measured(served: Served, rule: rs.Rule, rows: np.ndarray, options: argparse.Namespace) -> int:
    """Send all requests, compare all sets, and print times and memory."""
    wanted = rule.predict(rows, alpha=ALPHA).to_lists()
    process = psutil.Process(served.process.pid)
    asyncio.run(send(served.port, rows, 100, options))
    before = process.cpu_times()
    answers = asyncio.run(send(served.port, rows, int(options.seconds * options.rate), options))
    busy = process.cpu_times()
    used = (busy.user + busy.system - before.user - before.system) / options.seconds
    memory = process.memory_info().rss / 1e6
    times = np.array([one[0] for one in answers]) * 1000
    wrong = sum(status != 200 for _, status, _, _ in answers)
    other = sum(status == 200 and json.loads(body)["sets"] != [wanted[row]] for _, status, row, body in answers)
    p50, p90, p99 = np.percentile(times, [50, 90, 99])
    print(f"{len(answers):,} requests of one row, {options.classes} classes, {options.rate:g} per second")
    print(f"ms until answered: median {p50:.2f}, 90% {p90:.2f}, 99% {p99:.2f}, largest {times.max():.1f}")
    print(f"failed: {wrong}; sets other than Python's: {other}; memory {memory:.0f} MB; {used:.0%} of a core")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    quick = [
        served.number(f'request_seconds_bucket{{route="/predict",le="{end}"}}') for end in ("0.005", "0.01", "+Inf")
    ]
    print(f"by the clock of the server, from the head of a request on: {quick[0] / quick[2]:.2%} within 5 ms, ", end="")
    print(f"{quick[1] / quick[2]:.2%} within 10 ms")
    print(f"rows in the store: {served.number('store_rows'):.0f}, lost {served.number('store_lost_total'):.0f}")
    return int(wrong > 0 or other > 0 or p99 > MOST_MS or memory > MOST_MB)


async def send(port: int, rows: np.ndarray, count: int, options: argparse.Namespace) -> list[tuple]:
    """Send requests at fixed times on connections that are kept."""
    free: asyncio.Queue = asyncio.Queue()
    for _ in range(32):
        free.put_nowait(await asyncio.open_connection("127.0.0.1", port))
    start = time.perf_counter() + 0.05

    async def one(number: int) -> tuple[float, int, int, bytes]:
        row, planned = number % len(rows), start + number / options.rate
        await asyncio.sleep(max(0.0, planned - time.perf_counter()))
        streams = await free.get()
        body = json.dumps({"rows": [rows[row].tolist()]}).encode()
        status, answer = await ask(streams, "/predict", body)
        seconds = time.perf_counter() - planned
        if options.feedback and status == 200 and number % 10 == 0:
            labels = {"ids": json.loads(answer)["ids"], "labels": [int(rows[row].argmax())]}
            await ask(streams, "/feedback", json.dumps(labels).encode())
        free.put_nowait(streams)
        return seconds, status, row, answer

    found = await asyncio.gather(*(one(number) for number in range(count)))
    while not free.empty():
        free.get_nowait()[1].close()
    return found


async def ask(streams: tuple, path: str, body: bytes) -> tuple[int, bytes]:
    """Send one request, and return status and body of the answer."""
    reader, writer = streams
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    return int(answer.split(b" ", 2)[1]), await reader.readexactly(int(length.split(b":")[1]))


if __name__ == "__main__":
    sys.exit(main())
