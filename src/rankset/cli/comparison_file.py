"""The file of ``rankset compare -o``: a csv table, a LaTeX table or a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np

import rankset as rs
from rankset.cli.files import check_output
from rankset.errors import FileError
from rankset.evaluation.comparison_table import long_columns
from rankset.io import atomic

PICTURES = (".png", ".svg", ".pdf")
SUFFIXES = (".csv", ".tex", *PICTURES)


def check_comparison_output(path: Path, inputs: Iterable[object], *, force: bool) -> None:
    """Check suffix, input/output clash and overwriting, before any work is done."""
    if path.suffix.lower() not in SUFFIXES:
        raise FileError.suffix(str(path), ", ".join(SUFFIXES[:-1]) + f" or {SUFFIXES[-1]}")
    check_output(path, None, inputs, force=force)


def write_comparison(results: rs.Comparisons, path: Path, *, force: bool) -> None:
    """Write the results in the format that the suffix names."""
    suffix = path.suffix.lower()
    if suffix in PICTURES:
        picture = io.BytesIO()
        results.plot().savefig(picture, format=suffix[1:], dpi=150)
        content = picture.getvalue()
    else:
        content = (_csv(results) if suffix == ".csv" else results.to_latex()).encode()
    with atomic.open_output(path, force=force) as file:
        file.write(content)


def _csv(results: rs.Comparisons) -> str:
    """A line per alpha, score and metric; numbers that are not known are empty."""
    columns = long_columns(list(results.values()))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow("" if isinstance(one, float) and not np.isfinite(one) else one for one in row)
    return text.getvalue()
