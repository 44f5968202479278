"""The index of a pandas frame in a parquet or Arrow file: which columns hold it, and whether two indexes agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import is_whole
from rankset.io.row_ids import differing_rows


def index_metadata(table: Any) -> list[Any]:
    """What pandas wrote about the index of a frame: names of columns, or a description of a range."""
    try:
        return list((table.schema.pandas_metadata or {}).get("index_columns", []))
    except (AttributeError, TypeError, ValueError):
        return []


def range_name(metadata: list[Any]) -> str | None:
    """Name of an index that is a range; None where there is none."""
    names = [entry.get("name") for entry in metadata if isinstance(entry, dict) and entry.get("kind") == "range"]
    return names[0] if names and isinstance(names[0], str) else None


def described_range(metadata: list[Any]) -> list[Any] | None:
    """Start, stop and step of an index that is a range; None where there is none."""
    found = (entry for entry in metadata if isinstance(entry, dict) and entry.get("kind") == "range")
    entry = next(found, None)
    return None if entry is None else [entry.get(name) for name in ("start", "stop", "step")]


def range_values(numbers: list[Any], length: int) -> list[NDArray[Any]] | None:
    """The values of a range index; None if the description is no range of ``length`` numbers."""
    whole = all(is_whole(number) and abs(number) < 2**62 for number in numbers) and numbers[2] != 0
    found = range(*numbers) if whole else range(0)
    return [np.arange(*numbers)] if found and len(found) == length else None


def first_difference(ours: list[NDArray[Any]] | None, theirs: list[NDArray[Any]] | None) -> int | None:
    """First row in which two indexes differ, if they belong to different rows or to rows in another order.

    The default index 0 … n-1 says nothing about the rows, unless the other one has the same entries in another order.
    """
    if not ours or not theirs or len(ours) != len(theirs) or len(ours[0]) != len(theirs[0]):
        return None
    if all(np.array_equal(first, second) for first, second in zip(ours, theirs, strict=True)):
        return None
    places = np.arange(len(ours[0]))
    default = any(len(one) == 1 and np.array_equal(one[0], places) for one in (ours, theirs))
    both_whole = all(len(one) == 1 and one[0].dtype.kind in "iu" for one in (ours, theirs))
    if default and not (both_whole and np.array_equal(np.sort(ours[0]), np.sort(theirs[0]))):
        return None
    differ = np.any([differing_rows(first, second) for first, second in zip(ours, theirs, strict=True)], axis=0)
    return int(np.argmax(differ)) if np.any(differ) else None
