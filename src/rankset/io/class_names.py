"""Read the class names of a file: one name per line, JSON (``config.json`` of a Hugging Face model), or .npz."""

from __future__ import annotations

import json
from typing import Any

from rankset.errors import FileError
from rankset.io.dialect import RECOGNISED, Dialect
from rankset.io.parse_cells import is_whole_text
from rankset.io.read_file import read_file, read_lines

ARRAY = "classes"
"""Name of the array of class names in an .npz file."""
MAP = "id2label"
"""Key under which models of Hugging Face have the names of their columns, by number."""


def read_class_names(path: str, dialect: Dialect = RECOGNISED) -> list[str]:
    """Return the class names in column order.

    A file whose name ends in .json is a list of names, an object with a name for every column number
    (``{"0": "cat"}``), or an object with such a list or object under ``id2label``. A file whose name ends in .npz has
    an array ``classes``. Other files have a name per line.
    Raises ``FileError`` if the file cannot be read, or is JSON of another form.
    """
    if path.lower().endswith(".npz"):
        return _of_archive(path)
    lines = read_lines(path, dialect)
    if not path.lower().endswith((".json", ".json.gz")):
        return lines
    try:
        found = json.loads("\n".join(lines))
    except (ValueError, RecursionError):
        raise FileError.no_json(path) from None
    names = _names_of(found)
    if names is None:
        raise FileError.no_class_names(path)
    return names


def has_class_names(path: str) -> bool:
    """Return whether a file of scores is an .npz file that has class names, too."""
    archive = read_file(path).archive if path.lower().endswith(".npz") else None
    return archive is not None and ARRAY in archive.names


def _of_archive(path: str) -> list[str]:
    """Return the names in the array ``classes`` of an .npz file."""
    archive = read_file(path).archive
    names = archive.read(ARRAY) if archive is not None else None
    if names is None or names.ndim != 1 or names.dtype.kind not in "Uiu":
        raise FileError.no_array_of_names(path, ARRAY)
    return [str(name) for name in names.tolist()]


def _names_of(found: Any) -> list[str] | None:
    """Names in column order; None if a value holds none."""
    if isinstance(found, dict):
        found = found.get(MAP, found)
    if isinstance(found, dict):
        places = {int(key): name for key, name in found.items() if is_whole_text(key)}
        if len(places) < len(found) or sorted(places) != list(range(len(places))):
            return None
        found = [places[place] for place in range(len(places))]
    if not isinstance(found, list) or not found:
        return None
    plain = all(isinstance(name, str | int) and not isinstance(name, bool) for name in found)
    return [str(name) for name in found] if plain else None
