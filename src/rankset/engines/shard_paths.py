"""Folders and patterns as lists of files, and files of scores paired with files of labels."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from rankset.errors import FileError
from rankset.io.read_file import STDIN, is_readable

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A file, a folder, a pattern, or several of them."""


def expand_paths(paths: Paths) -> list[str]:
    """Return all files, those of a folder or a pattern sorted by name.

    Text files (.txt), hidden files and files of unknown formats in a folder are left out.
    """
    if not isinstance(paths, str | os.PathLike):
        several = [file for path in paths for file in expand_paths(path)]
        if len(several) > 1 and STDIN in several:
            raise FileError.stdin_alone()
        return several
    text = os.fspath(paths)
    if text == STDIN or (Path(text).exists() and not Path(text).is_dir()):
        return [text]
    if Path(text).is_dir():
        found = sorted(
            entry.path
            for entry in os.scandir(text)
            if entry.is_file() and is_readable(entry.path) and not entry.name.startswith(".")
            if not entry.name.endswith(".txt")
        )
    elif glob.has_magic(text):
        found = sorted(path for path in glob.glob(text) if Path(path).is_file())  # noqa: PTH207 - of any folder
    else:
        raise FileError.missing(text)
    if not found:
        raise FileError.no_shards(text)
    return found


def pair_files(scores: Paths, labels: Paths | None) -> list[tuple[str, str | None]]:
    """Return the files of scores, each with its file of labels (None if labels have no files).

    Files belong together if they have the same name, or the same place in the order if no names agree.
    """
    rows = expand_paths(scores)
    seen: set[str] = set()
    for path in rows:
        if _file_identity(path) in seen:
            raise FileError.twice(path)
        seen.add(_file_identity(path))
    if labels is None:
        return [(path, None) for path in rows]
    others = expand_paths(labels)
    if len(others) != len(rows):
        raise FileError.unpaired(len(rows), len(others))
    if STDIN in rows and STDIN in others:
        raise FileError.stdin_alone()
    if len(rows) == 1:
        return [(rows[0], others[0])]
    if [file_stem(path) for path in rows] == [file_stem(path) for path in others]:
        return list(zip(rows, others, strict=True))
    _check_stems(rows)
    _check_stems(others)
    partners = {file_stem(path): path for path in others}
    alone = [path for path in rows if file_stem(path) not in partners]
    if alone and len(alone) < len(rows):
        raise FileError.unmatched(alone[0])
    return [(path, other if alone else partners[file_stem(path)]) for path, other in zip(rows, others, strict=True)]


def file_stem(path: str) -> str:
    """Name of a file without the suffixes of its format."""
    name = Path(path)
    name = name.with_suffix("") if name.suffix.lower() == ".gz" else name
    return name.with_suffix("").name if is_readable(str(name)) else name.name


def _check_stems(paths: Sequence[str]) -> None:
    """Refuse files with the same name in several folders: names decide which labels belong to which scores."""
    stems = [file_stem(path) for path in paths]
    repeated = [path for path, stem in zip(paths, stems, strict=True) if stems.count(stem) > 1]
    if repeated:
        raise FileError.same_stem(repeated[0])


def _file_identity(path: str) -> str:
    """Text that is equal for two paths of one file, hard and symbolic links included."""
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return os.path.realpath(path)
    return f"{status.st_dev}:{status.st_ino}" if status.st_ino else os.path.realpath(path)
