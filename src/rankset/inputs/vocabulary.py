"""Names of classes and groups, and the integer codes that stand for them."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.errors import KindError, LabelError
from rankset.inputs.absent import ABSENT

Name = str | int | float | bool
Array = NDArray[Any]
Codes = NDArray[np.int64]

LONG_TEXT = 256


@dataclass(frozen=True)
class Names:
    """An ordered vocabulary: class names in column order, or sorted group names."""

    values: tuple[Name, ...] | range

    def __len__(self) -> int:
        return len(self.values)

    def __getstate__(self) -> dict[str, Any]:
        """Return the names alone for pickling, nothing that is computed from them."""
        return {"values": self.values}

    @cached_property
    def array(self) -> Array:
        """The names as an array, of the simplest dtype that changes none of them."""
        array = self._plainest()
        array.flags.writeable = False
        return array

    def _plainest(self) -> Array:
        """Return the names as an array."""
        if isinstance(self.values, range):
            return np.arange(self.values.start, self.values.stop, self.values.step)
        if len({type(value) for value in self.values}) == 1 and not _has_long_texts(self.values):
            array = np.array(self.values)
            if all(
                type(ours) is type(kept) and ours == kept
                for ours, kept in zip(self.values, array.tolist(), strict=True)
            ):
                return array
        return np.array(self.values, dtype=object)

    def codes(self, names: Array) -> Codes:
        """Return the place of each of ``names`` in the vocabulary; -1 for unknown ones."""
        if self.values == range(len(self.values)) and names.dtype.kind in "iufb":
            if names.dtype.kind in "iu" and names.size and names.min() >= 0 and names.max() < len(self.values):
                return names.astype(np.int64)
            numbers = names.astype(np.float64) if names.dtype.kind == "f" else names
            inside = (numbers >= 0) & (numbers < len(self.values)) & (numbers == np.floor(numbers))
            codes = np.full(names.shape, -1, dtype=np.int64)
            codes[inside] = numbers[inside]
            return codes
        known, inverse = distinct(names)
        return np.array([self._places.get(value, -1) for value in known], dtype=np.int64)[inverse]

    def at(self, codes: Codes) -> "Names":
        """Return the names at these places."""
        return Names(tuple(self.values[code] for code in codes.tolist()))

    @cached_property
    def _places(self) -> dict[Name, int]:
        return {value: code for code, value in enumerate(self.values)}


def _has_long_texts(values: Iterable[Name]) -> bool:
    """Return whether an array of texts of one width would waste memory."""
    return any(isinstance(value, str) and len(value) > LONG_TEXT for value in values)


def short(name: object, limit: int = 32) -> str:
    """Return a name on one line, shortened in the middle if it is long: names often differ at the end.

    >>> short("a long name that ends in 17", 12)
    'a lon… in 17'
    """
    text = " ".join(str(name).split()).encode("utf-8", "replace").decode()
    text = "".join(letter if letter.isprintable() else "�" for letter in text)
    return text if len(text) <= limit else f"{text[: (limit - 1) // 2]}…{text[-(limit // 2) :]}"


def distinct_labels(names: Iterable[Name], limit: int = 32) -> list[str]:
    """Return names as ``short`` does, all different: equal ones are quoted if they are texts, and numbered if needed.

    >>> distinct_labels([1, "1", "a"])
    ['1', "'1'", 'a']
    """
    listed = list(names)
    plain_texts = [short(name, limit) for name in listed]
    alike = _repeated(plain_texts)
    quoted = [
        short(repr(name), limit) if text in alike else text for name, text in zip(listed, plain_texts, strict=True)
    ]
    still = _repeated(quoted)
    return [f"{text} (no. {place + 1})" if text in still else text for place, text in enumerate(quoted)]


def _repeated(written: Iterable[str]) -> set[str]:
    return {text for text, count in Counter(written).items() if count > 1}


def distinct_texts(names: Names, where: str) -> list[str]:
    r"""Return the names as texts for files that hold texts only; raise an error if two names have the same text.

    Half of a surrogate pair, which UTF-8 cannot hold, is written by its number.

    >>> distinct_texts(Names((1, "a", "\ud800")), "a csv file")
    ['1', 'a', '\\ud800']
    """
    written = [str(name).encode("utf-8", "backslashreplace").decode() for name in names.values]
    check_distinct(names, written, where)
    return written


def check_distinct(names: Names, written: Sequence[str], where: str) -> None:
    """Raise an error if two names are ``written`` with the same text."""
    if len(set(written)) == len(written):
        return
    counts = Counter(written)
    alike = [name for name, text in zip(names.values, written, strict=True) if counts[text] > 1]
    raise LabelError.one_text(where, alike)


def class_names(classes: Iterable[object] | None, n_columns: int) -> Names:
    """Return the vocabulary of labels: ``classes`` in column order, or 0 … K-1."""
    if classes is None:
        return Names(range(n_columns))
    values = in_order(classes)
    if len(values) != n_columns:
        raise LabelError.class_count(n_columns, len(values))
    if len(set(values)) < len(values):
        raise LabelError.duplicates([value for value, count in Counter(values).items() if count > 1])
    numbered = values == tuple(range(n_columns)) and all(type(value) is int for value in values)
    return Names(range(n_columns) if numbered else values)


def group_names(names: Array) -> Names:
    """Return the vocabulary of the groups in ``names``: sorted numbers, then sorted texts."""
    return Names(_sorted(distinct(names)[0]))


def union(*several: Names) -> Names:
    """Return the vocabulary of all names."""
    return Names(_sorted({value for names in several for value in names.values}))


def _sorted(names: Iterable[Name]) -> tuple[Name, ...]:
    return tuple(sorted(names, key=lambda name: (isinstance(name, str), name)))


def in_order(classes: Iterable[object]) -> tuple[Name, ...]:
    """Return ``classes`` as plain names; raise an error if they have no order. A mapping has one if its keys are
    0 … K-1, as numbers or as texts."""
    if isinstance(classes, np.ndarray) and classes.ndim > 0 and not isinstance(classes, np.ma.MaskedArray):
        classes = texts(classes).tolist()
    if isinstance(classes, Mapping):
        classes = _by_column(classes)
    unordered = isinstance(classes, str | bytes | Mapping | set | frozenset | np.ndarray)
    if unordered or not isinstance(classes, Iterable):
        raise KindError.argument("classes", "a list of names in column order", classes)
    return tuple(plain(value, "class names") for value in classes)


def _by_column(classes: Mapping[Any, object]) -> Any:  # noqa: ANN401
    """Return the values of a mapping from column numbers to names, in the order of the numbers.

    The numbers may be texts, as in ``id2label`` of a JSON file. Return the mapping if its keys are not 0 … K-1.
    """
    numbers = range(len(classes))
    for keys in (list(numbers), [str(number) for number in numbers]):
        if set(classes) == set(keys):
            return [classes[key] for key in keys]
    return classes


def texts(names: Array) -> Array:
    """Return ``names``, with dates replaced by their shortest ISO text."""
    if names.dtype.kind != "M":
        return names
    if np.datetime_data(names.dtype)[0] in COARSE_UNITS:
        names = names.astype("M8[us]")
    return np.array([_shortest(text) for text in np.datetime_as_string(names).ravel()]).reshape(names.shape)


COARSE_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us")


def _shortest(moment: str) -> str:
    """Return an ISO text without trailing zeros, so that a day has one name."""
    if "." in moment:
        moment = moment.rstrip("0").rstrip(".")
    return moment.removesuffix("T00:00:00")


def plain(value: object, what: str) -> Name:
    """Return ``value`` as a Python string, number or boolean; other objects are replaced by their text."""
    if isinstance(value, np.datetime64):
        return str(texts(np.array([value]))[0])
    if value is ABSENT or isinstance(value, np.timedelta64):
        raise KindError.absent(what) if value is ABSENT else KindError.name(what, value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return _decoded(value, what)
    if isinstance(value, date):
        return _shortest(value.isoformat())
    if value is None or (isinstance(value, float) and math.isnan(value)):
        raise KindError.name(what, value)
    if isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, tuple):
        value = tuple(part.item() if isinstance(part, np.generic) else part for part in value)
    textless = type(value).__str__ is object.__str__ and type(value).__repr__ is object.__repr__
    if textless or type(value).__hash__ is None:
        raise KindError.name(what, value)
    return str(value)


def _decoded(value: bytes, what: str) -> str:
    """Return bytes as text."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise KindError.argument(what, "strings, or bytes in UTF-8", value) from None


def distinct(names: Array, what: str = "names") -> tuple[list[Name], Codes]:
    """Return the distinct names, and for each entry the place of its name among them."""
    if names.dtype.kind in "iufbU":
        known, inverse = np.unique(names, return_inverse=True)
        return [plain(value, what) for value in known], inverse
    seen: dict[Name, int] = {}
    codes = [seen.setdefault(plain(value, what), len(seen)) for value in names.tolist()]
    return list(seen), np.array(codes, dtype=np.int64)
