"""The tables of a ``Comparison``: the same lines as text, HTML, LaTeX and columns of a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankset.errors import KindError, RuleError
from rankset.evaluation.metrics import METRICS, OWN_SECTION, SECTIONS, Floats, format_value

if TYPE_CHECKING:
    from rankset.evaluation.comparison import Comparison

SHOWN_IN_LATEX = ("coverage", "SSCV", "size", "singletons", "worst class")
"""The metrics of a LaTeX table if all metrics were measured, unless others are asked for. All do not fit on a page."""
PROMISE = "Promise"
PROMISED = ("risk", "recall", "all labels")
"""Measures of comparisons with a target, and their section."""
SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{one: f"\\{one}" for one in "&%$#_{}"},
}
"""Characters with a meaning in LaTeX, and how they are written as text."""


@dataclass(frozen=True)
class Line:
    """One candidate in a table: a score, or ``auto``."""

    name: str
    text: str
    means: Floats
    errors: Floats
    spread: Floats
    mark: str


def cell(mean: float, error: float, spread: float) -> str:
    """Return a mean, its standard error behind ±, and the spread over halves in parentheses, as far as known."""
    known_error = f" ±{error:.4f}" if np.isfinite(error) else ""
    known_spread = f" ({spread:.4f})" if np.isfinite(spread) else ""
    return f"{format_value(mean)}{known_error}{known_spread}"


def sections(comparison: Comparison) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """Return heading and rows of the table of each section; the last column is a mark behind the mean size."""
    section_of = {name: _section(name) for name in comparison.measures}
    tables = []
    for title in (PROMISE, *SECTIONS, OWN_SECTION):
        names = [name for name in comparison.measures if section_of[name] == title]
        places = [comparison.measures.index(name) for name in names]
        if names:
            rows = [
                (
                    line.text,
                    *(cell(line.means[place], line.errors[place], line.spread[place]) for place in places),
                    line.mark if "size" in names else "",
                )
                for line in comparison.lines
            ]
            tables.append(((title, *names, ""), rows))
    return tables


def _section(measure: str) -> str:
    """Return the section of a measure: that of the registry, that of targets, or that of users' own measures."""
    return METRICS[measure].section if measure in METRICS else PROMISE if measure in PROMISED else OWN_SECTION


def as_text(comparison: Comparison) -> list[str]:
    """Return the lines of all tables as text with aligned columns."""
    lines = []
    for head, rows in sections(comparison):
        table = [head, *rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines += [
            "  ".join(part.ljust(width) for part, width in zip(row, widths, strict=True)).rstrip() for row in table
        ]
    return lines


def wide_columns(comparisons: Sequence[Comparison], *, with_alpha: bool) -> dict[Any, Any]:
    """Return columns with one row per candidate: of each metric the mean, the standard error and the spread."""
    lines = [line for comparison in comparisons for line in comparison.lines]
    alphas = [comparison.alpha for comparison in comparisons for _ in comparison.lines]
    columns: dict[Any, Any] = {"alpha": alphas} if with_alpha else {}
    columns["score"] = [line.name for line in lines]
    for place, measure in enumerate(comparisons[0].measures):
        columns[measure] = np.array([line.means[place] for line in lines])
        columns[f"{measure} error"] = np.array([line.errors[place] for line in lines])
        columns[f"{measure} spread"] = np.array([line.spread[place] for line in lines])
    return columns


def long_columns(comparisons: Sequence[Comparison], *, with_alpha: bool = True) -> dict[Any, Any]:  # noqa: ARG001
    """Return columns with one row per alpha, candidate and metric."""
    rows = [
        (comparison.alpha, line.name, measure, line.means[place], line.errors[place], line.spread[place])
        for comparison in comparisons
        for line in comparison.lines
        for place, measure in enumerate(comparison.measures)
    ]
    names = ("alpha", "score", "metric", "mean", "error", "spread")
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def as_latex(comparisons: Sequence[Comparison], metrics: Iterable[str] | None, digits: int, *, with_alpha: bool) -> str:
    """Return a ``tabular`` with one row per candidate, and a block per alpha."""
    places = places_of(comparisons[0].measures, metrics)
    names = [comparisons[0].measures[place] for place in places]
    head = " & ".join([*(["alpha"] if with_alpha else []), "score", *map(escaped, names)])
    blocks = []
    for comparison in comparisons:
        first = [f"{comparison.alpha:g}"] if with_alpha else []
        blocks.append(
            [
                " & ".join(
                    [
                        *(first if number == 0 else [""] * len(first)),
                        escaped(line.name),
                        *(_latex_cell(line.means[place], line.errors[place], digits) for place in places),
                    ]
                )
                for number, line in enumerate(comparison.lines)
            ]
        )
    body = "\n\\midrule\n".join("\n".join(f"{row} \\\\" for row in block) for block in blocks)
    layout = "l" * (1 + with_alpha) + "r" * len(places)
    return (
        "% needs \\usepackage{booktabs}\n"
        f"\\begin{{tabular}}{{{layout}}}\n\\toprule\n{head} \\\\\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}\n"
    )


def escaped(text: str) -> str:
    """Return a text for LaTeX.

    >>> escaped("classes below 50%")
    'classes below 50\\\\%'
    """
    return "".join(SPECIAL.get(one, one) for one in text)


def _latex_cell(mean: float, error: float, digits: int) -> str:
    if not np.isfinite(mean):
        return "--"
    return f"${mean:.{digits}f} \\pm {error:.{digits}f}$" if np.isfinite(error) else f"${mean:.{digits}f}$"


def places_of(measures: Sequence[str], metrics: Iterable[str] | None) -> list[int]:
    """Return the places of the metrics to show: those asked for.

    By default, those that were named for ``compare``; if all were measured, a few built-in ones and all own ones.
    """
    if metrics is None and not set(METRICS) <= set(measures):
        return list(range(len(measures)))
    if metrics is None:
        return [place for place, name in enumerate(measures) if name in SHOWN_IN_LATEX or name not in METRICS]
    wanted = [metrics] if isinstance(metrics, str) else list(metrics) if isinstance(metrics, Iterable) else []
    if not wanted:
        raise KindError.argument("metrics", f"a list of metrics ({', '.join(measures)})", metrics)
    for name in wanted:
        if name not in measures:
            raise RuleError.option("metric", name, tuple(measures))
    return [measures.index(name) for name in wanted]
