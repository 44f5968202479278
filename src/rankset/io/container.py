"""A header and arrays in one safetensors file: the header is sorted JSON in one metadata key, nothing is pickled.

Sizes are checked before anything is allocated, nothing in a file is ever executed, a digest detects damage, and a
failed save leaves the old file as it was. This module knows nothing of rules; ``docs/reference/format.md``
describes their files.
"""

import dataclasses
import json
import os
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import is_whole
from rankset.errors import RanksetError, StorageError
from rankset.io import atomic

HEADER = "rankset"
FORMAT = 1
"""Format number of files whose header names no other one."""
LATEST_FORMAT = 5
"""Largest format number that is read. To change the format, increase it, keep reading all older ones, write the new one
only where it is needed, and add a golden file."""

LIMIT_HEADER = 64 << 20
"""Most bytes of a header: enough for about a million class names."""

LIMIT_REASON = 400
"""Most characters of a library's message that an error quotes."""

DIGEST = "digest"
"""Header field with the digest of the arrays and of all other header fields."""

DTYPES = {"I64": np.dtype("<i8"), "F64": np.dtype("<f8")}
LENGTH_BYTES = 8
BRACE = b'{"'
"""What follows the length in every file of safetensors."""

MAX_PARTS = 100
"""Most scores (or conditions) that one description may contain, nested ones included."""

MAX_HOLES = 64
"""Largest ratio of a file's size to the space it takes on disk. Holes in a file are read as zeros, which fill memory
though nothing is stored; file systems that compress rarely reach this ratio."""
SMALL = 256 << 20
"""Files up to this size are read whatever space they take on disk."""

PLAIN = (bool, int, float, str, tuple, type(None))
"""Types of fields of scores and conditions, besides other scores and conditions."""

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


def write(path: str | os.PathLike[str], header: Header, arrays: Arrays) -> None:
    """Write ``header`` and one-dimensional ``arrays`` atomically; an existing file is replaced."""
    data = to_bytes(path, header, arrays)
    with atomic.open_output(path, force=True) as file:
        file.write(data)


def to_bytes(path: str | os.PathLike[str], header: Header, arrays: Arrays) -> bytes:
    """Return the bytes of a file of ``header`` and ``arrays``; ``path`` names it in errors.

    The format number is that of ``header``, or ``FORMAT``.
    """
    from safetensors.numpy import save

    plain = {name: _little_endian(array) for name, array in arrays.items()}
    numbered = {"format": FORMAT, **header}
    data = save(plain, {HEADER: _text({**numbered, DIGEST: _digest(numbered, plain)})})
    (length,) = struct.unpack_from("<Q", data)
    if length > LIMIT_HEADER:
        raise StorageError.names_too_long(path, length, LIMIT_HEADER)
    return data


def read(path: str | os.PathLike[str]) -> tuple[Header, Arrays]:
    """Return the header and the arrays of a file that ``write`` made; raise ``StorageError`` if it is damaged."""
    with damage_as_error(path):
        _check_size(Path(path))
        return _read(Path(path))


@contextmanager
def damage_as_error(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn everything that a damaged file raises inside into one ``StorageError``."""
    from safetensors import SafetensorError

    try:
        yield
    except StorageError:
        raise
    except KeyError as error:
        raise StorageError.unreadable(path, f"it has no {error}") from None
    except (ValueError, IndexError, TypeError, RecursionError, OverflowError, SafetensorError) as error:
        reason = error.statement if isinstance(error, RanksetError) else str(error)[:LIMIT_REASON].rstrip(".")
        raise StorageError.unreadable(path, reason) from None


def describe(value: object, known: Mapping[str, type[Any]]) -> Header:
    """Describe an instance of one of the ``known`` dataclasses by its name there and its fields."""
    answer = _describe(value, known)
    if _count_parts(answer) > MAX_PARTS:
        raise StorageError.nested_too_far(MAX_PARTS)
    return answer


def _describe(value: object, known: Mapping[str, type[Any]]) -> Header:
    names = {kind: name for name, kind in known.items()}
    if type(value) not in names:
        raise StorageError.not_storable("scores and conditions", value)
    fields = {name: getattr(value, name) for name in stored_fields(type(value)) + _given_fields(value)}
    return {
        "name": names[type(value)],
        **{name: part if isinstance(part, PLAIN) else _describe(part, known) for name, part in fields.items()},
    }


def stored_fields(kind: type[Any]) -> tuple[str, ...]:
    """Names of the fields that a class always has in files: those it lists in ``stored``, else those of the dataclass.

    A class with ``stored`` has a classmethod ``from_stored`` that takes these fields. Fields in ``stored_if_given`` are
    in a file only if they are not None.
    """
    listed: tuple[str, ...] | None = getattr(kind, "stored", None)
    if listed is not None:
        return listed
    optional = getattr(kind, "stored_if_given", ())
    return tuple(field.name for field in dataclasses.fields(kind) if field.name not in optional)


def _given_fields(value: object) -> tuple[str, ...]:
    """Names of the fields in ``stored_if_given`` that are not None."""
    return tuple(name for name in getattr(value, "stored_if_given", ()) if getattr(value, name) is not None)


def rebuild(description: object, known: Mapping[str, type[Any]]) -> Any:
    """Return the value that ``describe`` described; only ``known`` types are made, at most ``MAX_PARTS`` of them."""
    if _count_parts(description) > MAX_PARTS:
        raise ValueError(f"more than {MAX_PARTS:,} scores or conditions are nested")
    return _rebuild(description, known)


def _count_parts(description: object) -> int:
    """Number of descriptions in one, itself included; counting stops one beyond ``MAX_PARTS``."""
    count, waiting = 0, [description]
    while waiting and count <= MAX_PARTS:
        part = waiting.pop()
        if isinstance(part, dict):
            count += 1
            waiting.extend(part.values())
    return count


def _rebuild(description: object, types: Mapping[str, type[Any]]) -> Any:
    if not isinstance(description, dict):
        raise TypeError(f"one of {', '.join(types)} must be described by its name and fields, got {description!r}")
    name = description["name"]
    if not isinstance(name, str) or name not in types:
        raise ValueError(f"{name!r} is not one of {', '.join(types)}; a later version of rankset may know it")
    given = {field for field in getattr(types[name], "stored_if_given", ()) if description.get(field) is not None}
    expected = set(stored_fields(types[name])) | given
    check_fields(name, description, {"name", *expected})
    parts = {field: _rebuild_field(description[field], types) for field in expected}
    value = getattr(types[name], "from_stored", types[name])(**parts)
    if any(getattr(value, field) != part for field, part in parts.items()):
        raise ValueError(f"{name} cannot have the fields {parts}")
    return value


def check_fields(what: str, fields: Header, expected: set[str]) -> None:
    """Raise ``ValueError`` unless ``fields`` are exactly the ``expected`` ones."""
    if set(fields) != expected:
        raise ValueError(f"{what} must have the fields {sorted(expected)}, got {sorted(fields)}")


def _rebuild_field(part: object, known: Mapping[str, type[Any]]) -> object:
    if isinstance(part, dict):
        return _rebuild(part, known)
    return tuple(part) if isinstance(part, list) else part


def _read(path: Path) -> tuple[Header, Arrays]:
    from safetensors import safe_open

    _check_keys(path)
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata() or {}
        if HEADER not in metadata:
            raise StorageError.unreadable(path, "it has no rankset header")
        header = _parse_json(metadata[HEADER])
        _check_format(path, header)
        for name in file.keys():  # noqa: SIM118
            _check_array(name, file.get_slice(name))
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if header.pop(DIGEST) != _digest(header, arrays):
        raise StorageError.unreadable(path, "its content has changed since it was written")
    return header, arrays


def _parse_json(text: str | bytes) -> Any:
    """Parse JSON; refuse objects with the same key twice, because readers differ in which value they take."""
    return json.loads(text, object_pairs_hook=_distinct_fields)


def _distinct_fields(pairs: list[tuple[str, Any]]) -> Header:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        name, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"its header has {name!r} more than once")
    return fields


def _text(header: Header) -> str:
    """Sorted JSON in ASCII, so that any name survives, even half of a surrogate pair."""
    return json.dumps(header, sort_keys=True)


def _digest(header: Header, arrays: Arrays) -> str:
    digest = blake2b(_text(header).encode(), digest_size=16)
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(_little_endian(arrays[name]).data)
    return digest.hexdigest()


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    """``array`` as little-endian contiguous int64 or float64: safetensors would silently scramble anything else."""
    return np.ascontiguousarray(array, dtype=DTYPES["F64" if array.dtype.kind == "f" else "I64"])


def _check_size(path: Path) -> None:
    """Refuse a file whose header is incomplete or too large by its first eight bytes, and a file full of holes."""
    if path.exists() and not path.is_file():
        raise StorageError.unreadable(path, "it is a directory or a device")
    with path.open("rb") as file:
        start, after = file.read(LENGTH_BYTES), file.read(len(BRACE))
    if len(start) < LENGTH_BYTES:
        raise StorageError.unreadable(path, f"it has only {len(start)} bytes")
    (length,) = struct.unpack("<Q", start)
    if length > LIMIT_HEADER and after != BRACE:
        raise StorageError.not_of_rankset(path)
    if length > LIMIT_HEADER:
        raise StorageError.too_large(path, "a header", length, LIMIT_HEADER)
    status = path.stat()
    if length + LENGTH_BYTES > status.st_size:
        raise StorageError.unreadable(path, "it ends inside its header")
    stored = 512 * getattr(status, "st_blocks", 0)  # 0 if the file system does not report it
    if stored and status.st_size > max(SMALL, MAX_HOLES * stored):
        raise StorageError.unreadable(path, f"only {stored:,} of its {status.st_size:,} bytes are on the disk")


def _check_keys(path: Path) -> None:
    """Refuse several arrays or metadata of one name: safetensors would take the last."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(LENGTH_BYTES))
        _parse_json(file.read(length))


def _check_format(path: Path, header: object) -> None:
    number: Any = header.get("format") if isinstance(header, dict) else None
    if not is_whole(number) or number < 1:
        raise StorageError.unreadable(path, "its header has no format number")
    if number > LATEST_FORMAT:
        raise StorageError.future(path, number, LATEST_FORMAT)


def _check_array(name: str, array: Any) -> None:
    if array.get_dtype() not in DTYPES or len(array.get_shape()) != 1:
        received = f"{array.get_dtype()} of shape {array.get_shape()}"
        raise ValueError(f"its arrays must be one-dimensional I64 or F64, but {name!r} is {received}")
