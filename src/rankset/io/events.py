"""Events of a stream: a row, the label of a row, or both; ``EventReader`` makes them of objects of JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import fits_64_bits, object_array
from rankset.errors import FileError, KindError
from rankset.inputs import named_rows
from rankset.inputs.vocabulary import Names
from rankset.io.layout import Layout
from rankset.io.object_rows import object_entries
from rankset.io.rows import Rows
from rankset.io.spelling import alike_names, equal_groups, spell_groups

ID, LABEL, GROUP = "id", "label", "group"
"""Fields of events, where no option names others."""
MAX_ID = 256
"""Most characters of an id: a stream remembers many of them."""
MAX_LABELS = 10_000
"""Most spellings of labels that are remembered."""


class Event(NamedTuple):
    """What one line says: scores of a row (1, K), or none; its group; the class of its label, or none; its id."""

    identity: Any = None
    scores: NDArray[Any] | None = None
    group: Any = None
    label: Any = None


class EventReader:
    """Turns objects into events of a stream with these ``classes`` (and groups, if ``needs_groups``) of this ``kind``.

    The fields of ids, labels and groups are those of the layout, or else "id", "label" and "group" unless a class is
    called so. Scores are a field per class, or one field with a list or an object.
    """

    def __init__(self, classes: Names, kind: str, groups: Names, layout: Layout, *, needs_groups: bool) -> None:
        self.classes, self.kind = classes, kind
        self.names = [str(name) for name in classes.values]
        self._known_groups = list(groups.values)
        self._same_groups = bool(equal_groups(self._known_groups))
        self.identity = self._field(layout.identity, ID)
        self.label = self._field(layout.label, LABEL)
        self.group = self._field(layout.group, GROUP if needs_groups else None)
        self._apart = {self.identity, self.label, self.group, *layout.drop}
        self._labels: dict[tuple[type, object], object] = {}

    def _field(self, given: str | None, usual: str | None) -> str | None:
        """Return the name of a field that is no class."""
        if given is not None and given in self.names:
            raise FileError.class_apart("", given)
        return given if given is not None else None if usual in self.names else usual

    def event(self, row: Mapping[str, Any]) -> Event:
        """Return what an object says; raise an error if it says nothing, or nothing valid."""
        identity, label = self._id(row.get(self.identity or "")), row.get(self.label or "")
        scores, order = self._scores(row)
        if scores is None and label is None:
            raise FileError.empty_event(list(row))
        if scores is None and identity is None:
            raise FileError.label_without_id()
        group = None if scores is None or self.group is None else self._spelled_group(row.get(self.group))
        return Event(identity, scores, group, None if label is None else self._class(label, order))

    def _id(self, value: object) -> object:
        """Return an id; None if there is none."""
        if value is None:
            return None
        plain = isinstance(value, str | int | float) and not isinstance(value, bool)
        if not plain or (isinstance(value, float) and not math.isfinite(value)) or len(str(value)) > MAX_ID:
            raise FileError.no_id(value, MAX_ID)
        return value

    def _spelled_group(self, group: object) -> object:
        """Return a group, spelled as one of the rule."""
        if isinstance(group, list | dict):
            raise KindError.not_names("groups", type(group).__name__, "Write texts or numbers.")
        if group is None or self._same_groups:
            return group
        return spell_groups(object_array([group]), self._known_groups)[0]

    def _class(self, label: object, order: Sequence[str] | None) -> object:
        """Return the class of a label; ``order`` is that of the fields of its row, if these are classes."""
        if isinstance(label, list | dict):
            raise KindError.not_names("labels", type(label).__name__, "Write one class name.")
        key, order = (type(label), label), order if isinstance(label, int) else None
        if order is None and key in self._labels:
            return self._labels[key]
        long = isinstance(label, int) and not fits_64_bits(label)
        array = object_array([label]) if long or isinstance(label, str) else np.array([label])
        rows = Rows(np.zeros((1, len(self.names))), self.names, array, None, None, file_columns=order)
        found = self.classes.values[int(rows.label_columns(self.classes)[0])]
        if len(self._labels) < MAX_LABELS:
            self._labels[key] = found
        return found

    def _scores(self, row: Mapping[str, Any]) -> tuple[NDArray[Any] | None, Sequence[str] | None]:
        """Return the scores of a row, None if there are none, and the order of its fields if they are classes."""
        if self.kind == "binary":
            return self._second_class(row), None
        row = self._spelled(row)
        missing = [name for name in self.names if name not in row]
        if not missing:
            return self._matrix({name: row[name] for name in self.names}), list(row)
        nested = [name for name, value in row.items() if name not in self._apart and isinstance(value, list | dict)]
        if len(nested) > 1:
            raise FileError.several_scores(nested)
        if nested:
            return self._nested(nested[0], row[nested[0]]), None
        if len(missing) < len(self.names):
            raise FileError.no_class("", missing)
        return None, None

    def _spelled(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a row with fields as the classes are called, where only the composition of letters differs."""
        if all(name.isascii() or name in row for name in self.names):
            return row
        found = alike_names([name for name in self.names if name not in row], row)
        places = {own: name for name, own in found.items() if own not in self.names}
        return {str(places.get(name, name)): value for name, value in row.items()}

    def _nested(self, name: str, value: Any) -> NDArray[Any]:
        """Return the scores of a list, or of an object whose names are classes."""
        if isinstance(value, dict):
            return self._matrix(object_entries("", name, value, 0))
        return _numbers(name, value)

    def _matrix(self, row: Mapping[str, Any]) -> NDArray[Any]:
        matrix, _ = named_rows.match_columns([row], self.names, self.kind, "scores")
        return matrix

    def _second_class(self, row: Mapping[str, Any]) -> NDArray[Any] | None:
        """Return the probability of the second of two classes: the field of its name, or the only one with a number."""
        fields = [name for name in row if name not in self._apart and isinstance(row[name], int | float | list)]
        if self.names[1] in row:
            fields = [self.names[1]]
        if fields == self.names[:1]:
            raise FileError.first_class("", fields[0])
        if len(fields) > 1:
            raise FileError.several_scores(fields)
        if not fields:
            return None
        value = row[fields[0]]
        alone = value[0] if isinstance(value, list) and len(value) == 1 else value
        return _numbers(fields[0], [alone])[0]


def _numbers(name: str, values: Sequence[Any]) -> NDArray[Any]:
    """Return the numbers of a list as a matrix (1, n)."""
    if not values:
        return np.empty((1, 0))
    matrix, _ = named_rows.match_columns([dict(enumerate(values))], range(len(values)), "decision", f"field {name!r}")
    return matrix
