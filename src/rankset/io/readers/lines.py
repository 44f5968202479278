"""Lines of JSON one by one, as soon as they come: of limited length, and parsed without surprises."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from rankset.errors import FileError
from rankset.errors.values import short_repr
from rankset.io.memory_budget import Budget
from rankset.io.readers.jsonl import MAX_LINE, VALUE_BYTES

PART = 1 << 16
"""Most bytes that are read at once."""


def lines_of(read: Callable[[int], bytes], most: int = MAX_LINE) -> Iterator[tuple[int, bytes | None]]:
    """Yield number, from 1 on, and bytes of every line that is not blank; None for one of more than ``most`` bytes.

    ``read(size)`` returns the bytes that are there, at most ``size``; none at the end. A line is yielded before
    the next ones are read. The last one need not end in a line break.
    """
    number, parts, size = 1, list[bytes](), 0
    while part := read(PART):
        *ends, rest = part.split(b"\n")
        for end in ends:
            yield from _one_line(number, [*parts, end], size + len(end), most)
            number, parts, size = number + 1, [], 0
        size += len(rest)
        parts = [*parts, rest] if size <= most else []
    yield from _one_line(number, parts, size, most)


def _one_line(number: int, parts: list[bytes], size: int, most: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield a line if it is not blank."""
    if size > most:
        yield number, None
    elif (line := b"".join(parts)).strip():
        yield number, line


def parse_line(line: bytes | None, budget: Budget) -> dict[str, Any]:
    """Return the object of a line; raise ``FileError`` if it is none, has a field twice, or takes too much memory."""
    if line is None:
        raise FileError.no_event(f"it is longer than {min(MAX_LINE, budget.limit):,} bytes")
    budget.check(2 * len(line) + VALUE_BYTES * (2 + line.count(b",") + line.count(b"[") + 2 * line.count(b"{")))
    try:
        row = json.loads(line.decode("utf-8-sig"), object_pairs_hook=_distinct_fields)
    except json.JSONDecodeError as error:
        raise FileError.no_event(f"it is no JSON: {error.msg} at character {error.pos + 1}") from None
    except UnicodeDecodeError as error:
        raise FileError.no_event(f"its byte {error.start + 1} is no UTF-8") from None
    except RecursionError:
        raise FileError.no_event("its values are nested too deeply") from None
    except _FieldTwiceError as error:
        raise FileError.no_event(f"it has the field {short_repr(error.args[0])} more than once") from None
    except ValueError:  # the only other reason
        raise FileError.no_event("one of its numbers has too many digits") from None
    if not isinstance(row, dict):
        raise FileError.no_event(f"it is {short_repr(row)}")
    return row


class _FieldTwiceError(ValueError):
    """An object has two fields of this name."""


def _distinct_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise an error if a field comes twice, because readers differ in which value they take."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        name, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise _FieldTwiceError(name)
    return fields
