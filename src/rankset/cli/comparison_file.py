"""The file of ``rankset compare -o``: a csv table, a workbook, a LaTeX table or a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import rankset as rs
from rankset.cli.files import check_output
from rankset.errors import FileError, PackageError
from rankset.evaluation.comparison_table import long_columns
from rankset.io import atomic
from rankset.io.writers.csv import PLAIN, Style

PICTURES = (".png", ".svg", ".pdf")
SUFFIXES = (".csv", ".xlsx", ".tex", *PICTURES)


def check_comparison_output(path: Path, inputs: Iterable[object], *, force: bool) -> None:
    """Check suffix, input/output clash and overwriting, before any work is done."""
    if path.suffix.lower() not in SUFFIXES:
        raise FileError.suffix(str(path), ", ".join(SUFFIXES[:-1]) + f" or {SUFFIXES[-1]}")
    check_output(path, None, inputs, force=force)


def write_comparison(
    results: rs.Comparisons, path: Path, *, metrics: Sequence[str] = (), style: Style = PLAIN, force: bool
) -> None:
    """Write the results in the format that the suffix names.

    A picture shows size, coverage (with a target the mean loss, "risk") and ``metrics``.
    """
    suffix = path.suffix.lower()
    if suffix in PICTURES:
        picture = io.BytesIO()
        shown = list(dict.fromkeys(("size", "coverage", *metrics))) if metrics else None
        results.plot(shown).savefig(picture, format=suffix[1:], dpi=150)
        content = picture.getvalue()
    elif suffix == ".tex":
        content = results.to_latex().encode()
    else:
        content = _csv(results, style) if suffix == ".csv" else _xlsx(results, str(path))
    with atomic.open_output(path, force=force) as file:
        file.write(content)


def _csv(results: rs.Comparisons, style: Style) -> bytes:
    """A line per alpha, score and metric; numbers that are not known are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", delimiter=style.delimiter)
    for row in _rows(results):
        writer.writerow(["" if one is None else style.cell(one) for one in row])
    return text.getvalue().encode(style.encoding)


def _xlsx(results: rs.Comparisons, path: str) -> bytes:
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


def _rows(results: rs.Comparisons) -> Iterator[tuple[Any, ...]]:
    """The names of the columns, then all lines with plain numbers; None for numbers that are not known."""
    columns = long_columns(list(results.values()))
    yield tuple(columns)
    for row in zip(*columns.values(), strict=True):
        numbers = [float(one) if isinstance(one, float) else one for one in row]
        yield tuple(None if isinstance(one, float) and not np.isfinite(one) else one for one in numbers)
