"""Writes the numbers of docs/understand/paper.json into docs/understand/paper.md: python3 run.py page.

A number on the page follows a comment that names it, such as ``<!-- mnist RANK 0.1 size -->0.902``; a table follows
``<!-- table 1 -->``, ``<!-- definitions -->`` or ``<!-- temperatures -->``. Everything else on the page is prose and
stays.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from rankset.datasets import DATASETS
from rankset.paper import Numbers, tables
from rankset.paper.definitions import DEFINITIONS
from rankset.paper.outputs import AS_PUBLISHED

DOCS = Path(__file__).parents[1] / "docs" / "understand"
NUMBER = re.compile(r"(<!-- (\S+) (\S+) (\S+) (\S+) -->)([-+]?\d+(?:\.(\d+))?)")
TABLE = re.compile(r"(<!-- (table 1|definitions|temperatures) -->\n+```text\n).*?(\n```)", flags=re.DOTALL)


def refreshed(page: str, numbers: Numbers) -> str:
    """The page with the numbers of a study."""

    def number(match: re.Match[str]) -> str:
        mark, row, method, alpha, measure, old, digits = match.groups()
        value = _value(numbers, row, method, alpha, measure)
        sign = "+" if old.startswith("+") else ""
        return f"{mark}{value:{sign}.{len(digits or '')}f}"

    def table(match: re.Match[str]) -> str:
        texts = {"definitions": tables.definitions, "temperatures": tables.temperatures}
        text = texts[match[2]](numbers) if match[2] in texts else tables.table_1(numbers, "0.1")
        return f"{match[1]}{text.rstrip()}{match[3]}"

    return TABLE.sub(table, NUMBER.sub(number, page))


def _value(numbers: Numbers, row: str, method: str, alpha: str, measure: str) -> float:
    if row in ("stored", "published"):
        return _count(numbers, row, method.split("<"), alpha, measure)
    if measure in ("plain", "scrambled"):
        return float(numbers.data["temperatures"][row][method][measure])
    if method in DEFINITIONS:
        return float(numbers.data["definitions"][row.replace("_", " ")][method][measure])
    if method == "facts":
        value = numbers.rows[row][measure]
        return float(value[alpha] if isinstance(value, dict) else value)
    return numbers.z(row, method, alpha) if measure == "z" else numbers.mean(row, method, alpha, measure)


def _count(numbers: Numbers, which: str, methods: Sequence[str], alpha: str, measure: str) -> int:
    """On how many of the eleven rows the first method's measure is no larger than that of any of the others."""
    first, *others = methods
    rows = [AS_PUBLISHED.get(row, row) if which == "published" else row for row in DATASETS]
    values = [[numbers.mean(row, method, alpha, measure) for method in (first, *others)] for row in rows]
    return sum(own <= min(rest) for own, *rest in values)


if __name__ == "__main__":
    path = DOCS / "paper.md"
    path.write_text(refreshed(path.read_text(encoding="utf-8"), Numbers.load(DOCS / "paper.json")), encoding="utf-8")
    sys.exit(0)
