"""Folders and patterns as lists of files, and files of scores paired with files of labels."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from rankset.errors import FileError, warn
from rankset.io.read_file import STDIN, WORKBOOKS, is_of, is_readable

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A file, a folder, a pattern, or several of them."""
DIGITS = "0123456789"
NUMBER = re.compile(f"([{DIGITS}]+)")


def expand_paths(paths: Paths) -> list[str]:
    """Return all files, those of a folder or a pattern sorted by name.

    Text files (.txt), hidden files and files of unknown formats in a folder are left out, and so are workbooks if there
    are other files. Two files of a folder or
    pattern that differ in their format only are refused.
    """
    if not isinstance(paths, str | os.PathLike):
        several = [file for path in paths for file in expand_paths(path)]
        if len(several) > 1 and STDIN in several:
            raise FileError.stdin_alone()
        return several
    text = os.fspath(paths)
    if _is_one_file(text):
        return [text]
    if Path(text).is_dir():
        found = sorted(
            entry.path
            for entry in os.scandir(text)
            if entry.is_file() and is_readable(entry.path) and not entry.name.startswith(".")
            if not entry.name.endswith(".txt")
        )
        found = _without_workbooks(found)
    elif glob.has_magic(text):
        found = sorted(path for path in glob.glob(text) if Path(path).is_file())  # noqa: PTH207 - of any folder
    else:
        raise FileError.missing(text)
    if not found:
        raise FileError.no_shards(text)
    _check_formats(found)
    return found


def _without_workbooks(paths: Sequence[str]) -> list[str]:
    """Files of a folder without workbooks (notes beside the scores), unless there is nothing else."""
    books = [path for path in paths if is_of(path, WORKBOOKS)]
    others = [path for path in paths if path not in books]
    return others or [path for path in books if not Path(path).name.startswith("~$")]  # locks of open workbooks


def pair_files(scores: Paths, labels: Paths | None) -> list[tuple[str, str | None]]:
    """Return the files of scores, each with its file of labels (None if labels have no files).

    Files belong together if they have the same name. If their names differ, those of folders and patterns are paired
    by what distinguishes the names on each side (``part-1``, ``part-2`` and ``labels_01``, ``labels_02``), and refused
    if that does not pair all of them. A single file is paired by the numbers in its name. Files that are listed one by
    one are paired in the order of the lists.
    """
    given = _as_list(scores)
    rows = expand_paths(given)
    seen: set[str] = set()
    for path in rows:
        if _file_identity(path) in seen:
            raise FileError.twice(path)
        seen.add(_file_identity(path))
    _check_formats(rows)
    if labels is None:
        return [(path, None) for path in rows]
    given_labels = _as_list(labels)
    others = expand_paths(given_labels)
    if len(others) != len(rows):
        raise FileError.unpaired(len(rows), len(others))
    if STDIN in rows and STDIN in others:
        raise FileError.stdin_alone()
    listed = all(map(_is_one_file, (*given, *given_labels)))
    if len(rows) == 1:
        if not listed:
            _check_one_pair(rows[0], others[0])
        return [(rows[0], others[0])]
    pair = _pair_listed if listed else _pair_found
    return list(zip(rows, pair(rows, others), strict=True))


def _check_one_pair(row: str, other: str) -> None:
    """Refuse two files, at least one of which was found, if neither their names nor the numbers in them agree."""
    stem, other_stem = file_stem(row), file_stem(other)
    numbers, other_numbers = ([int(part) for part in re.findall(NUMBER, name)] for name in (stem, other_stem))
    if stem != other_stem and (not numbers or numbers != other_numbers):
        raise FileError.unclear_pairs([row], [other])


def _pair_listed(rows: Sequence[str], others: Sequence[str]) -> Sequence[str]:
    """Return the partners of files that were listed one by one: by name, or by place if no names agree."""
    if [file_stem(path) for path in rows] == [file_stem(path) for path in others]:
        return others
    _check_stems(rows)
    _check_stems(others)
    by_name = _partners([file_stem(path) for path in rows], [file_stem(path) for path in others], others)
    if by_name is not None:
        return by_name
    _check_no_stem_agrees(rows, others)
    by_key = _partners(_keys(rows), _keys(others), others)
    if by_key is not None and by_key != list(others):
        first = next(place for place, path in enumerate(by_key) if path != others[place])
        warn(
            f"files are paired in the order of the lists, which contradicts their names: {rows[first]} gets the labels "
            f"of {others[first]}, not those of {by_key[first]}. Give both the same names, or sort the lists alike."
        )
    return others


def _pair_found(rows: Sequence[str], others: Sequence[str]) -> Sequence[str]:
    """Return the partners of files of which some were found in folders or by patterns: by name only."""
    stems, other_stems = [file_stem(path) for path in rows], [file_stem(path) for path in others]
    by_name = _partners(stems, other_stems, others)
    if by_name is not None:
        return by_name
    by_key, agreeing = _partners(_keys(rows), _keys(others), others), set(stems) & set(other_stems)
    if by_key is not None and all(
        file_stem(other) == stem for stem, other in zip(stems, by_key, strict=True) if stem in agreeing
    ):
        return by_key
    if len(set(stems)) == len(stems):
        _check_no_stem_agrees(rows, others)
    raise FileError.unclear_pairs(rows, others)


def _partners(ours: Sequence[object], theirs: Sequence[object], others: Sequence[str]) -> list[str] | None:
    """Return for each of ``ours`` the file whose entry in ``theirs`` is equal; None unless that is one to one."""
    places = dict(zip(theirs, others, strict=True))
    if len(places) < len(others) or set(ours) != set(places) or len(set(ours)) < len(ours):
        return None
    return [places[key] for key in ours]


def _keys(paths: Sequence[str]) -> list[tuple[str | int, ...]]:
    """What distinguishes each file from the others: its name without what all names share, with numbers as integers.

    Files with the same name in several folders are distinguished by their folders too.
    """
    names = [file_stem(path) for path in paths]
    if len(set(names)) < len(names):
        names = [str(Path(path).parent / name) for path, name in zip(paths, names, strict=True)]
    start = _common_start(names)
    end = _common_start([name[start:][::-1] for name in names])
    parts = [NUMBER.split(name[start : len(name) - end]) for name in names]
    return [tuple(int(part) if part and part[0] in DIGITS else part for part in some) for some in parts]


def _common_start(names: Sequence[str]) -> int:
    """Number of characters with which all names begin; a number is never cut."""
    first, last = min(names), max(names)
    same = next((place for place, letter in enumerate(first) if letter != last[place]), len(first))
    return len(first[:same].rstrip(DIGITS))


def _as_list(paths: Paths) -> list[str]:
    return [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]


def _is_one_file(path: str) -> bool:
    """Whether a path is a file or standard input, not a folder or a pattern."""
    return path == STDIN or (Path(path).exists() and not Path(path).is_dir())


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


def _check_no_stem_agrees(rows: Sequence[str], others: Sequence[str]) -> None:
    """Refuse files of which some have a partner with the same name and others have none."""
    known = {file_stem(path) for path in others}
    alone = [path for path in rows if file_stem(path) not in known]
    if len(alone) < len(rows):
        raise FileError.unmatched(alone[0])


def _check_formats(paths: Sequence[str]) -> None:
    """Refuse files of one folder that differ in their format only: they are likely to hold the same rows."""
    seen: dict[tuple[str, str], str] = {}
    for path in paths:
        first = seen.setdefault((os.path.realpath(Path(path).parent), file_stem(path)), path)
        if first != path:
            raise FileError.two_formats(path, first)


def _file_identity(path: str) -> str:
    """Text that is equal for two paths of one file, hard and symbolic links included."""
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return os.path.realpath(path)
    return f"{status.st_dev}:{status.st_ino}" if status.st_ino else os.path.realpath(path)


def check_targets(folder: Path, targets: Sequence[Path], inputs: Sequence[str], *, force: bool) -> None:
    """Refuse outputs that would replace inputs, one another, or existing files."""
    if folder.exists() and not folder.is_dir():
        raise FileError.unwritable(str(folder), "it is a file, not a folder")
    taken = {os.path.realpath(path) for path in inputs}
    for place, path in enumerate(targets):
        if os.path.realpath(path) in taken:
            raise FileError.own_input(str(path))
        if path in targets[:place]:
            raise FileError.same_target(str(path))
        if path.exists() and not force:
            raise FileError.exists(str(path))
