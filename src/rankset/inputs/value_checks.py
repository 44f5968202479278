"""Checks of values: which row and column of a matrix cannot be what its kind says, and why."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import SUM_TOLERANCE, certain_deviation, lost_in_floats
from rankset.errors import InputError
from rankset.inputs.matrix import Kind
from rankset.inputs.vocabulary import Array, Codes

SUM_ROUNDING = 1e-12
"""Rounding error that a sum in float64 may have beyond the tolerance; that of the entries comes on top."""

CACHED_BYTES = 1 << 22
"""Size of pieces that are read twice: the second time from the cache. Smaller pieces slow threads down."""

SMALL, FEW_ENTRIES = 1 << 18, 1 << 13
"""Entries of a block that one thread reads, and entries that BLAS multiplies by a vector within one thread."""


def check_rows(block: Array, kind: Kind, start: int, name: str = "probs") -> None:
    """Raise an error for the first row whose values cannot be of ``kind``; ``start`` is the first row's number."""
    with np.errstate(over="ignore", invalid="ignore"):
        CHECKS[kind](block, start, name)


def check_whole(rows: Array, start: int, counts: Codes | None = None, name: str = "probs") -> None:
    """Raise an error for the first integer that float64 cannot hold; of each row only ``counts`` columns are read."""
    lost = lost_in_floats(rows)
    if lost is None:
        return
    if counts is not None:
        lost &= np.arange(rows.shape[1]) < counts[:, np.newaxis]
    if lost.any():
        row, column = (*np.argwhere(lost)[0].tolist(), 0)[:2]
        raise InputError.not_exact(name, start + row, column, int(rows[(row, column)[: rows.ndim]]))


def _check_probs(block: Array, start: int, name: str) -> None:
    """Check that entries are not negative and that rows sum to about 1."""
    if surely_probs(block):
        return
    totals = block.sum(axis=1, dtype=np.float64)
    allowed = SUM_TOLERANCE + SUM_ROUNDING + float(np.finfo(block.dtype).eps)
    wrong = ~(np.abs(totals - 1.0) <= allowed) | (block.min(axis=1) < 0)
    if wrong.any():
        _blame_probs(block, totals, int(wrong.argmax()), start, name)


def surely_probs(block: Array) -> bool:
    """Return True if all rows are certainly valid, by a fast sum in the precision of the block.

    Rows are read in pieces that stay in the cache of a core, so that looking for negative entries costs little.
    """
    rough = _sums_of_nonnegative(block)
    if rough is None:
        return False
    rough -= 1
    allowed = certain_deviation(block.shape[1], block.dtype)
    return bool(-allowed < rough.min(initial=0) and rough.max(initial=0) < allowed)


def _sums_of_nonnegative(block: Array) -> Array | None:
    """Return the sum of each row in the precision of the block; None if an entry is negative.

    Sums by BLAS take half the time, but only where no other thread works and few entries are multiplied at a time:
    for more, BLAS may start threads, which make the sum wait for milliseconds if a core is busy.
    """
    n_rows, n_columns = block.shape
    if block.size <= SMALL:
        if block.min(initial=0) < 0:
            return None
        ones = np.ones(n_columns, dtype=block.dtype)
        return block @ ones if block.size <= FEW_ENTRIES else _products(block, ones)
    step = max(1, CACHED_BYTES // (n_columns * block.itemsize))
    sums = np.empty(n_rows, dtype=block.dtype)
    for start in range(0, n_rows, step):
        some = slice(start, start + step)
        np.einsum("ij->i", block[some], out=sums[some])
        if block[some].min(initial=0) < 0:
            return None
    return sums


def _products(block: Array, ones: Array) -> Array:
    """Return ``block @ ones``, from FEW_ENTRIES at a time."""
    n_rows, n_columns = block.shape
    step = FEW_ENTRIES // n_columns
    if step == 0 or not block.flags.c_contiguous:
        return np.einsum("ij->i", block)
    sums, whole = np.empty(n_rows, dtype=block.dtype), n_rows - n_rows % step
    np.matmul(block[:whole].reshape(-1, step, n_columns), ones, out=sums[:whole].reshape(-1, step))
    np.matmul(block[whole:], ones, out=sums[whole:])
    return sums


def _blame_probs(block: Array, totals: NDArray[np.float64], row: int, start: int, name: str) -> None:
    """Raise the error that explains what is wrong with a row of probabilities."""
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
    """Check that no entry is NaN or +inf and that each row has a finite entry."""
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
    """Check that entries lie between 0 and 1."""
    wrong = ~((block >= 0) & (block <= 1))
    if not wrong.any():
        return
    row = int(wrong.argmax())
    if np.isnan(block[row]):
        raise InputError.missing(name, start + row, 0)
    raise InputError.not_in_unit_interval(name, start + row, float(block[row]), float(block.max()))


def _check_marginals(block: Array, start: int, name: str) -> None:
    """Check that entries lie between 0 and 1."""
    wrong = ~((block >= 0) & (block <= 1))
    if not wrong.any():
        return
    row, column = np.argwhere(wrong)[0].tolist()
    if np.isnan(block[row, column]):
        raise InputError.missing(name, start + row, column)
    raise InputError.not_marginal(name, start + row, column, float(block[row, column]), float(np.nanmax(block)))


def _check_marginal_logits(block: Array, start: int, name: str) -> None:
    """Check that no entry is NaN."""
    wrong = np.isnan(block)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise InputError.missing(name, start + row, column)


CHECKS: Final[dict[Kind, Callable[[Array, int, str], None]]] = {
    "probs": _check_probs,
    "logits": _check_reals,
    "decision": _check_reals,
    "binary": _check_binary,
    "marginals": _check_marginals,
    "marginal_logits": _check_marginal_logits,
}
