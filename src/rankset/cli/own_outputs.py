"""Files of a user's own model outputs for ``rankset paper --data FILE``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rankset.cli.files import read_class_names
from rankset.datasets import DATASETS
from rankset.io.layout import Layout
from rankset.io.usual_arrays import find_arrays
from rankset.paper.outputs import AS_PUBLISHED, Outputs


def check_data(_context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> Sequence[str]:
    """Return the values of ``--data``; fail for one that is neither a data set of the paper nor a file."""
    for value in values:
        if value not in DATASETS and not Path(value).is_file():
            reason = "is a folder" if Path(value).is_dir() else "is neither a data set nor a file"
            known = ", ".join(DATASETS)
            raise click.BadParameter(f"{value!r} {reason}. Pass a file, or one of {known}", param=parameter)
    return values


def read_own_outputs(
    paths: Sequence[str], label_files: Sequence[str], layout: Layout, kind: Any, classes: Path | None
) -> list[Outputs]:
    """Return the outputs in files, with labels from columns, from arrays, or from ``label_files`` in the same order."""
    if label_files and len(label_files) != len(paths):
        raise click.UsageError(
            f"Expected one --labels FILE for each --data FILE, got {len(label_files)} for {len(paths)}."
        )
    names = _distinct_names(paths)
    answers: Sequence[str | None] = label_files or [None] * len(paths)
    return [_read(*one, layout, kind, classes) for one in zip(paths, names, answers, strict=True)]


def _read(path: str, name: str, labels: str | None, layout: Layout, kind: Any, classes: Path | None) -> Outputs:
    """Return the outputs in one file."""
    layout, kind = find_arrays(path, labels, layout, kind)
    rows = layout.read_calibration_rows(path, labels, read_class_names(classes, layout), kind)
    with rows.name_file_in_errors():
        answers = rows.labels_for(rows.classes)
        return Outputs.of(name, rows.scores, answers, kind=kind or "probs", classes=rows.classes)


def _distinct_names(paths: Sequence[str]) -> list[str]:
    """Return a name for every file: without suffix, or with it if that name is taken, with a number if needed."""
    taken, names = {*DATASETS, *AS_PUBLISHED.values()}, []
    for path in paths:
        full = Path(path).name
        numbered = (f"{full} ({number})" for number in range(2, len(paths) + 2))
        name = next(one for one in (full.split(".")[0] or full, full, *numbered) if one not in taken)
        taken.add(name)
        names.append(name)
    return names
