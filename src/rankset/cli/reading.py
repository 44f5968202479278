"""What commands share: their options, and files as rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from numpy.typing import NDArray

from rankset import files
from rankset.errors import FileError
from rankset.inputs import KINDS

FILE = click.Path(dir_okay=False, path_type=Path)

OPTIONS = {
    "kind": click.option(
        "--kind", type=click.Choice(KINDS), default="probs", show_default=True, help="What the numbers are."
    ),
    "key": click.option("--key", help="Which array of an .npz file."),
    "format": click.option(
        "--format", "form", help="Kind of the files (csv, jsonl, …) where names do not tell; for -."
    ),
    "label": click.option("--label", help="The column that holds the labels, if they are in the file of the scores."),
    "group": click.option("--group", help="The column that holds the rows' groups; coverage then holds for each."),
    "id": click.option("--id", "identity", help="The column of ids that tell repeated rows apart in scores that draw."),
    "drop": click.option("--drop", multiple=True, help="A column that is no class; may be repeated."),
    "classes": click.option("--classes", type=FILE, help="File with the class names in column order, one per line."),
    "alpha": click.option("--alpha", "alphas", multiple=True, help="Tolerated miss rate; may be repeated."),
    "force": click.option("--force", is_flag=True, help="Replace the output if it exists."),
    "json": click.option("--json", "as_json", is_flag=True, help="For machines: one JSON object on standard output."),
}


def options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(names):
            command = OPTIONS[name](command)
        return command

    return decorate


@dataclasses.dataclass(frozen=True)
class Rows:
    """What two files say: scores, the names of their columns, labels, groups and ids."""

    scores: NDArray[Any]
    names: list[str] | None
    labels: NDArray[Any] | None
    groups: NDArray[Any] | None
    ids: NDArray[Any] | None


def read(
    path: str,
    labels: str | None,
    *,
    key: str | None,
    form: str | None,
    label: str | None = None,
    group: str | None = None,
    identity: str | None = None,
    drop: Sequence[str] = (),
) -> Rows:
    if labels is not None and label is not None:
        raise FileError.labels_twice()
    columns = files.read(path, key=key, kind=form)
    apart = [name for name in (label, group, identity) if name is not None]
    picked = {name: columns.column(name) for name in apart}
    matrix, names = columns.scores([*apart, *drop])
    told = files.read(labels, key=key, kind=form).values() if labels is not None else None
    return Rows(
        matrix,
        names,
        told if label is None else picked[label],
        None if group is None else picked[group],
        None if identity is None else picked[identity],
    )


def class_names(path: Path | None, names: list[str] | None, labels: NDArray[Any] | None) -> list[Any] | None:
    """The names in a file, else those of the columns, as numbers where the labels are numbers."""
    if path is not None:
        try:
            return path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeError) as error:
            raise FileError.unreadable(str(path), str(error)) from None
    if names is None or labels is None or labels.dtype.kind not in "iu":
        return names
    return [int(name) for name in names] if all(name.lstrip("-").isdecimal() for name in names) else names
