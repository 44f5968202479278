"""Files that commands read and write."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

import rankset as rs
from rankset.cli.echo import echo
from rankset.errors import FileError, RanksetError
from rankset.io import atomic, class_names, container
from rankset.io.layout import Layout
from rankset.io.read_file import is_readable
from rankset.io.usual_arrays import find_unnamed_arrays
from rankset.rules import rule_file

SQLITE = b"SQLite format 3\x00"
"""How files of SQLite begin."""
STDOUT = (None, "-")
"""Values of --output that mean standard output."""


def split_paths(paths: Sequence[str], label_files: Sequence[str], layout: Layout) -> tuple[list[str], list[str] | None]:
    """Return files of scores, and files of labels (None if labels are a column of the scores).

    With --labels or --label all ``paths`` are scores. Without, they are SCORES and LABELS.
    """
    if label_files or layout.label is not None:
        return list(paths), list(label_files) or None
    if len(paths) > 2:
        raise click.UsageError(
            "Expected SCORES LABELS, each one a file or a folder. For several files use --label or --labels."
        )
    return list(paths[:1]), list(paths[1:]) or None


def read_class_names(path: Path | None, layout: Layout) -> list[str] | None:
    """Return the class names in a file; None without a file."""
    return None if path is None else class_names.read_class_names(str(path), layout.dialect)


def note_class_names(path: str, given: Path | None) -> None:
    """Say on stderr that an .npz file of scores has class names that are not read, because --classes is missing."""
    if given is None and class_names.has_class_names(path):
        echo(f"note: {path}: the array {class_names.ARRAY} is not read. Pass --classes {path} to use it.", err=True)


def find_usual_arrays(path: str, labels: str | None, layout: Layout, kind: Any = None) -> tuple[Layout, Any]:
    """Return layout and kind for an .npz file whose arrays have usual names; say on stderr which ones are read."""
    found, found_kind = find_unnamed_arrays(path, labels, layout, kind)
    if found != layout:
        new = [("--key", found.key), *([("--label", found.label)] if found.label != layout.label else [])]
        names = " and ".join(f"{option} {name}" for option, name in new if name is not None)
        echo(f"note: {path}: read with {names}{' and --kind logits' if found_kind != kind else ''}", err=True)
    return found, found_kind


def check_output(path: Path, suffix: str | None, inputs: Iterable[object], *, force: bool) -> None:
    """Check suffix, input/output clash and overwriting, before any work is done."""
    if suffix is not None and path.suffix != suffix:
        raise FileError.suffix(str(path), suffix)
    if any(one is not None and os.path.realpath(str(one)) == os.path.realpath(path) for one in inputs):
        raise FileError.own_input(str(path))
    if path.exists() and not path.is_file():
        raise FileError.unwritable(str(path), "it is not a regular file")
    if suffix is not None and not path.absolute().parent.is_dir():
        raise FileError.no_folder(str(path))
    if path.exists() and not force:
        raise FileError.exists(str(path))


def check_output_or_stdout(output: str | None, inputs: Iterable[object], *, force: bool) -> None:
    """Do the same for an output file or standard output."""
    if output not in STDOUT:
        check_output(Path(str(output)), None, inputs, force=force)
    elif sys.stdout is None:
        raise FileError.unwritable("-", "standard output is closed")


def load_rule(path: Path) -> rs.Rule:
    """Load a rule; raise ``FileError`` if there is no such file."""
    if not path.exists():
        raise FileError.missing(str(path))
    if is_readable(str(path)) and path.is_file() and not _starts_like_a_rule(path):
        raise FileError.no_rule(str(path))
    return rs.load(path)


def load_triage(path: Path) -> rs.Triage:
    """Load a triage; raise ``FileError`` if there is no such file, or if it is of another kind."""
    if not path.exists():
        raise FileError.missing(str(path))
    return rs.Triage.load(path)


def content_of(path: Path) -> str | None:
    """Return what a file of rankset contains, such as "rule" or "stream"; None if it is another file."""
    with suppress(RanksetError, OSError):
        found = container.read(path)[0].get("what")
        return found if isinstance(found, str) else None
    return None


def is_stream(path: Path) -> bool:
    """Whether a file contains a stream, as ``rankset watch --state`` writes it."""
    return content_of(path) == "stream"


def is_store(path: Path) -> bool:
    """Whether a file is one of SQLite, such as the store of ``rankset serve``."""
    if not path.is_file():
        return False
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE
    return False


def _starts_like_a_rule(path: Path) -> bool:
    """Whether a file starts as a rule file does: eight bytes, and then JSON."""
    with path.open("rb") as file:
        return file.read(9)[8:] == b"{"


def save_rule(rule: rs.Rule, path: Path, *, force: bool) -> None:
    """Write a rule atomically; fail if the target appeared meanwhile, unless ``force``."""
    _save(path, rule_file.pack(rule.spec, rule.calibration), force=force)


def save_triage(triage: rs.Triage, path: Path, *, force: bool) -> None:
    """Do the same for a triage."""
    from rankset.decisions import triage_file

    _save(path, triage_file.pack(triage.spec, triage.right, triage.wrong, triage.within), force=force)


def _save(path: Path, content: tuple[container.Header, container.Arrays], *, force: bool) -> None:
    with atomic.open_output(path, force=force) as file:
        file.write(container.to_bytes(path, *content))
