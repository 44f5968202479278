"""Checks by a pandas index that labels, groups and ids are in the order of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import InputError

Ints = NDArray[np.int64]

THE_ROWS = "the rows"


def index_of(values: object) -> Any:  # noqa: ANN401
    """Return the index of a pandas-like frame or series; None for anything else."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "equals") and hasattr(index, "__len__") else None


class RowIndex:
    """The indexes of the rows of one call, and of their labels, groups and ids.

    Everything that comes per row is checked against the indexes seen before:

    * The same entries in the same order are accepted, whatever the dtypes.
    * The same entries in another order are refused.
    * Other entries are refused, unless one of the two indexes is the default 0 … n-1 or a part of it. A default index
      says nothing about the rows: a frame made of ``predict_proba`` beside labels of ``train_test_split``.
    """

    def __init__(self, index: Any = None, *, numbered: bool = False) -> None:  # noqa: ANN401
        """Start with the index of the rows; ``numbered`` means that it is a part of a default index."""
        self._known: list[tuple[str, Any, bool]] = [] if index is None else [(THE_ROWS, index, numbered)]
        self.index = index
        """The first known index; None if there is none."""

    @classmethod
    def of(cls, rows: object) -> RowIndex:
        """Return the index of a frame or series of rows, if it has one."""
        return cls(index_of(rows))

    def check(self, values: object, name: str) -> None:
        """Raise an error if ``values`` are in another order or belong to other rows."""
        theirs = index_of(values)
        if theirs is None:
            return
        for known, ours, numbered in self._known:
            if len(ours) == len(theirs):
                _check(ours, theirs, known, name, numbered=numbered)
        self._known.append((name, theirs, False))
        self.index = self._known[0][1]


def _check(ours: Any, theirs: Any, known: str, name: str, *, numbered: bool) -> None:  # noqa: ANN401
    """Compare two indexes of one length; raise an error if they contradict each other."""
    if ours is theirs or ours.equals(theirs):
        return
    first, second = _numbered(ours, theirs)
    differ = first != second
    if not differ.any():
        return
    if np.array_equal(np.sort(first), np.sort(second)):
        raise InputError.other_order(name, known)
    if not _may_be_same_rows(ours, theirs, numbered=numbered):
        row = int(differ.argmax())
        expected, received = (_listed(index[row : row + 1])[0] for index in (ours, theirs))
        raise InputError.other_rows(name, known, row, expected, received)


def _numbered(ours: Any, theirs: Any) -> tuple[Ints, Ints]:  # noqa: ANN401
    """Return the entries of two indexes as integers that are equal exactly where the entries are."""
    first, second = np.asarray(ours), np.asarray(theirs)
    if {first.dtype.kind, second.dtype.kind} <= {"i", "u"}:
        return first, second
    places: dict[Any, int] = {}
    first, second = (
        np.array([places.setdefault(_comparable(entry), len(places)) for entry in _listed(index)], dtype=np.int64)
        for index in (ours, theirs)
    )
    return first, second


def _may_be_same_rows(ours: Any, theirs: Any, *, numbered: bool) -> bool:  # noqa: ANN401
    """Return whether two different indexes may belong to the same rows.

    They may if one of them is 0 … n-1, or was before rows were selected. Another range of row numbers (pandas has a
    type for those) belongs to other rows.
    """
    return is_default(ours) or is_default(theirs) or (numbered and type(theirs).__name__ != "RangeIndex")


def has_own_order(values: object) -> bool:
    """Return whether values have names or no order: mappings, sets, and series whose index is not 0 … n-1."""
    index = getattr(values, "index", None)
    named = index is not None and not callable(index) and not is_default(index)
    return named or isinstance(values, Mapping | AbstractSet)


def is_default(index: Any) -> bool:  # noqa: ANN401
    """Return whether an index is 0 … n-1."""
    entries = np.asarray(index)
    if entries.dtype.kind in "iu":
        return np.array_equal(entries, np.arange(len(entries)))
    return entries.dtype.kind in "fO" and _listed(index) == list(range(len(index)))


def _listed(index: Any) -> list[Any]:  # noqa: ANN401
    return index.tolist() if hasattr(index, "tolist") else list(index)


def _comparable(entry: Any) -> Any:  # noqa: ANN401
    """Return a hashable form of an entry; all missing entries are equal."""
    try:
        hash(entry)
        same = bool(entry == entry)  # noqa: PLR0124
    except (TypeError, ValueError):
        return repr(entry)
    return entry if same else "missing"
