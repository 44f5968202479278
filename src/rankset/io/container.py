"""Headers and arrays on disk: one safetensors file, the header as sorted JSON in one metadata key, no pickle.

Nothing is allocated before sizes are checked, nothing in a file is ever executed, a digest tells damage, a failed
save leaves the old file as it was. This module knows nothing of rules; ``docs/format.md`` describes what they write.
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
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankset.errors import RanksetError, StorageError
from rankset.io import atomic

HEADER = "rankset"
FORMAT = 1
"""The format number. To change the format: raise it, keep reading every older one, add a golden file."""

LIMIT_HEADER = 64 << 20
"""Room for about a million class names."""

LIMIT_REASON = 400
"""How much of what a file says may be quoted in an error, in characters."""

DIGEST = "digest"
"""The header field that tells damage: of everything else in the header, and of the arrays."""

DTYPES = {"I64": np.dtype("<i8"), "F64": np.dtype("<f8")}
LENGTH_BYTES = 8

MOST_PARTS = 100
"""How many scores (or conditions) may stand inside one another, all counted."""

MOST_HOLES = 64
"""How many times larger than the space it takes on disk a file may be. A file with holes is read as zeros, which fill
memory that nothing on the disk accounts for; file systems that compress rarely reach this."""
SMALL = 256 << 20
"""Bytes of a file that are read without asking how many are on the disk."""

PLAIN = (bool, int, float, str, tuple, type(None))
"""What the fields of scores and conditions hold besides other scores and conditions."""

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


def write(path: str | os.PathLike[str], header: Header, arrays: Arrays) -> None:
    """Writes ``header`` and one-dimensional ``arrays``, all or nothing; replaces a file, and nothing but files."""
    data = packed(path, header, arrays)
    with atomic.draft(path, force=True) as file:
        file.write(data)


def packed(path: str | os.PathLike[str], header: Header, arrays: Arrays) -> bytes:
    """The bytes of a file of ``header`` and ``arrays``, which is to stand at ``path``."""
    from safetensors.numpy import save

    plain = {name: _packed(array) for name, array in arrays.items()}
    numbered = {"format": FORMAT, **header}
    data = save(plain, {HEADER: _text({**numbered, DIGEST: _digest(numbered, plain)})})
    (length,) = struct.unpack_from("<Q", data)
    if length > LIMIT_HEADER:
        raise StorageError.names_too_long(path, length, LIMIT_HEADER)
    return data


def read(path: str | os.PathLike[str]) -> tuple[Header, Arrays]:
    """The header and the arrays of a file that ``write`` made, undamaged."""
    with unpacking(path):
        _check_size(Path(path))
        return _read(Path(path))


@contextmanager
def unpacking(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns whatever a damaged file makes go wrong inside into one clear error."""
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


def described(value: object, known: Mapping[str, type[Any]]) -> Header:
    """A frozen value of one of the ``known`` dataclasses, by the name it has there and its fields."""
    answer = _described(value, known)
    if _parts(answer) > MOST_PARTS:
        raise StorageError.nested_too_far(MOST_PARTS)
    return answer


def _described(value: object, known: Mapping[str, type[Any]]) -> Header:
    names = {kind: name for name, kind in known.items()}
    if type(value) not in names:
        raise StorageError.not_storable("scores and conditions", value)
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(cast("Any", value))}
    return {
        "name": names[type(value)],
        **{name: part if isinstance(part, PLAIN) else _described(part, known) for name, part in fields.items()},
    }


def rebuilt(description: object, known: Mapping[str, type[Any]]) -> Any:
    """The value ``described`` described; only the ``known`` types are ever made, and no more than ``MOST_PARTS``."""
    if _parts(description) > MOST_PARTS:
        raise ValueError(f"more than {MOST_PARTS:,} scores or conditions stand inside one another")
    return _rebuilt(description, known)


def _parts(description: object) -> int:
    """How many descriptions there are in one, itself included; counted no further than one beyond ``MOST_PARTS``."""
    count, waiting = 0, [description]
    while waiting and count <= MOST_PARTS:
        part = waiting.pop()
        if isinstance(part, dict):
            count += 1
            waiting.extend(part.values())
    return count


def _rebuilt(description: object, types: Mapping[str, type[Any]]) -> Any:
    if not isinstance(description, dict):
        raise TypeError(f"one of {', '.join(types)} must be described by name and fields, not by {description!r}")
    name = description["name"]
    if not isinstance(name, str) or name not in types:
        raise ValueError(f"it needs one of {', '.join(types)}, or a later version of rankset, for {name!r}")
    expected = {field.name for field in dataclasses.fields(types[name])}
    check_fields(name, description, {"name", *expected})
    parts = {field: _value(description[field], types) for field in expected}
    value = types[name](**parts)
    if any(getattr(value, field) != part for field, part in parts.items()):
        raise ValueError(f"{name} cannot hold {parts}")
    return value


def check_fields(what: str, fields: Header, expected: set[str]) -> None:
    """Refuses ``fields`` that lack something, or say something this version would not understand."""
    if set(fields) != expected:
        raise ValueError(f"{what} must have the fields {sorted(expected)}, it has {sorted(fields)}")


def _value(part: object, known: Mapping[str, type[Any]]) -> object:
    if isinstance(part, dict):
        return _rebuilt(part, known)
    return tuple(part) if isinstance(part, list) else part


def _read(path: Path) -> tuple[Header, Arrays]:
    from safetensors import safe_open

    _check_keys(path)
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata() or {}
        if HEADER not in metadata:
            raise StorageError.unreadable(path, "it has no rankset header")
        header = _parsed(metadata[HEADER])
        _check_format(path, header)
        for name in file.keys():  # noqa: SIM118
            _check_array(name, file.get_slice(name))
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if header.pop(DIGEST) != _digest(header, arrays):
        raise StorageError.unreadable(path, "its content has changed since it was written")
    return header, arrays


def _parsed(text: str | bytes) -> Any:
    """What JSON says, if no object in it has the same key twice: readers differ in which of the two they take."""
    return json.loads(text, object_pairs_hook=_unrepeated)


def _unrepeated(pairs: list[tuple[str, Any]]) -> Header:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        name, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"its header has {name!r} more than once")
    return fields


def _text(header: Header) -> str:
    """Sorted JSON in ASCII, so that any name survives, even half a character."""
    return json.dumps(header, sort_keys=True)


def _digest(header: Header, arrays: Arrays) -> str:
    digest = blake2b(_text(header).encode(), digest_size=16)
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(_packed(arrays[name]).data)
    return digest.hexdigest()


def _packed(array: NDArray[Any]) -> NDArray[Any]:
    """``array`` as little-endian contiguous int64 or float64: safetensors would silently scramble anything else."""
    return np.ascontiguousarray(array, dtype=DTYPES["F64" if array.dtype.kind == "f" else "I64"])


def _check_size(path: Path) -> None:
    """Refuses a file whose first eight bytes promise a header that is not there or too large, and one full of holes."""
    if path.exists() and not path.is_file():
        raise StorageError.unreadable(path, "it is a directory or a device")
    with path.open("rb") as file:
        start = file.read(LENGTH_BYTES)
    if len(start) < LENGTH_BYTES:
        raise StorageError.unreadable(path, f"it has only {len(start)} bytes")
    (length,) = struct.unpack("<Q", start)
    if length > LIMIT_HEADER:
        raise StorageError.too_large(path, "a header", length, LIMIT_HEADER)
    status = path.stat()
    if length + LENGTH_BYTES > status.st_size:
        raise StorageError.unreadable(path, "it ends inside its header")
    stored = 512 * getattr(status, "st_blocks", 0)  # 0: the file system does not tell
    if stored and status.st_size > max(SMALL, MOST_HOLES * stored):
        raise StorageError.unreadable(path, f"of its {status.st_size:,} bytes only {stored:,} are on the disk")


def _check_keys(path: Path) -> None:
    """Refuses arrays or metadata of one name that occur several times, of which safetensors would take the last."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(LENGTH_BYTES))
        _parsed(file.read(length))


def _check_format(path: Path, header: object) -> None:
    number = header.get("format") if isinstance(header, dict) else None
    if type(number) is not int or number < 1:
        raise StorageError.unreadable(path, "its header has no format number")
    if number > FORMAT:
        raise StorageError.future(path, number, FORMAT)


def _check_array(name: str, array: Any) -> None:
    if array.get_dtype() not in DTYPES or len(array.get_shape()) != 1:
        received = f"{array.get_dtype()} of shape {array.get_shape()}"
        raise ValueError(f"its arrays must be one-dimensional I64 or F64, {name!r} is {received}")
