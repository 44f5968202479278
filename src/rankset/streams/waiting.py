"""Rows of a stream whose labels have not come: their outputs, and their sets as they were given out."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rankset.core.lexicographic import Keys
from rankset.inputs.prepare import Prepared, check_candidates
from rankset.rules.batch import Batch
from rankset.rules.spec import RuleSpec
from rankset.sets.forms import ListedSets, MarkedSets
from rankset.streams.sorted_tuples import Tuple
from rankset.streams.window import tuples_of

Ints = NDArray[np.int64]
Array = NDArray[Any]


class Answer(NamedTuple):
    """What the label of a row says: its group and keys, and whether the set of the row missed it."""

    group: int
    keys: Tuple
    missed: bool


class Rows(Protocol):
    """Rows of one call of ``predict``."""

    def answers(self, spec: RuleSpec, rows: Sequence[int], columns: Sequence[int]) -> list[Answer]:
        """Return what labels in these columns say about some of the rows."""

    def output(self, row: int) -> Array:
        """Return the output of a row as it was passed."""

    def codes(self, row: int) -> Array:
        """Return the columns of the set of a row."""


@dataclass(frozen=True, eq=False)
class OneRow:
    """A single row with the keys of all its labels, in the order of ``columns``, and which of them are in its set."""

    matrix: Array
    columns: Ints
    keys: Keys
    kept: NDArray[np.bool_]

    def answers(self, spec: RuleSpec, rows: Sequence[int], columns: Sequence[int]) -> list[Answer]:  # noqa: ARG002
        """Return what a label in this column says."""
        place = int((self.columns == columns[0]).argmax())
        keys = tuple(key.item(place) for key in self.keys)
        return [Answer(0, keys, not self.kept[place])]

    def output(self, row: int) -> Array:
        """Return the output of the row."""
        return self.matrix[row]

    def codes(self, row: int) -> Array:  # noqa: ARG002
        """Return the columns of the set."""
        return self.columns[self.kept].astype(np.int32)


@dataclass(frozen=True, eq=False)
class SeveralRows:
    """Prepared rows and their sets, and the names of those that still wait, by place."""

    data: Prepared
    sets: ListedSets | MarkedSets
    names: dict[int, object] = field(default_factory=dict)

    def answers(self, spec: RuleSpec, rows: Sequence[int], columns: Sequence[int]) -> list[Answer]:
        """Return what labels in these columns say about some of the rows."""
        numbers, labels = np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)
        missed = ~self.sets.rows(numbers).contains(labels)
        some = self.data.take(numbers)
        if some.counts is not None:
            check_candidates(labels, some.counts, some.classes)
        parts = Batch.of(spec, some).all_label_keys(labels)
        groups = np.concatenate([part for part, _ in parts]).tolist()
        keys = [one for _, part in parts for one in tuples_of(part)]
        return [Answer(*one) for one in zip(groups, keys, missed.tolist(), strict=True)]

    def compact(self) -> SeveralRows | None:
        """Return the rows that still wait alone, in their order, if they are at most half of all; None otherwise."""
        if 2 * len(self.names) > len(self.data) or not self.names:
            return None
        places = np.array(sorted(self.names), dtype=np.int64)
        names = {place: self.names[old] for place, old in enumerate(places.tolist())}
        return SeveralRows(self.data.take(places), self.sets.rows(places), names)

    def output(self, row: int) -> Array:
        """Return the output of a row as it was passed."""
        return self.data.matrix[row]

    def codes(self, row: int) -> Array:
        """Return the columns of the set of a row."""
        return self.sets.row(row)


class Place(NamedTuple):
    """Where a waiting row is: the rows of its call, its place among them, and its number in the stream."""

    rows: Rows
    place: int
    number: int


class LastNames:
    """The last ``most`` ids, each of which comes once, in their order."""

    def __init__(self, most: int, names: Iterable[object] = ()) -> None:
        self.most = most
        self._order = deque(names)
        self._known = set(self._order)

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[object]:
        return iter(self._order)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def add(self, name: object) -> None:
        """Add an id; the oldest one is forgotten if there are too many."""
        self._order.append(name)
        self._known.add(name)
        if len(self._order) > self.most:
            self._known.discard(self._order.popleft())


class Waiting:
    """Rows without labels by id, and the ids of the last rows with labels; at most ``most`` of each.

    The oldest entry of a plain dictionary is found by a search over all that were deleted, that of an ordered one at
    once.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.rows: OrderedDict[object, Place] = OrderedDict()
        self.labelled = LastNames(most)
        self.dropped = 0

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, name: object) -> bool:
        return name in self.rows or name in self.labelled

    def add(self, names: Sequence[object], rows: Rows, first: int) -> None:
        """Add rows, numbered from ``first`` on; the oldest ones are dropped if there are too many."""
        for place, name in enumerate(names):
            self.rows[name] = Place(rows, place, first + place)
        if isinstance(rows, SeveralRows):
            rows.names.update(enumerate(names))
        while len(self.rows) > self.most:
            self._forget(self.rows.popitem(last=False)[1])
            self.dropped += 1

    def take(self, name: object) -> Place:
        """Return a waiting row whose label has come; it no longer waits."""
        found = self.rows.pop(name)
        self._forget(found)
        self.labelled.add(name)
        return found

    def _forget(self, gone: Place) -> None:
        """Free the memory of the rows of one call when half of them are gone."""
        rows = gone.rows
        if not isinstance(rows, SeveralRows):
            return
        del rows.names[gone.place]
        smaller = rows.compact()
        for place, name in () if smaller is None else smaller.names.items():
            assert smaller is not None
            self.rows[name] = self.rows[name]._replace(rows=smaller, place=place)
