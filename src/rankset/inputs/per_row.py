"""Labels, groups and ids: one entry per row, in the order of the rows."""

import re
from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.arrays import as_float, fits_64_bits, object_array
from rankset.errors import InputError, KindError, LabelError
from rankset.errors.label_lists import NAMES_OF_LISTS, NAMES_OF_NUMBERS
from rankset.inputs import frames, tensors
from rankset.inputs.absent import ABSENT, ABSENT_CODE, is_absent
from rankset.inputs.column_numbers import are_column_numbers, two_readings
from rankset.inputs.matrix import unsupported_container
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Array, Codes, Name, Names, distinct, plain, texts

WHOLE_TEXT = re.compile(r"(0|-?[1-9][0-9]{0,19})(\.0+)?")
"""A whole number as files write it, of as many digits as 64 bits may have."""


def named_labels(labels: Any, classes: NDArray[Any] | None) -> Any:  # noqa: ANN401
    """Return labels as names: column numbers are translated if all classes are texts."""
    plain = tensors.unwrap(labels)
    array = np.asarray(plain) if hasattr(plain, "dtype") else None
    absent = None if array is None else is_absent(array)
    if array is not None and absent is not None:
        array = np.asarray(_borrowed(array, absent).tolist())
    if classes is None or array is None or array.dtype.kind not in "iu":
        return labels
    if not all(isinstance(name, str) for name in classes):
        return labels
    codes = label_codes(array, Names(range(len(classes))), np.size(array), RowIndex())
    return labels_at(classes, codes if absent is None else np.where(absent, ABSENT_CODE, codes))


def labels_at(classes: Array, codes: Codes) -> Array:
    """Return the class names at these column numbers, ``ABSENT`` at -1."""
    if not (codes < 0).any():
        return classes[codes]
    return object_array([*classes.tolist(), ABSENT])[codes]


def label_codes(
    labels: ArrayLike,
    classes: Names,
    n_rows: int,
    index: RowIndex,
    *,
    name: str = "labels",
    by_position: bool = False,
    several: bool = False,
) -> Codes:
    """Return the column number of each row's label; -1 for ``ABSENT``.

    ``by_position``: columns have no names of their own, so integers are column numbers if no class is called by one.
    ``several``: the labels are those of lists, so errors say what to do with lists.
    """
    array, absent = labels_per_row(labels, n_rows, index, name)
    if by_position and array.dtype.kind in "iu" and _are_within(array, classes) and are_column_numbers(classes.values):
        classes = Names(range(len(classes)))
    if absent is not None and absent.all():
        return np.full(n_rows, ABSENT_CODE, dtype=np.int64)
    codes = classes.codes(array)
    if (codes < 0).any():
        _blame_label(array, codes, classes, name, several=several)
    if absent is not None:
        codes[absent] = ABSENT_CODE
    return codes


def _are_within(numbers: Array, classes: Names) -> bool:
    """Return whether all ``numbers`` are column numbers, of classes that are called by names."""
    named = not isinstance(classes.values, range) and len(numbers) > 0
    return bool(named and numbers.min() >= 0 and numbers.max() < len(classes))


def labels_per_row(
    labels: ArrayLike, n_rows: int, index: RowIndex, name: str
) -> tuple[Array, NDArray[np.bool_] | None]:
    """Return one label per row, and which rows have none among their candidates (None: all have one).

    Rows with ``ABSENT`` borrow the label of another row, so that the others are read as if these rows had one, too.
    """
    array = _vector(labels, n_rows, index, name)
    absent = is_absent(array)
    if absent is None or absent.all():
        return array if absent is not None else _without_missing(array, name), absent
    return _without_missing(_as_names(_borrowed(array, absent).tolist(), name), name), absent


def _borrowed(array: Array, absent: NDArray[np.bool_]) -> Array:
    """Return labels with that of the first other row in place of ``ABSENT``."""
    filled = array.copy()
    if not absent.all():
        filled[absent] = array[int((~absent).argmax())]
    return filled


def names_per_row(names: ArrayLike, n_rows: int, index: RowIndex, *, name: str = "groups") -> Array:
    """Return one name per row; raise an error if one is missing."""
    return _one_per_row(names, n_rows, index, name)


def numbers_per_row(values: ArrayLike, n_rows: int, index: RowIndex, *, name: str) -> NDArray[np.float64]:
    """Return one number per row, in float64; raise an error for anything that is no number, and for missing ones."""
    array = _vector(values, n_rows, index, name)
    missing = _missing(array)
    if missing.any():
        raise LabelError.missing(name, int(missing.argmax()))
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    numbers = [as_float(value) for value in array.tolist()]
    for row, number in enumerate(numbers):
        if number != number:  # noqa: PLR0124
            raise InputError.not_a_number(name, row, array[row])
    return np.array(numbers, dtype=np.float64)


def id_words(ids: ArrayLike | None, n_rows: int, index: RowIndex) -> NDArray[np.uint64] | None:
    """Return a 64-bit word for each id, different for different ids; None if there are no ids."""
    if ids is None:
        return None
    array = names_per_row(ids, n_rows, index, name="ids")
    if array.dtype.kind in "iub":
        return array.astype(np.int64 if array.dtype.kind == "i" else np.uint64).view(np.uint64)
    known, inverse = distinct(array)
    return np.array([_word(value) for value in known], dtype=np.uint64)[inverse]


def _word(value: Name) -> int:
    """Return the word of an id. "7", "7.0" and 7 have the same word, because files may hold any of them."""
    if isinstance(value, str):
        value = whole_of_text(value)
    if isinstance(value, int):
        return value % 2**64
    if isinstance(value, float) and value.is_integer():
        return int(value) % 2**64
    from hashlib import blake2b

    return int.from_bytes(blake2b(str(value).encode(errors="surrogatepass"), digest_size=8).digest(), "little")


def whole_of_text(text: str) -> str | int:
    """Return the integer that ``text`` writes ("7", "7.0"); the text itself if it is none or does not fit 64 bits."""
    whole = WHOLE_TEXT.fullmatch(text)
    return int(whole[1]) if whole is not None and fits_64_bits(int(whole[1])) else text


def _one_per_row(values: ArrayLike, n_rows: int, index: RowIndex, name: str) -> Array:
    """Return ``values`` as a vector with one entry per row, none of them missing."""
    return _without_missing(_vector(values, n_rows, index, name), name)


def _vector(values: ArrayLike, n_rows: int, index: RowIndex, name: str) -> Array:
    """Return ``values`` as a vector with one entry per row; all labels, groups and ids are read here.

    An index of ``values`` is checked against ``index``, that of the rows.
    """
    if type(values) is not np.ndarray and frames.is_frame(values):
        values = _column_of(values, name)
    array = _as_names(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise _not_a_vector(array, name)
    if len(array) != n_rows:
        raise InputError.length(name, n_rows, len(array))
    if type(values) is not np.ndarray:  # which has no index
        index.check(values, name)
    return array


def _without_missing(array: Array, name: str) -> Array:
    """Return the entries as names; raise an error if one is missing."""
    missing = _missing(array)
    if missing.any():
        raise LabelError.missing(name, int(missing.argmax()))
    return _plain(texts(array) if array.dtype.kind == "M" else array, name)


def _column_of(frame: Any, name: str) -> Any:  # noqa: ANN401
    """Return the column of a frame that has only one; raise an error for other frames."""
    column = frames.only_column(frame)
    if column is None:
        received = f"a data frame with {frame.shape[1]:,} columns"
        raise KindError.not_names(name, received, f"Pass the column that contains the {name}.")
    return column


def _plain(array: Array, name: str) -> Array:
    """Return ``array``; entries that are neither numbers nor texts are replaced by their text."""
    if array.dtype.kind not in "OS":
        return array
    known, inverse = distinct(array, name)
    return np.array([*known, None], dtype=object)[inverse]


def _as_names(values: ArrayLike, name: str) -> Array:
    """Return ``values`` as an array; a list of mixed types keeps the type of each entry."""
    if type(values) is not np.ndarray and (container := unsupported_container(values)) is not None:
        raise KindError.not_names(name, *container)
    if _are_tuples_of_names(values):
        return object_array(cast("Iterable[object]", values))
    try:
        array = values if type(values) is np.ndarray else np.asarray(tensors.unwrap(values), dtype=_names_dtype(values))
    except ValueError:
        raise LabelError.several(name, "lists of different lengths") from None
    if array.ndim == 0 and not isinstance(values, np.ndarray):
        raise LabelError.not_one_dimensional(name, type(values).__name__)
    if array.dtype.kind in "cVm":
        raise KindError.not_names(name, f"an array of {array.dtype}", "Pass strings or integers.")
    return array


def _are_tuples_of_names(values: object) -> bool:
    """Return whether ``values`` is a list of tuples that hold texts, as ``zip`` makes of two columns of names."""
    return (
        isinstance(values, list | tuple)
        and len(values) > 0
        and all(isinstance(value, tuple) for value in values)
        and any(isinstance(part, str) for part in values[0])
    )


def _names_dtype(values: ArrayLike) -> type[object] | None:
    """Return object for lists whose entries NumPy would convert to one type or pad to one width, else None."""
    if not isinstance(values, list | tuple):
        return None
    kinds = {type(value) for value in values}
    beyond_int64 = kinds == {int} and max(map(abs, values)) >= 2**63
    return object if kinds & {str, bytes} or len(kinds) > 1 or beyond_int64 else None


def _not_a_vector(array: Array, name: str) -> LabelError:
    """Return the error for an array that is not one-dimensional."""
    one_hot = (
        array.ndim == 2
        and array.dtype.kind in "iufb"
        and bool(np.isin(array, (0, 1)).all() and (array.sum(axis=1) == 1).all())
    )
    return LabelError.one_hot(name, array.shape) if one_hot else LabelError.several(name, f"shape {array.shape}")


def _missing(array: Array) -> NDArray[np.bool_]:
    """Return which entries are missing."""
    if array.dtype.kind in "iubUS":
        return np.zeros(len(array), dtype=np.bool_)
    if array.dtype.kind in "fM":
        return np.isnan(array) if array.dtype.kind == "f" else np.isnat(array)
    return np.array([is_missing(value) for value in array.tolist()], dtype=np.bool_)


def is_missing(value: object) -> bool:
    """Return whether ``value`` is None, masked, NaN, NaT or pandas' NA."""
    try:
        return value is None or value is np.ma.masked or bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True
    except ValueError:
        return False


def _blame_label(array: Array, codes: Codes, classes: Names, name: str, *, several: bool) -> None:
    """Raise the error that explains why a label has no column."""
    row = int((codes < 0).argmax())
    value = array[row].item() if isinstance(array[row], np.generic) else array[row]
    if classes.values != range(len(classes)):
        known = tuple(classes.values)
        names = [one for one in known if isinstance(one, str)]
        if array.dtype.kind in "iu" and _are_within(array, classes) and len(names) == len(known):
            readings = two_readings(names)
            if readings is not None:
                remedy = NAMES_OF_LISTS if several else NAMES_OF_NUMBERS
                raise LabelError.two_readings(name, row, *readings, remedy)
        unknown = [value for value, code in zip(*_first_seen(array, codes), strict=True) if code < 0]
        raise (LabelError.unknown_in_list if several else LabelError.unknown)(name, row, unknown, known)
    if isinstance(value, str):
        raise LabelError.names_without_classes(name, row, value)
    if value == len(classes) and array.dtype.kind in "iuf" and array.min() >= 1 and array.max() == len(classes):
        raise LabelError.one_based(name, row, len(classes))
    raise LabelError.out_of_range(name, row, value, len(classes))


def _first_seen(array: Array, codes: Codes) -> tuple[list[Name], list[int]]:
    """Return the distinct entries in order of appearance, with their codes."""
    seen = {plain(value, "labels"): int(code) for value, code in zip(array.tolist(), codes, strict=True)}
    return list(seen), list(seen.values())
