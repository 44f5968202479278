"""What commands share: their options, and files as rows."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from rankset import files, inputs
from rankset.errors import FileError, LabelError, RanksetError, RuleError, StorageError
from rankset.inputs import KINDS

FILE = click.Path(dir_okay=False, path_type=Path)


def once(_context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> str:
    """The one value of an option, refused where it came twice: the last of two would win in silence."""
    if len(values) > 1:
        raise click.BadParameter(f"give it once, got {', '.join(values)}", param=parameter)
    return values[0] if values else "0.1"


OPTIONS = {
    "kind": click.option(
        "--kind", type=click.Choice(KINDS), default="probs", show_default=True, help="What the numbers are."
    ),
    "optional kind": click.option(
        "--kind", type=click.Choice(KINDS), help="What the numbers are, where no rule tells.  [default: probs]"
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
    "level": click.option(
        "--alpha",
        "alpha",
        multiple=True,
        callback=once,
        help="Tolerated miss rate.  [default: 0.1]",
    ),
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
    scores_file: str
    labels_file: str

    def in_order_of(self, classes: Sequence[object]) -> Rows:
        """Columns in the order of ``classes``, by name where they have names."""
        known = [str(name) for name in classes]
        if self.names is None or self.names == known:
            return self
        if sorted(self.names) != sorted(known):
            raise RuleError.columns_of_file(known, self.names)
        places = [self.names.index(name) for name in known]
        return dataclasses.replace(self, names=known, scores=self.scores[:, places])

    def labels_of(self, classes: Sequence[object] | None) -> Any:
        """The labels; column numbers, where all classes are texts, as the names they stand for."""
        if self.labels is None:
            raise FileError.no_labels()
        return inputs.named_labels(self.labels, None if classes is None else np.array(classes, dtype=object))

    @contextmanager
    def named(self) -> Iterator[None]:
        """Inside, what is wrong with rows is told with the file they came from, in words of the command line."""
        try:
            yield
        except (FileError, StorageError, RuleError):
            raise
        except RanksetError as error:
            file = self.labels_file if isinstance(error, LabelError) else self.scores_file
            raise FileError.within(file, spoken(str(error))) from error


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
        path,
        labels or path,
    )


SPOKEN = (
    (re.compile(r"\bkind='(\w+)'"), r"--kind \1"),
    (re.compile(r"\bclasses=(\[\.\.\.\]|range\([\d, ]+\))"), "--classes"),
    (re.compile(r"\bgroups="), "--group"),
    (re.compile(r"\bids="), "--id"),
)


def spoken(text: str) -> str:
    """What the library says, in the options of the command line."""
    for said, option in SPOKEN:
        text = said.sub(option, text)
    return text


def class_names(path: Path | None, names: list[str] | None, labels: NDArray[Any] | None) -> list[Any] | None:
    """The names in a file, else those of the columns, as numbers where the labels are numbers."""
    if path is not None:
        try:
            names = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeError) as error:
            raise FileError.unreadable(str(path), str(error)) from None
    if names is None or labels is None or labels.dtype.kind not in "iu":
        return names
    return [int(name) for name in names] if all(name.lstrip("-").isdecimal() for name in names) else names
