"""The file of ``rankset compare -o``: a csv table, a workbook, a LaTeX table or a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

import rankset as rs
from rankset.cli.files import check_output
from rankset.errors import FileError, PackageError
from rankset.evaluation.comparison_table import long_columns
from rankset.evaluation.condition_comparison import condition_columns
from rankset.io import atomic
from rankset.io.writers.csv import PLAIN, Style

PICTURES = (".png", ".svg", ".pdf")
UNEVEN = "RMS class gap"
"""What a picture of several conditions shows beside the size."""
Results = rs.Comparisons | rs.ConditionComparison
SUFFIXES = (".csv", ".xlsx", ".tex", *PICTURES)


def check_comparison_output(path: Path, inputs: Iterable[object], *, force: bool) -> None:
    """Check suffix, input/output clash and overwriting, before any work is done."""
    if path.suffix.lower() not in SUFFIXES:
        raise FileError.suffix(str(path), ", ".join(SUFFIXES[:-1]) + f" or {SUFFIXES[-1]}")
    check_output(path, None, inputs, force=force)


def check_conditions(
    alphas: Sequence[str], target: rs.Target, output: Path | None, *, per_label: bool, pooled: bool
) -> None:
    """Refuse what --conditions does not compare, and a LaTeX table of it."""
    if len(alphas) > 1:
        raise click.UsageError(f"--conditions works with one --alpha only, got {len(alphas)}.")
    if target != rs.OneLabel():
        raise click.UsageError(
            f"--conditions works only for one label per row without costs, got {target!r}. Remove --conditions."
        )
    if per_label or pooled:
        raise click.UsageError("--conditions compares --per-label and --pooled, too. Remove these two.")
    if output is not None and output.suffix.lower() == ".tex":
        raise click.UsageError(
            "With --conditions, -o writes .csv, .xlsx or a picture (.png, .svg, .pdf), and no .tex. Choose another "
            "name."
        )


def metrics_of(metrics: Sequence[str], output: Path | None, *, conditions: bool) -> list[str] | None:
    """Return the metrics to measure, None for all: those of --metric, and what a picture of conditions shows."""
    if not metrics:
        return None
    drawn = [UNEVEN] if conditions and output is not None and output.suffix.lower() in PICTURES else []
    return list(dict.fromkeys((*metrics, *drawn)))


def write_comparison(
    results: Results, path: Path, *, metrics: Sequence[str] = (), style: Style = PLAIN, force: bool
) -> None:
    """Write the results in the format that the suffix names.

    A picture shows size, coverage (with a target the mean loss, "risk") and ``metrics``; of several conditions, it
    shows size and how unevenly classes are covered.
    """
    suffix = path.suffix.lower()
    if suffix in PICTURES:
        picture = io.BytesIO()
        _figure(results, metrics).savefig(picture, format=suffix[1:], dpi=150)
        content = picture.getvalue()
    elif isinstance(results, rs.Comparisons) and suffix == ".tex":
        content = results.to_latex().encode()
    else:
        content = _csv(results, style) if suffix == ".csv" else _xlsx(results, str(path))
    with atomic.open_output(path, force=force) as file:
        file.write(content)


def _figure(results: Results, metrics: Sequence[str]) -> Any:
    if isinstance(results, rs.ConditionComparison):
        return results.plot("size", UNEVEN)
    return results.plot(list(dict.fromkeys(("size", "coverage", *metrics))) if metrics else None)


def _csv(results: Results, style: Style) -> bytes:
    """A line per alpha, score and metric, or per condition and score; numbers that are not known are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", delimiter=style.delimiter)
    for row in _rows(results):
        writer.writerow(["" if one is None else style.cell(one) for one in row])
    return text.getvalue().encode(style.encoding)


def _xlsx(results: Results, path: str) -> bytes:
    """The same lines in a sheet."""
    try:
        from openpyxl import Workbook
    except ImportError:
        raise PackageError.to_write("openpyxl", path) from None
    book = Workbook(write_only=True)
    sheet = book.create_sheet("comparison")
    for row in _rows(results):
        sheet.append(list(row))
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _rows(results: Results) -> Iterator[tuple[Any, ...]]:
    """The names of the columns, then all lines with plain numbers; None for numbers that are not known."""
    if isinstance(results, rs.ConditionComparison):
        columns = condition_columns(results.comparisons)
    else:
        columns = long_columns(list(results.values()))
    yield tuple(columns)
    for row in zip(*columns.values(), strict=True):
        numbers = [float(one) if isinstance(one, float) else one for one in row]
        yield tuple(None if isinstance(one, float) and not np.isfinite(one) else one for one in numbers)
