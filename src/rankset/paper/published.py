"""Table 1 as printed in the paper."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib.resources import files

PUBLISHED_ALPHA = "0.1"


def published_table() -> Mapping[tuple[str, str], Mapping[str, float]]:
    """Return Table 1 as printed in the paper: coverage, size and SSCV for each (row, method) at alpha = 0.1.

    Examples
    --------
    >>> published_table()["mnist", "RANK"]["size"]
    0.9013
    """
    text = (files("rankset.paper") / "table1.csv").read_text(encoding="utf-8")
    return {
        (row["data"], row["method"]): {name: float(row[name.lower()]) for name in ("coverage", "size", "SSCV")}
        for row in csv.DictReader(text.splitlines())
    }
