"""What other libraries notice on the streams of alarms.py, and when: python3 run.py alarms-peers --data <folder>

Writes the part "peers" of docs/understand/streams.json. Every library runs in its own environment and gets what it is
made for, of the very same rows: scores of true labels, errors, or largest probabilities. Calibration rows come first.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from streams.alarms import CALIBRATIONS, UNCHANGED_ROWS
from streams.changes import CALIBRATION, CHANGES, largest, strangeness, told, unchanged, wrong_answers
from streams.record import numbers, record
from streams.rows import Rows

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parents[1] / ".envs"
KEYS = {"strange": strangeness, "wrong": wrong_answers, "largest": largest}
NAMES = {"river": "river", "crepes": "crepes", "mapie": "MAPIE"}


def store(path: Path, title: str, streams: Iterable[Rows], calibration: int) -> None:
    """Write what libraries watch, a row per stream."""
    columns: dict[str, list[Any]] = {name: [] for name in KEYS}
    for rows in streams:
        for name, keys in KEYS.items():
            found = keys(rows)
            columns[name].append(np.concatenate([found.old, found.new]))
    np.savez(path, title=title, calibration=calibration, **{name: np.array(own) for name, own in columns.items()})


def store_all(data: Path, folder: Path, seeds: int, quiet: int) -> None:
    """Write the streams of all changes, and those without a change."""
    for number, (name, made) in enumerate(CHANGES.items()):
        store(folder / f"{number:02}.npz", name, (made(data, seed) for seed in range(seeds)), CALIBRATION)
    for number, calibration in enumerate(CALIBRATIONS, len(CHANGES)):
        streams = (unchanged(data, seed, calibration, UNCHANGED_ROWS) for seed in range(quiet))
        store(folder / f"{number:02}.npz", f"unchanged after {calibration}", streams, calibration)


def answers(peer: str, folder: Path) -> Iterator[dict[str, Any]]:
    """What the worker of a library prints: versions, then a line per file and method."""
    python = ENVIRONMENTS / f"peer-{peer}" / "bin" / "python"
    command = [python, HERE / "peer_worker.py", peer, folder]
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=HERE, env=variables) as process:  # noqa: S603 - our own
        assert process.stdout
        yield from map(json.loads, process.stdout)
    if process.returncode:
        raise SystemExit(f"the worker of {peer} failed")


def summary(title: str, rows: list[int | None]) -> dict[str, Any]:
    """Delays after a change, or the share of streams with an alarm; None if the method had no streams."""
    if title in CHANGES:
        return told([math.inf if row is None else row for row in rows])
    alarms = [row for row in rows if row is not None]
    found = {"share": len(alarms) / len(rows), "early": sum(row < 0 for row in alarms)} if rows else {}
    return {**found, "streams": len(rows)}


def main() -> int:
    """Write streams to a temporary folder, ask every library, and write after every answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of score files")
    parser.add_argument("--seeds", type=int, default=100, help="streams of every change")
    parser.add_argument("--unchanged", type=int, default=400, help="streams without a change")
    parser.add_argument("--only", default="", help="libraries whose name contains this")
    options = parser.parse_args()
    command = f"alarms-peers --data <folder> --seeds {options.seeds} --unchanged {options.unchanged}"
    with tempfile.TemporaryDirectory() as folder:
        store_all(options.data, Path(folder), options.seeds, options.unchanged)
        for peer in [name for name in NAMES if options.only in name]:
            lines = answers(peer, Path(folder))
            own: dict[str, Any] = {"version": next(lines)[peer], "methods": {}}
            for line in lines:
                if line["rows"]:
                    own["methods"].setdefault(line["method"], {})[line["title"]] = summary(line["title"], line["rows"])
                    record("peers", {**numbers().get("peers", {}), NAMES[peer]: own}, command)
                    print(peer, line["method"], line["title"], summary(line["title"], line["rows"]), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
