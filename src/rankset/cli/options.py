"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from rankset.inputs.matrix import KINDS
from rankset.io import memory_budget
from rankset.io.layout import Layout

FILE = click.Path(dir_okay=False, path_type=Path)
"""Type of arguments that are files."""
DEFAULT_ALPHA = "0.1"


def _single_value(_context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> str:
    """Return the one value of ``--alpha``; refuse several, of which click would silently take the last."""
    if len(values) > 1:
        raise click.BadParameter(f"pass it only once, got {', '.join(values)}", param=parameter)
    return values[0] if values else DEFAULT_ALPHA


def _parse_memory(_context: click.Context, _parameter: click.Parameter, text: str | None) -> int | None:
    return None if text is None else memory_budget.parse_size(text)


OPTIONS = {
    "kind": click.option("--kind", type=click.Choice(KINDS), help="What the numbers in SCORES are.  [default: probs]"),
    "classes": click.option("--classes", type=FILE, help="File with the class names in column order, one per line."),
    "alphas": click.option(
        "--alpha", "alphas", multiple=True, help="Tolerated miss rate; may be repeated.  [default: 0.1]"
    ),
    "levels": click.option(
        "--alpha", "alphas", multiple=True, help="Level to show; may be repeated.  [default: 0.01 0.05 0.1 0.2]"
    ),
    "alpha": click.option(
        "--alpha", "alpha", multiple=True, callback=_single_value, help="Tolerated miss rate.  [default: 0.1]"
    ),
    "seed": click.option("--seed", type=int, default=0, show_default=True, help="Seed of all random numbers."),
    "labels": click.option(
        "--labels",
        "label_files",
        metavar="FILE",
        multiple=True,
        help="File or folder of labels; --label then names a column in it. May be repeated.",
    ),
    "max_memory": click.option(
        "--max-memory",
        metavar="BYTES",
        callback=_parse_memory,
        help="Memory for reading a file, as 2GB or 500MB.  [default: RANKSET_MAX_MEMORY, or half of the free memory]",
    ),
    "force": click.option("--force", is_flag=True, help="Replace the output if it exists."),
    "json": click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output."),
}

LAYOUT_OPTIONS = {
    "label": click.option("--label", help="Column of labels. All files are then scores, except those of --labels."),
    "group": click.option("--group", help="Column of groups."),
    "identity": click.option(
        "--id", "identity", help="Column of ids. Randomised scores use them to tell equal rows apart."
    ),
    "drop": click.option("--drop", multiple=True, help="Column that is no class; may be repeated."),
    "keep": click.option("--keep", multiple=True, help="Column to write beside the sets; may be repeated."),
    "key": click.option("--key", help="Array of scores in an .npz file; --label and others then name arrays."),
    "file_format": click.option(
        "--format", "file_format", help="Format of files (csv, jsonl, npy, …) whose name has no known suffix."
    ),
    "header": click.option(
        "--no-header", "header", flag_value=False, default=True, help="The first line holds data, not column names."
    ),
}
"""Options that say which columns of a file are what; commands get them as one ``layout``."""


def options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add options by name.

    Those of ``LAYOUT_OPTIONS`` reach the command as one ``Layout``. ``max_memory`` is in force while the command runs.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        of_layout = [name for name in names if name in LAYOUT_OPTIONS]

        @functools.wraps(command)
        def wrapped(**values: Any) -> Any:
            if of_layout:
                values["layout"] = Layout(**{name: values.pop(name) for name in of_layout})
            with memory_budget.use_limit(values.pop("max_memory", None)):
                return command(**values)

        for name in reversed(names):
            wrapped = {**OPTIONS, **LAYOUT_OPTIONS}[name](wrapped)
        return wrapped

    return decorate
