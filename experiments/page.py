"""Writes the numbers of docs/paper.json into docs/paper.md: python3 run.py page.

A number on the page follows a comment that names it, such as ``<!-- mnist RANK 0.1 size -->0.902``; a table follows
``<!-- table 1 -->`` or ``<!-- definitions -->``. Everything else on the page is prose and stays.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from rankset.paper import Numbers, tables
from rankset.paper.study import DEFINITIONS

DOCS = Path(__file__).parents[1] / "docs"
NUMBER = re.compile(r"(<!-- (\S+) (\S+) (\S+) (\S+) -->)([-+]?\d+(?:\.(\d+))?)")
TABLE = re.compile(r"(<!-- (table 1|definitions) -->\n+```\n).*?(\n```)", flags=re.DOTALL)


def refreshed(page: str, numbers: Numbers) -> str:
    """The page with the numbers of a study."""

    def number(match: re.Match[str]) -> str:
        mark, row, method, alpha, measure, old, digits = match.groups()
        value = _value(numbers, row, method, alpha, measure)
        sign = "+" if old.startswith("+") else ""
        return f"{mark}{value:{sign}.{len(digits or '')}f}"

    def table(match: re.Match[str]) -> str:
        text = tables.table_1(numbers, "0.1") if match[2] == "table 1" else tables.definitions(numbers)
        return f"{match[1]}{text.rstrip()}{match[3]}"

    return TABLE.sub(table, NUMBER.sub(number, page))


def _value(numbers: Numbers, row: str, method: str, alpha: str, measure: str) -> float:
    if method in DEFINITIONS:
        return float(numbers.data["definitions"]["rows"][row.replace("_", " ")][method][measure])
    if method == "facts":
        value = numbers.rows[row][measure]
        return float(value[alpha] if isinstance(value, dict) else value)
    return numbers.z(row, method, alpha) if measure == "z" else numbers.mean(row, method, alpha, measure)


if __name__ == "__main__":
    path = DOCS / "paper.md"
    path.write_text(refreshed(path.read_text(encoding="utf-8"), Numbers.load(DOCS / "paper.json")), encoding="utf-8")
    sys.exit(0)
