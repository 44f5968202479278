"""The tables of docs/understand/streams.md, from streams.json: python3 run.py streams-tables"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from streams.changes import CHANGES
from streams.made import MADE, UNCHANGED
from streams.natural import NATURAL
from streams.record import NUMBERS, numbers

PAGE = NUMBERS.with_suffix(".md")
DRIFTING = (*MADE, *NATURAL)
OURS = {
    "labels": "rankset, labels",
    "outputs": "rankset, outputs",
    "labels or outputs": "rankset, the first of both",
    "coverage, fixed level": "rankset, coverage, with Fixed()",
}
"""Alarms of the study, and their names in the table."""

Cells = Mapping[tuple[str, str, int], Mapping[str, float]]


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def mean_and_most(values: list[float], digits: int) -> str:
    """Two numbers in a cell."""
    return f"{np.mean(values):.{digits}f}, {max(values):.{digits}f}"


def method_rows(cells: Cells, runs: Iterable[tuple[str, int, str]]) -> list[list[str]]:
    """Every method over all streams that drift, and over those that do not."""
    rows = []
    for method, delay, name in runs:
        found = [cells[stream, method, delay] for stream in DRIFTING]
        quiet = [cells[stream, method, delay]["size"] for stream in UNCHANGED]
        errors = mean_and_most([cell["error"] for cell in found], 2)
        rows.append([name, errors, mean_and_most([cell["worst"] for cell in found], 3), mean_and_most(quiet, 3)])
    return rows


def level_tables(cells: Cells) -> dict[str, str]:
    """Methods without delay, with late labels, and every stream."""
    head = [
        "",
        "error in points: mean, largest",
        "worst 250 rows: mean, largest",
        "size, nothing changes: mean, largest",
    ]
    methods = list(dict.fromkeys(method for _, method, delay in cells if delay == 0))
    late = [(method, delay) for _, method, delay in cells if delay]
    runs = [(method, delay, f"{method}, {delay} rows late") for method, delay in dict.fromkeys(late)]
    streams = []
    for stream in (*UNCHANGED, *DRIFTING):
        alone, ours = cells[stream, "fixed rule", 0], cells[stream, "Adaptive()", 0]
        pairs = [f"{alone[name]:{form}} / {ours[name]:{form}}" for name, form in (("error", ".2f"), ("worst", ".3f"))]
        streams.append([stream, *pairs, f"{ours['size']:.2f}"])
    first = ["stream", "error in points: rule / stream", "worst 250 rows: rule / stream", "size of the stream's sets"]
    return {
        "levels": table(head, method_rows(cells, [(method, 0, method) for method in methods])),
        "late labels": table(head, method_rows(cells, runs)),
        "streams": table(first, streams),
    }


def delay(cell: Mapping[str, Any] | None) -> str:
    """The median number of rows until an alarm, or that fewer than half were found."""
    if cell is None:
        return ""
    return "–" if cell["median"] is None else f"{cell['median']:,}"


def alarm_rows(found: Mapping[str, Any], peers: Mapping[str, Any]) -> list[list[str]]:
    """One row per alarm and per detector of another library."""
    rows = [[title, *(delay(found[change].get(name)) for change in CHANGES)] for name, title in OURS.items()]
    for library, facts in peers.items():
        for method, cells in facts["methods"].items():
            rows.append([f"{library} {facts['version']}, {method}", *(delay(cells.get(name)) for name in CHANGES)])
    return rows


def false_rows(found: list[Mapping[str, Any]], peers: Mapping[str, Any]) -> list[list[str]]:
    """The share of streams without a change in which an alarm was raised."""
    names = {"labels or outputs": "rankset, labels or outputs", "coverage": "rankset, coverage"}
    rows = [[title, *(f"{100 * cell[name]:.1f} %" for cell in found), "2,000"] for name, title in names.items()]
    for library, facts in peers.items():
        for method, cells in facts["methods"].items():
            own = [cells.get(f"unchanged after {cell['calibration']}") for cell in found]
            if all(own):
                shares = [f"{100 * one['share']:.1f} %" for one in own]
                rows.append([f"{library} {facts['version']}, {method}", *shares, f"{own[0]['streams']:,}"])
    return rows


def tables(found: Mapping[str, Any]) -> dict[str, str]:
    """All tables by name."""
    cells = {(cell["stream"], cell["method"], cell["delay"]): cell for cell in found["levels"]}
    calibrations = [f"{cell['calibration']:,} calibration rows" for cell in found["false_alarms"]]
    return {
        **level_tables(cells),
        "alarms": table(["", *CHANGES], alarm_rows(found["alarms"], found["peers"])),
        "false alarms": table(["", *calibrations, "streams"], false_rows(found["false_alarms"], found["peers"])),
    }


def refreshed(page: str, found: Mapping[str, Any]) -> str:
    """The page with the tables of these numbers."""
    for name, text in tables(found).items():
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- end -->)"
        page = re.sub(pattern, lambda match, text=text: f"{match[1]}{text}{match[2]}", page, flags=re.DOTALL)  # type: ignore[misc]
    return page


def main() -> int:
    """Write the tables into the page."""
    PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8"), numbers()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
