"""Matrices of any kind that users pass, as arrays of numbers; values are not checked here (see ``value_checks``)."""

from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from rankset.errors import Either, InputError, KindError, Option, RuleError, Text
from rankset.inputs import tensors
from rankset.inputs.vocabulary import Array

Kind = Literal["probs", "logits", "decision", "binary", "marginals", "marginal_logits"]
KINDS: Final[tuple[Kind, ...]] = ("probs", "logits", "decision", "binary", "marginals", "marginal_logits")
AS_THEY_ARE: Final[tuple[Kind, ...]] = ("probs", "decision", "marginals")
"""Kinds of rows that scores read as users pass them."""
SUM_TO_ONE: Final[tuple[Kind, ...]] = ("probs", "logits", "binary")
"""Kinds of rows that are, or become, probabilities of which one label is true."""
MARGINAL: Final[tuple[Kind, ...]] = ("marginals", "marginal_logits")
"""Kinds of rows that are, or become, a probability of its own for every label."""


def as_matrix(values: ArrayLike, kind: Kind, *, name: str = "probs", columns: int | None = None) -> Array:
    """Return ``values`` as an array of shape (n, K), or (n,) where ``kind`` is "binary"; values are not read yet."""
    array = as_numbers(values, name)
    if kind == "binary":
        return _second_class(array, name)
    if array.ndim == 1 and array.size == 0 and columns is not None:
        return np.empty((0, columns))
    if array.ndim != 2:
        raise InputError.shape(name, "(n, K)", array.shape, _shape_remedy(array))
    if array.shape[1] == 0:
        raise InputError.shape(name, "(n, K)", array.shape, "Pass one column per class.")
    if columns is not None and array.shape[1] != columns:
        raise InputError.columns(name, columns, array.shape[1])
    return array


def look_like_probs(matrix: Array, rows: int = 100) -> bool:
    """Return whether the first rows of supposed logits look like probabilities."""
    if matrix.ndim != 2 or matrix.shape[1] < 2 or len(matrix) == 0:
        return False
    with np.errstate(all="ignore"):
        first = matrix[:rows].astype(np.float64)
        return bool((first >= 0).all() and (np.abs(first.sum(axis=1) - 1) < 1e-3).all())


def known_kind(kind: str) -> Kind:
    """Return ``kind``; raise an error if it is unknown."""
    for known in KINDS:
        if isinstance(kind, str) and kind == known:
            return known
    raise RuleError.option("kind", kind, KINDS)


def plain_rows(rows: Array, kind: Kind) -> Array:
    """Return a block of rows, contiguous and read-only; values are not checked.

    The dtype is float32 where it holds every value and entries are only compared, else float64.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        block = np.ascontiguousarray(rows, dtype=plain_dtype(rows, kind)).view()
    block.flags.writeable = False
    return block


def plain_dtype(rows: Array, kind: Kind) -> np.dtype[Any]:
    """Return the dtype of ``plain_rows``."""
    narrow = kind in AS_THEY_ARE and np.can_cast(rows.dtype, np.float32)
    return np.dtype(np.float32 if narrow else np.float64)


def as_numbers(values: ArrayLike, name: str) -> Array:
    """Return ``values`` as an array of real numbers of any shape; values are not read yet."""
    if type(values) is not np.ndarray and (container := unsupported_container(values)) is not None:
        raise KindError.not_a_matrix(name, *container)
    try:
        array = np.asarray(values if type(values) is np.ndarray else tensors.unwrap(values))
    except ValueError:
        raise InputError.ragged(name) from None
    except (TypeError, RuntimeError) as error:
        remedy = "For a tensor pass values.detach().float().cpu().numpy()."
        raise KindError.not_a_matrix(
            name, f"a {type(values).__name__} that NumPy cannot convert ({error})", remedy
        ) from error
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
    "c": "If only the real part is needed, pass values.real.",
    "U": "Pass values.astype(float).",
    "S": "Pass values.astype(float).",
}


def is_masked(values: object) -> bool:
    """Return whether ``values`` is a masked array or a list of them; ``np.asarray`` would lose their masks."""
    several = values if isinstance(values, list | tuple) else (values,)
    return any(isinstance(part, np.ma.MaskedArray) for part in several)


def unsupported_container(values: object) -> tuple[str, str] | None:
    """Return the name of a container that ``np.asarray`` would misread, and what to pass instead; None for others."""
    if is_masked(values):
        return "a masked array", "Fill the masked entries, or drop their rows."
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        return "a sparse matrix", "Pass values.toarray()."
    if hasattr(type(values), "columns") and hasattr(type(values), "collect"):
        return "a lazy frame", "Pass frame.collect()."
    if hasattr(type(values), "columns") and hasattr(type(values), "shape"):
        return "a data frame", "Pass frame[classes].to_numpy()."
    return None


def _is_extended_float(dtype: np.dtype[Any]) -> bool:
    """Return whether ``dtype`` is a float that NumPy does not have, such as bfloat16."""
    return dtype.kind == "V" and dtype.names is None and bool(np.can_cast(dtype, np.float64))


def _holds_rows(array: Array) -> bool:
    """Return whether the entries of an object array are rows, as in a series of arrays."""
    return (
        array.ndim == 1
        and len(array) > 0
        and all(isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim == 1) for row in array)
    )


def _cast_objects(array: Array, name: str) -> Array:
    """Return an object array as float64; raise an error for entries that are no numbers or would be rounded."""
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
    """Return ``value``; raise TypeError for texts and masked entries, which ``float`` would accept."""
    if isinstance(value, str | bytes) or value is np.ma.masked:
        raise TypeError
    return value


def _second_class(array: Array, name: str) -> Array:
    """Return the probabilities of the second class as a vector."""
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        remedy = ("Pass only the probability of the second class. Or pass ", Option("kind", "probs"), " for a matrix.")
        raise InputError.shape(name, ("(n,) for ", Option("kind", "binary")), array.shape, remedy)
    return array


def _shape_remedy(array: Array) -> Text:
    if array.size == 0:
        return "Pass at least one row."
    if array.ndim == 1:
        return (
            Either("For one row pass values.reshape(1, -1).", "Pass one row per sample and one column per class."),
            " If the values are probabilities of the second of two classes, pass ",
            Option("kind", "binary"),
            ".",
        )
    return "Pass one row per sample and one column per class."
