"""Runs one library on files of streams: peer_worker.py <library> <folder>. It prints a line of JSON per method."""

import importlib
import importlib.metadata
import json
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from peers import Keys


def streams(path: Path) -> tuple[str, list[Keys]]:
    """The title of a file, and its streams."""
    with np.load(path, allow_pickle=False) as arrays:
        columns = [arrays[name] for name in ("strange", "wrong", "largest")]
        title, calibration = str(arrays["title"]), int(arrays["calibration"])
    return title, [Keys(*rows, calibration, seed) for seed, rows in enumerate(zip(*columns, strict=True))]


def number(slow: Mapping[str, int] | None, title: str) -> int | None:
    """How many streams a method gets; None: all."""
    return None if slow is None else next((count for words, count in slow.items() if words in title), 0)


def main(name: str, folder: str) -> int:
    """Every method on every file; slow methods come last."""
    warnings.simplefilter("ignore")
    peer = importlib.import_module(f"peers.{name}")
    print(json.dumps({package: importlib.metadata.version(package) for package in peer.PACKAGES}), flush=True)
    files = [streams(path) for path in sorted(Path(folder).glob("*.npz"))]
    for method, alarm in sorted(peer.METHODS.items(), key=lambda one: one[0] in peer.SLOW):
        for title, found in files:
            start = time.perf_counter()
            rows = [alarm(keys) for keys in found[: number(peer.SLOW.get(method), title)]]
            seconds = round(time.perf_counter() - start, 1)
            print(json.dumps({"title": title, "method": method, "rows": rows, "seconds": seconds}), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
