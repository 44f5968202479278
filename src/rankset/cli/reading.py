"""What commands share: their options, and files as rows."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from rankset.errors import FileError
from rankset.inputs.matrix import KINDS
from rankset.io import atomic, container, memory_budget, read_file
from rankset.io.layout import Layout
from rankset.rules import rule_file
from rankset.rules.rule import Rule

FILE = click.Path(dir_okay=False, path_type=Path)
DEFAULT_ALPHA = "0.1"


def once(_context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> str:
    """The one value of an option, refused where it came twice: the last of two would win in silence."""
    if len(values) > 1:
        raise click.BadParameter(f"give it once, got {', '.join(values)}", param=parameter)
    return values[0] if values else DEFAULT_ALPHA


OPTIONS = {
    "kind": click.option("--kind", type=click.Choice(KINDS), help="What the numbers are.  [default: probs]"),
    "classes": click.option("--classes", type=FILE, help="File with the class names in column order, one per line."),
    "alphas": click.option(
        "--alpha", "alphas", multiple=True, help="Tolerated miss rate; may be repeated.  [default: 0.1]"
    ),
    "levels": click.option(
        "--alpha", "alphas", multiple=True, help="Level to tell about; may be repeated.  [default: 0.01 0.05 0.1 0.2]"
    ),
    "alpha": click.option(
        "--alpha", "alpha", multiple=True, callback=once, help="Tolerated miss rate.  [default: 0.1]"
    ),
    "seed": click.option("--seed", type=int, default=0, show_default=True, help="Of everything that is drawn."),
    "labels": click.option(
        "--labels",
        "label_files",
        metavar="FILE",
        multiple=True,
        help="File or folder of labels; --label then names the column in it. May be repeated.",
    ),
    "max_memory": click.option(
        "--max-memory",
        metavar="BYTES",
        callback=lambda _context, _parameter, text: None if text is None else memory_budget.parse_size(text),
        help="What reading a file may take, as 2GB or 500MB.  [default: RANKSET_MAX_MEMORY, or half of what is free]",
    ),
    "force": click.option("--force", is_flag=True, help="Replace the output if it exists."),
    "json": click.option("--json", "as_json", is_flag=True, help="For machines: one JSON object on standard output."),
}

WHERE = {
    "label": click.option(
        "--label", help="The column of labels. Then every file is scores, unless --labels tells otherwise."
    ),
    "group": click.option("--group", help="The column that holds the rows' groups."),
    "identity": click.option(
        "--id", "identity", help="The column of ids. Scores that draw tell repeated rows apart by them."
    ),
    "drop": click.option("--drop", multiple=True, help="A column that is no class; may be repeated."),
    "keep": click.option("--keep", multiple=True, help="A column to be written beside the sets; may be repeated."),
    "key": click.option("--key", help="The array of scores in an .npz file; --label and others name arrays there."),
    "file_format": click.option(
        "--format", "file_format", help="What a file is (csv, jsonl, npy, …) where its name does not tell."
    ),
    "header": click.option("--no-header", "header", flag_value=False, default=True, help="The first line is data."),
}
"""Options that tell where things stand in files; commands get them as one ``layout``."""


def options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds options by their names; those of ``WHERE`` reach the command as one ``Layout``, and the memory that reading
    may take holds while the command runs."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        where = [name for name in names if name in WHERE]

        @functools.wraps(command)
        def wrapped(**told: Any) -> Any:
            if where:
                told["layout"] = Layout(**{name: told.pop(name) for name in where})
            with memory_budget.use_limit(told.pop("max_memory", None)):
                return command(**told)

        for name in reversed(names):
            wrapped = {**OPTIONS, **WHERE}[name](wrapped)
        return wrapped

    return decorate


def given(paths: Sequence[str], label_files: Sequence[str], layout: Layout) -> tuple[list[str], list[str] | None]:
    """Files of scores, and files of labels unless labels are a column of the scores.

    With --labels or --label all ``paths`` are scores, whatever is in them. Without, they are SCORES and LABELS.
    """
    if label_files or layout.label is not None:
        return list(paths), list(label_files) or None
    if len(paths) > 2:
        raise click.UsageError(
            "Expected SCORES LABELS, each a file or a folder; for several files use --label or --labels."
        )
    return list(paths[:1]), list(paths[1:]) or None


def told_names(path: Path | None) -> list[str] | None:
    """The class names in a file, one per line."""
    return None if path is None else read_file.read_lines(str(path))


def check_output(path: Path, suffix: str | None, inputs: Iterable[object], *, force: bool) -> None:
    """Refuses a name that would mislead, and to replace what must not be, before any work is done."""
    if suffix is not None and path.suffix != suffix:
        raise FileError.suffix(str(path), suffix)
    if any(one is not None and os.path.realpath(str(one)) == os.path.realpath(path) for one in inputs):
        raise FileError.own_input(str(path))
    if path.exists() and not path.is_file():
        raise FileError.unwritable(str(path), "it is no regular file")
    if path.exists() and not force:
        raise FileError.exists(str(path))


def save(rule: Rule, path: Path, *, force: bool) -> None:
    """Writes a rule, whole or not at all, and over nothing that came there meanwhile."""
    with atomic.open_output(path, force=force) as file:
        file.write(container.to_bytes(path, *rule_file.pack(rule.spec, rule.calibration)))


def say(text: str, *, err: bool = False) -> None:
    """Prints, with everything that a terminal would obey or could not show as its number."""
    if (sys.stderr if err else sys.stdout) is None:
        if not err:
            raise FileError.unwritable("-", "standard output is closed")
        return
    shown = "".join(one if one.isprintable() or one == "\n" else ascii(one)[1:-1] for one in text)
    encoding = getattr(sys.stderr if err else sys.stdout, "encoding", None) or "utf-8"
    click.echo(shown.encode(encoding, "backslashreplace").decode(encoding), err=err)
