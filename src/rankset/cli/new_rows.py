"""``--new FILE``: rows that are predicted by a command that also reads the rows with known labels."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from rankset.cli.files import STDOUT, find_usual_arrays, read_class_names, split_paths
from rankset.engines.shard_paths import pair_files
from rankset.io.layout import Layout
from rankset.io.rows import Rows
from rankset.io.write_sets import stream_sets, write_sets
from rankset.io.writers.base import SetsAndKept
from rankset.rules.spec import RuleSpec


def new_rows_options(outputs: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add ``--new`` and ``--output``; ``outputs`` are the suffixes of output files."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        text = f"Output file: {outputs}.  [default: csv on standard output]"
        command = click.option("-o", "--output", help=text)(command)
        new = "File of model outputs to predict, with the columns of SCORES. --keep and --id name its columns."
        return click.option("--new", "new_file", metavar="FILE", required=True, help=new)(command)

    return decorate


def read_labelled_rows(
    paths: Sequence[str], label_files: Sequence[str], layout: Layout, kind: Any, classes: Path | None
) -> tuple[Rows, Any]:
    """Return the rows with known labels, of which each can have several, and their kind."""
    layout = replace(layout, several=True, keep=())
    pairs = pair_files(*split_paths(paths, label_files, layout))
    if len(pairs) > 1:
        raise click.UsageError(
            f"This command works with one file of SCORES only, got {len(pairs)} files. Join the files."
        )
    layout, kind = find_usual_arrays(*pairs[0], layout, kind)
    return layout.read_calibration_rows(*pairs[0], read_class_names(classes, layout), kind), kind


def read_new_rows(path: str, layout: Layout, spec: RuleSpec) -> Rows:
    """Return the rows to predict, with columns matched to the classes by name; other columns are ignored."""
    found, _ = find_usual_arrays(path, path, replace(layout, label=None, drop=()), spec.kind)
    rows = found.read_rows(path, classes=spec.classes.array.tolist(), kind=spec.kind)
    return rows.with_groups_of(spec.groups.array.tolist())


def write_new_rows(output: str | None, rows: Rows, parts: Iterator[SetsAndKept], *, force: bool) -> None:
    """Write the sets of new rows to a file or to standard output."""
    with rows.name_file_in_errors():
        if output in STDOUT:
            stream_sets(sys.stdout.buffer, parts)
        else:
            write_sets(Path(str(output)), parts, force=force)
