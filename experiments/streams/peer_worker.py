"""Runs one library of ``peers`` on files of streams: peer_worker.py <library> <folder>; prints one line of JSON per file."""

import importlib
import importlib.metadata
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from peers import Keys


def streams(path: Path) -> list[Keys]:
    """The streams of one file."""
    with np.load(path, allow_pickle=False) as arrays:
        columns = [arrays[name] for name in ("strange", "wrong", "largest")]
        calibration = int(arrays["calibration"])
    return [Keys(*rows, calibration, seed) for seed, rows in enumerate(zip(*columns, strict=True))]


def main(name: str, folder: str) -> int:
    """Every method on every file."""
    warnings.simplefilter("ignore")
    peer = importlib.import_module(f"peers.{name}")
    print(json.dumps({package: importlib.metadata.version(package) for package in peer.PACKAGES}), flush=True)
    for path in sorted(Path(folder).glob("*.npz")):
        found = streams(path)
        for method, alarm in peer.METHODS.items():
            start = time.perf_counter()
            rows = [alarm(keys) for keys in found[: peer.MOST.get(method)]]
            seconds = round(time.perf_counter() - start, 1)
            print(json.dumps({"file": path.stem, "method": method, "rows": rows, "seconds": seconds}), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
