"""Writes the golden files of streams that are not there yet, and never overwrites one.

    PYTHONPATH=src python3 tests/golden/make_streams.py

Each stream is stored with rows and labels to go on with, and what it answered on the day it was written.
"""

import json
from pathlib import Path

import numpy as np

import rankset as rs

HERE = Path(__file__).parent / "streams"
CASES = {
    "adaptive": {},
    "fixed-aps": {"method": "aps", "level": rs.Fixed(), "window": None},
    "decaying-groups": {"level": rs.Decaying(), "condition": rs.PerGroup()},
    "experts": {"method": "thr", "level": rs.Experts((0.01, 0.05)), "window": 60},
}


def started(*, method="rank", level=rs.Adaptive(), window=80, condition=rs.Marginal()):  # noqa: B008
    """Return a stream with waiting rows, and the groups of rows by their numbers (a function)."""
    logits, labels = rs.datasets.load("carer")
    names = np.array(["north", "süd"])

    def groups(start, stop):
        return {"groups": names[np.arange(start, stop) % 2]} if condition.needs_groups else {}

    rule = rs.calibrate(
        *(logits[:100], labels[:100]), method=method, kind="logits", condition=condition, **groups(0, 100)
    )
    stream = rs.Stream(rule, alpha="0.15", window=window, level=level, outputs=logits[:100], seed=5)
    stream.predict(logits[100:160], ids=[f"row {row}" for row in range(100, 160)], **groups(100, 160))
    stream.update(labels[100:140], ids=[f"row {row}" for row in range(100, 140)])
    return stream, groups


def answers(stream, groups):
    """Return what a stream answers about further rows, and its state after them."""
    logits, labels = rs.datasets.load("carer")
    stream.update(labels[145:150], ids=[f"row {row}" for row in range(145, 150)])
    sets = stream.predict(logits[160:180], **groups(160, 180)).to_lists()
    stream.update(labels[160:180])
    logs = [alarm.log_wealth for alarm in stream.alarms]
    return {"sets": sets, "level": str(stream.exact_level), "misses": stream.misses, "log_wealth": logs}


def main() -> None:
    HERE.mkdir(exist_ok=True)
    for name, options in CASES.items():
        path = HERE / f"format5-{name}.rankset"
        if not path.exists():
            stream, groups = started(**options)
            stream.save(path)
            path.with_suffix(".json").write_text(json.dumps(answers(stream, groups), indent=1) + "\n")


if __name__ == "__main__":
    main()
