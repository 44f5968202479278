"""The only door: what users pass becomes plain arrays, or an error that says what to pass instead.

Structure (type, shape, lengths, names) is checked here at once; values (NaN, sign, sums) are checked block by
block, by ``checked_rows``, where they are read anyway.
"""

import re
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core import arrays
from rankset.core.arrays import SUM_TOLERANCE
from rankset.errors import InputError, KindError, LabelError, Option, RowError, RuleError, Text
from rankset.inputs import tensors
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Array, Codes, Name, Names, distinct, plain, texts

Kind = Literal["probs", "logits", "decision", "binary"]
KINDS: Final[tuple[Kind, ...]] = ("probs", "logits", "decision", "binary")

SUM_ROUNDING = 1e-12
"""How far beyond the tolerance a sum in float64 may lie because of rounding; the entries' own rounding comes on top."""
WHOLE_TEXT = re.compile(r"(0|-?[1-9][0-9]{0,17})(\.0+)?")


def as_matrix(values: ArrayLike, kind: Kind, *, name: str = "probs", columns: int | None = None) -> Array:
    """``values`` as an array of rows, not yet read: (n, K), or (n,) where ``kind`` is "binary"."""
    array = as_numbers(values, name)
    if kind == "binary":
        return _second_class(array, name)
    if array.ndim == 1 and array.size == 0 and columns is not None:
        return np.empty((0, columns))
    if array.ndim != 2:
        raise InputError.shape(name, "(n, K)", array.shape, _shape_remedy(array))
    if array.shape[1] == 0:
        raise InputError.shape(name, "(n, K)", array.shape, "Pass at least one column, one per class.")
    if columns is not None and array.shape[1] != columns:
        raise InputError.columns(name, columns, array.shape[1])
    return array


def look_like_probs(matrix: Array, rows: int = 100) -> bool:
    """Whether what should be logits are probabilities, by a look at the first rows."""
    if matrix.ndim != 2 or matrix.shape[1] < 2 or len(matrix) == 0:
        return False
    with np.errstate(all="ignore"):
        first = matrix[:rows].astype(np.float64)
        return bool((first >= 0).all() and (np.abs(first.sum(axis=1) - 1) < 1e-3).all())


def class_count(source: Array, kind: Kind) -> int:
    """How many classes a matrix of ``kind`` speaks of."""
    return 2 if kind == "binary" else source.shape[1]


def known_kind(kind: str) -> Kind:
    """``kind`` itself, if it is one."""
    for known in KINDS:
        if isinstance(kind, str) and kind == known:
            return known
    raise RuleError.option("kind", kind, KINDS)


def checked_rows(rows: Array, kind: Kind, start: int, name: str = "probs") -> Array:
    """A block of rows, contiguous, checked and read-only; ``start`` is the number of its first row."""
    check_whole(rows, start, name=name)
    block = plain_rows(rows, kind)
    check_rows(block, kind, start, name)
    return block


def plain_rows(rows: Array, kind: Kind) -> Array:
    """A block of rows, contiguous and read-only, not yet checked.

    float32 where that holds every value and nothing is computed before entries are compared, else float64.
    """
    narrow = kind in ("probs", "decision") and np.can_cast(rows.dtype, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        block = np.ascontiguousarray(rows, dtype=np.float32 if narrow else np.float64).view()
    block.flags.writeable = False
    return block


def check_rows(block: Array, kind: Kind, start: int, name: str = "probs") -> None:
    """Refuses values that cannot be of ``kind``, naming the first; ``start`` is the number of the first row."""
    with np.errstate(over="ignore", invalid="ignore"):
        CHECKS[kind](block, start, name)


def check_whole(rows: Array, start: int, counts: Codes | None = None, name: str = "probs") -> None:
    """Refuses whole numbers that float64 does not hold, naming the first; only ``counts`` columns of a row matter."""
    lost = arrays.lost_in_floats(rows)
    if lost is None:
        return
    if counts is not None:
        lost &= np.arange(rows.shape[1]) < counts[:, np.newaxis]
    if lost.any():
        row, column = (*np.argwhere(lost)[0].tolist(), 0)[:2]
        raise InputError.not_exact(name, start + row, column, int(rows[(row, column)[: rows.ndim]]))


def as_numbers(values: ArrayLike, name: str) -> Array:
    """``values`` as an array of real numbers, not yet read, whatever its shape."""
    for exotic in _exotic(values):
        raise KindError.not_a_matrix(name, *exotic)
    try:
        array = np.asarray(values if type(values) is np.ndarray else tensors.unwrap(values))
    except ValueError:
        raise InputError.ragged(name) from None
    except (TypeError, RuntimeError) as error:
        remedy = "For a tensor pass values.detach().float().cpu().numpy()."
        raise KindError.not_a_matrix(name, f"a {type(values).__name__} that refuses ({error})", remedy) from error
    if array.ndim == 0 and not isinstance(values, np.ndarray):
        raise KindError.not_a_matrix(name, type(values).__name__, "Pass an array or a list of rows.")
    if array.dtype.kind == "O":
        return as_numbers(list(array), name) if _holds_rows(array) else _cast_objects(array, name)
    if array.dtype.kind in "fiub" or _is_extended_float(array.dtype):
        return array
    if array.dtype.names is not None:
        raise KindError.not_a_matrix(name, "a structured array", "Pass a plain matrix, one column per class.")
    remedy = REMEDIES.get(array.dtype.kind, "Pass an array of floats.")
    raise KindError.not_a_matrix(name, f"an array of {array.dtype}", remedy)


REMEDIES: Final = {
    "c": "Pass its real part, values.real, if that is what the model means.",
    "U": "Pass numbers: values.astype(float).",
    "S": "Pass numbers: values.astype(float).",
}


def is_masked(values: object) -> bool:
    """Whether ``values`` are a masked array or a list of masked things, whose masks ``np.asarray`` would lose."""
    several = values if isinstance(values, list | tuple) else (values,)
    return any(isinstance(part, np.ma.MaskedArray) for part in several)


def _exotic(values: object) -> list[tuple[str, str]]:
    """What came and what to pass instead, for containers that ``np.asarray`` would misread."""
    if is_masked(values):
        return [("a masked array", "Fill or drop what is masked first.")]
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        return [("a sparse matrix", "Pass values.toarray().")]
    if hasattr(type(values), "columns") and hasattr(type(values), "collect"):
        return [("a lazy frame", "Pass frame.collect().")]
    if hasattr(type(values), "columns") and hasattr(type(values), "shape"):
        return [("a data frame", "Pass frame[classes].to_numpy(), its columns in the order of the classes.")]
    return []


def _is_extended_float(dtype: np.dtype[Any]) -> bool:
    """Whether ``dtype`` is a float from outside NumPy, such as bfloat16."""
    return dtype.kind == "V" and dtype.names is None and bool(np.can_cast(dtype, np.float64))


def _holds_rows(array: Array) -> bool:
    """Whether the entries of an array of objects are rows themselves, as in a series of arrays."""
    return (
        array.ndim == 1
        and len(array) > 0
        and all(isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim == 1) for row in array)
    )


def _cast_objects(array: Array, name: str) -> Array:
    cast = np.empty(array.shape, dtype=np.float64)
    for place, value in np.ndenumerate(array):
        row, column = (*place, 0, 0)[:2]
        if isinstance(value, list | tuple | np.ndarray) and value is not np.ma.masked:
            raise InputError.ragged(name)
        try:
            cast[place] = float(_number(value))
        except (TypeError, ValueError, OverflowError):
            raise KindError.cell(name, row, column, value) from None
        if isinstance(value, int) and float(value) != value:
            raise InputError.not_exact(name, row, column, value)
    return cast


def _number(value: Any) -> Any:  # noqa: ANN401
    """What ``float`` may be asked of: it would read texts, and make NaN of what is masked."""
    if isinstance(value, str | bytes) or value is np.ma.masked:
        raise TypeError
    return value


def _second_class(array: Array, name: str) -> Array:
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        remedy = ("Pass the probability of the second class alone, or ", Option("kind", "probs"), " for a matrix.")
        raise InputError.shape(name, ("(n,) for ", Option("kind", "binary")), array.shape, remedy)
    return array


def _shape_remedy(array: Array) -> Text:
    if array.size == 0:
        return "Pass at least one row."
    if array.ndim == 1:
        return (
            "For one row pass values.reshape(1, -1); for the probability of the second of two classes pass ",
            Option("kind", "binary"),
            ".",
        )
    return "Pass one row per sample and one column per class."


def _check_probs(block: Array, start: int, name: str) -> None:
    if _surely_probs(block):
        return
    totals = block.sum(axis=1, dtype=np.float64)
    allowed = SUM_TOLERANCE + SUM_ROUNDING + float(np.finfo(block.dtype).eps)
    wrong = ~(np.abs(totals - 1.0) <= allowed) | (block.min(axis=1) < 0)
    if wrong.any():
        _blame_probs(block, totals, int(wrong.argmax()), start, name)


def _surely_probs(block: Array) -> bool:
    """A cheap look in the precision at hand; what it leaves in doubt gets a second one."""
    n_columns = block.shape[1]
    rough = np.abs(np.einsum("ij->i", block) - 1.0)
    rounding = n_columns * float(np.finfo(block.dtype).eps)
    return bool((rough < SUM_TOLERANCE - rounding).all() and block.min(initial=0) >= 0)


def _blame_probs(block: Array, totals: NDArray[np.float64], row: int, start: int, name: str) -> None:
    values = block[row]
    if np.isnan(values).any():
        raise InputError.missing(name, start + row, int(np.isnan(values).argmax()))
    column = int(values.argmin())
    if values[column] < 0:
        raise InputError.negative(name, start + row, column, float(values[column]), float(totals[row]))
    column = int(values.argmax())
    if np.isinf(values[column]):
        raise InputError.infinite(name, start + row, column, float(values[column]))
    raise InputError.row_sum(name, start + row, float(totals[row]))


def _check_reals(block: Array, start: int, name: str) -> None:
    largest = block.max(axis=1)
    wrong = ~np.isfinite(largest)
    if not wrong.any():
        return
    row = int(wrong.argmax())
    values = block[row]
    if np.isnan(largest[row]):
        raise InputError.missing(name, start + row, int(np.isnan(values).argmax()))
    if largest[row] > 0:
        raise InputError.infinite(name, start + row, int(values.argmax()), float(largest[row]))
    raise InputError.all_minus_infinity(name, start + row)


def _check_binary(block: Array, start: int, name: str) -> None:
    wrong = ~((block >= 0) & (block <= 1))
    if not wrong.any():
        return
    row = int(wrong.argmax())
    if np.isnan(block[row]):
        raise InputError.missing(name, start + row, 0)
    raise InputError.not_in_unit_interval(name, start + row, float(block[row]), float(block.max()))


CHECKS: Final[dict[Kind, Callable[[Array, int, str], None]]] = {
    "probs": _check_probs,
    "logits": _check_reals,
    "decision": _check_reals,
    "binary": _check_binary,
}


def object_array(values: Iterable[object]) -> NDArray[Any]:
    """Some things as an array of themselves, whatever they are."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def named_labels(labels: Any, classes: NDArray[Any] | None) -> Any:  # noqa: ANN401
    """Labels; column numbers, where all classes are texts, as the names they stand for."""
    plain = tensors.unwrap(labels)
    numbers = hasattr(plain, "dtype") and np.asarray(plain).dtype.kind in "iu"
    if classes is None or not numbers or not all(isinstance(name, str) for name in classes):
        return labels
    return classes[label_codes(plain, Names(range(len(classes))), np.size(plain), RowIndex())]


def label_codes(labels: ArrayLike, classes: Names, n_rows: int, index: RowIndex, *, name: str = "labels") -> Codes:
    """The column of each row's label."""
    array = _one_per_row(labels, n_rows, index, name)
    codes = classes.codes(array)
    if (codes < 0).any():
        _blame_label(array, codes, classes, name)
    return codes


def names_per_row(names: ArrayLike, n_rows: int, index: RowIndex, *, name: str = "groups") -> Array:
    """One name per row, none missing."""
    return _one_per_row(names, n_rows, index, name)


def id_words(ids: ArrayLike | None, n_rows: int, index: RowIndex) -> NDArray[np.uint64] | None:
    """One 64-bit word per row that tells ``ids`` apart."""
    if ids is None:
        return None
    array = names_per_row(ids, n_rows, index, name="ids")
    if array.dtype.kind in "iub":
        return array.astype(np.int64 if array.dtype.kind == "i" else np.uint64).view(np.uint64)
    known, inverse = distinct(array)
    return np.array([_word(value) for value in known], dtype=np.uint64)[inverse]


def _word(value: Name) -> int:
    """The word of an id; a text that is a whole number, 7 or 7.0, has its word, as files may tell either."""
    if isinstance(value, str) and (whole := WHOLE_TEXT.fullmatch(value)):
        value = int(whole[1])
    if isinstance(value, int):
        return value % 2**64
    if isinstance(value, float) and value.is_integer():
        return int(value) % 2**64
    return int.from_bytes(blake2b(str(value).encode(errors="surrogatepass"), digest_size=8).digest(), "little")


def _one_per_row(values: ArrayLike, n_rows: int, index: RowIndex, name: str) -> Array:
    """The only way by which anything per row is read; ``index`` tells in what order, if anything does."""
    array = _as_names(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise _not_a_vector(array, name)
    if len(array) != n_rows:
        raise InputError.length(name, n_rows, len(array))
    if type(values) is not np.ndarray:  # which has no index
        index.check(values, name)
    missing = _missing(array)
    if missing.any():
        raise LabelError.missing(name, int(missing.argmax()))
    return _plain(texts(array) if array.dtype.kind == "M" else array, name)


def row_number(row: int, n_rows: int) -> int:
    """The number of one of ``n_rows`` rows, those below 0 counted from the end."""
    if not -n_rows <= row < n_rows:
        raise RowError.number(n_rows, row)
    return row % n_rows


def picked_rows(rows: object, n_rows: int) -> Codes:
    """The numbers of some of ``n_rows`` rows, picked by a slice, by row numbers or by a boolean for every row."""
    if isinstance(rows, slice):
        return np.arange(*rows.indices(n_rows))
    if is_masked(rows):
        raise KindError.rows(rows)
    try:
        array = np.asarray(rows)
    except ValueError:
        raise KindError.rows("lists of different lengths") from None
    if array.ndim == 1 and array.size == 0 and array.dtype.kind != "b":
        return np.arange(0)
    if array.ndim == 1 and array.dtype.kind == "b":
        if len(array) != n_rows:
            raise RowError.mask(n_rows, len(array))
        return array.nonzero()[0]
    if array.ndim > 1 or array.dtype.kind not in "iu":
        raise KindError.rows(rows)
    for number in (array.min(), array.max()):
        row_number(int(number), n_rows)
    return np.atleast_1d(array.astype(np.int64)) % n_rows


def _plain(array: Array, name: str) -> Array:
    """``array`` with things that are neither numbers nor texts replaced by their texts."""
    if array.dtype.kind not in "OS":
        return array
    known, inverse = distinct(array, name)
    return np.array([*known, None], dtype=object)[inverse]


def _as_names(values: ArrayLike, name: str) -> Array:
    """An array of ``values`` in which a list of mixed things keeps its things apart."""
    for exotic in _exotic(values):
        raise KindError.not_names(name, *exotic)
    try:
        array = values if type(values) is np.ndarray else np.asarray(tensors.unwrap(values), dtype=_names_dtype(values))
    except ValueError:
        raise LabelError.not_one_dimensional(name, "lists of different lengths") from None
    if array.ndim == 0 and not isinstance(values, np.ndarray):
        raise LabelError.not_one_dimensional(name, type(values).__name__)
    if array.dtype.kind in "cVm":
        raise KindError.not_names(name, f"an array of {array.dtype}", "Pass texts or whole numbers.")
    return array


def _names_dtype(values: ArrayLike) -> type[object] | None:
    """object for lists in which NumPy would turn one kind of thing into another, or pad texts to one width."""
    if not isinstance(values, list | tuple):
        return None
    kinds = {type(value) for value in values}
    beyond_int64 = kinds == {int} and max(map(abs, values)) >= 2**63
    return object if kinds & {str, bytes} or len(kinds) > 1 or beyond_int64 else None


def _not_a_vector(array: Array, name: str) -> LabelError:
    one_hot = (
        array.ndim == 2
        and array.dtype.kind in "iufb"
        and bool(np.isin(array, (0, 1)).all() and (array.sum(axis=1) == 1).all())
    )
    return (
        LabelError.one_hot(name, array.shape)
        if one_hot
        else LabelError.not_one_dimensional(name, f"shape {array.shape}")
    )


def _missing(array: Array) -> NDArray[np.bool_]:
    if array.dtype.kind in "iubUS":
        return np.zeros(len(array), dtype=np.bool_)
    if array.dtype.kind in "fM":
        return np.isnan(array) if array.dtype.kind == "f" else np.isnat(array)
    return np.array([is_missing(value) for value in array.tolist()], dtype=np.bool_)


def is_missing(value: object) -> bool:
    """Whether ``value`` is None, masked, or does not equal itself: NaN, NaT, and pandas' NA, which refuses to say."""
    try:
        return value is None or value is np.ma.masked or bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True
    except ValueError:
        return False


def _blame_label(array: Array, codes: Codes, classes: Names, name: str) -> None:
    row = int((codes < 0).argmax())
    value = array[row].item() if isinstance(array[row], np.generic) else array[row]
    if classes.values != range(len(classes)):
        unknown = [value for value, code in zip(*_first_seen(array, codes), strict=True) if code < 0]
        raise LabelError.unknown(name, row, unknown, tuple(classes.values))
    if isinstance(value, str):
        raise LabelError.names_without_classes(name, row, value)
    if value == len(classes) and array.dtype.kind in "iuf" and array.min() >= 1 and array.max() == len(classes):
        raise LabelError.one_based(name, row, len(classes))
    raise LabelError.out_of_range(name, row, value, len(classes))


def _first_seen(array: Array, codes: Codes) -> tuple[list[Name], list[int]]:
    """The distinct entries in order of appearance, with their codes."""
    seen = {plain(value, "labels"): int(code) for value, code in zip(array.tolist(), codes, strict=True)}
    return list(seen), list(seen.values())
