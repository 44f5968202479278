"""Table 1 for LaTeX and as csv: the same numbers as in the printed table."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from typing import Any

from rankset.evaluation.comparison_table import escaped
from rankset.paper.experiment import METHODS
from rankset.paper.numbers import Numbers
from rankset.paper.outputs import AS_PUBLISHED
from rankset.paper.published import PUBLISHED_ALPHA, published_table

DIGITS = {"coverage": 4, "z": 1}
"""Number of decimals; other numbers have 3."""


def columns(numbers: Numbers) -> tuple[str, ...]:
    """Return the names of the columns with numbers; tables of own outputs have no published values."""
    compared = [] if numbers.all_own else [("size paper", "size diff"), ("SSCV paper", "SSCV diff")]
    size, sscv = compared or ((), ())
    return ("coverage", "z", "size", *size, "SSCV", *sscv, "SSCV*", "empty")


def rows(numbers: Numbers, alpha: str) -> Iterator[dict[str, Any]]:
    """Yield one dictionary per data set and method; numbers that are not known are left out."""
    published = published_table() if alpha == PUBLISHED_ALPHA else {}
    for row in numbers.rows:
        is_compared = row not in AS_PUBLISHED and not numbers.is_own(row)
        for method in METHODS:
            line: dict[str, Any] = {"data": row, "method": method}
            line |= {name: numbers.mean(row, method, alpha, name) for name in ("coverage", "size", "SSCV")}
            line |= {name: numbers.mean(row, method, alpha, name) for name in ("SSCV*", "empty")}
            z = numbers.z(row, method, alpha)
            line |= {} if math.isnan(z) else {"z": z}
            theirs = published.get((row.removesuffix("²"), method), {}) if is_compared else {}
            for name in {"size", "SSCV"} & set(theirs):
                line |= {f"{name} paper": theirs[name], f"{name} diff": line[name] - theirs[name]}
            yield line


def as_csv(numbers: Numbers, alpha: str) -> str:
    """Return Table 1 as csv, one line per data set and method. Numbers that are not known are empty."""
    text = io.StringIO()
    names = ["data", "questions", "classes", "method", "alpha", *columns(numbers)]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for line in rows(numbers, alpha):
        facts = numbers.rows[line["data"]]
        writer.writerow({**line, "alpha": alpha, "questions": facts["questions"], "classes": facts["classes"]})
    return text.getvalue()


def as_latex(numbers: Numbers, alpha: str) -> str:
    """Return Table 1 as a ``tabular`` of the package booktabs."""
    names = columns(numbers)
    head = " & ".join(["data", "method", *map(escaped, names)])
    lines: list[str] = []
    last = None
    for line in rows(numbers, alpha):
        title = "" if line["data"] == last else escaped(line["data"]).replace("²", "$^2$")
        lines += [r"\midrule"] if title else []
        cells = [_cell(name, line.get(name)) for name in names]
        lines.append(" & ".join([title, line["method"], *cells]) + r" \\")
        last = line["data"]
    body = "\n".join(lines)
    return (
        f"% Table 1 at alpha = {alpha}; needs \\usepackage{{booktabs}}\n"
        f"\\begin{{tabular}}{{ll{'r' * len(names)}}}\n\\toprule\n{head} \\\\\n{body}\n\\bottomrule\n\\end{{tabular}}\n"
    )


def _cell(name: str, value: float | None) -> str:
    if value is None or math.isnan(value):
        return "--"
    sign = "+" if name == "z" or name.endswith("diff") else ""
    return f"${value:{sign}.{DIGITS.get(name, 3)}f}$"
