"""The ranking of each row: columns from the largest entry down, equal ones from the left, sorting as few as it can."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.scratch import scratch

Ints = NDArray[np.int64]
Floats = NDArray[Any]
"""float32 or float64."""

NARROW = 48
FEW = 2048
"""Rows this short, and blocks of so few entries, are sorted whole by the plain stable sort: nothing is faster there."""

LANES = 8
ROUNDS = 4

WORD = 64

MOST_WORDS = 255
"""So many words of eight booleans add up without a byte running over."""

EVEN_BYTES = np.uint64(0x00FF00FF00FF00FF)
QUARTERS = np.uint64(0x0001000100010001)


def whole(values: Floats) -> Ints:
    """The full ranking of each row.

    >>> whole(np.array([[0.1, 0.5, 0.2, 0.2]]))
    array([[1, 2, 3, 0]])
    """
    if values.shape[1] <= NARROW or values.size <= FEW:
        return np.argsort(-values, axis=1, kind="stable")
    return _by_words(values) if values.dtype == np.float32 else _by_argsort(values)


def likeliest(values: Floats, rank: float, mass: float, cutoffs: Floats | None) -> tuple[Ints, Ints]:
    """Columns row after row, in ranking order, and how many of each row.

    They are all those whose rank is at most ``rank``, whose entry reaches its row's cutoff (n,), and that have no more
    than ``mass`` before them (entries are then not negative); and few others.

    >>> likeliest(np.array([[0.1, 0.5, 0.2, 0.2]]), 2, np.inf, None)
    (array([1, 2, 3]), array([3]))
    """
    n_rows, n_columns = values.shape
    known = [] if cutoffs is None else [cutoffs]
    if rank < n_columns:
        known.append(_at_rank(values, int(max(1, rank))))
    if mass < math.inf:
        with np.errstate(all="ignore"):  # a mass beyond all floats makes no cutoff
            known.append(_at_mass(values, mass))
    if not known:
        return whole(values).ravel(), np.full(n_rows, n_columns)
    return _reaching(values, np.maximum.reduce(known))


def _reaching(values: Floats, cutoffs: Floats) -> tuple[Ints, Ints]:
    """The columns of the entries that reach their row's cutoff, row after row in ranking order, and how many."""
    inside = np.greater_equal(values, cutoffs[:, np.newaxis], out=scratch(values.shape, np.bool_))
    sizes = count(inside)
    flat = np.flatnonzero(inside)
    rows = np.repeat(np.arange(len(values)), sizes)
    columns = flat - rows * values.shape[1]
    found = values.ravel()[flat]
    return _sorted_columns(rows, columns, found, values.shape), sizes


def _at_rank(values: Floats, rank: int) -> Floats:
    """A cutoff for each row (n,) that at least ``rank`` entries reach, and few more.

    Whatever value the largest entries of so many lanes reach, so many entries reach.
    """
    n_rows, n_columns = values.shape
    width = n_columns // LANES
    if width >= LANES and rank <= width // 2:
        lanes = values[:, : LANES * width].reshape(n_rows, LANES, width)
        tops = lanes.max(axis=1, out=scratch((n_rows, width), values.dtype))
        rest = n_columns - LANES * width
        np.maximum(tops[:, :rest], values[:, LANES * width :], out=tops[:, :rest])
    else:
        tops = scratch(values.shape, values.dtype)
        tops[:] = values
    place = tops.shape[1] - rank
    tops.partition(place, axis=1)
    return tops[:, place].copy()


def _at_mass(values: Floats, mass: float) -> Floats:
    """A cutoff for each row (n,), none of it negative, below which every entry has more than ``mass`` before it.

    The entries below t, and what lies before them, make up the row. So if all entries, cut off at t, sum to less than
    the row's sum minus ``mass``, t is such a cutoff; the largest is searched by bisection, with room for rounding.
    """
    n_columns = values.shape[1]
    room = 4 * n_columns * float(np.finfo(values.dtype).eps)
    left = np.maximum((1 - room) * sums(values) - (mass + room), 0).astype(values.dtype)
    low, high = left / n_columns, left
    cut = scratch(values.shape, values.dtype)
    for _ in range(ROUNDS if n_columns > NARROW else ROUNDS // 2):
        middle = np.sqrt(low * high)
        np.minimum(values, middle[:, np.newaxis], out=cut)
        valid = sums(cut) < left
        low, high = np.where(valid, middle, low), np.where(valid, high, middle)
    return low


def sums(values: Floats) -> Floats:
    """The sum of each row, in the precision of ``values``: faster than ``sum``, and rounded more."""
    return np.einsum("ij->i", values)


def count(mask: NDArray[np.bool_]) -> Ints:
    """How many entries of each row are true, several times faster than by summing booleans."""
    if mask.shape[1] <= NARROW or mask.shape[1] % 8:
        return sums(mask.astype(np.float32 if mask.shape[1] < 1 << 24 else np.float64)).astype(np.int64)
    words = mask.view(np.uint64)
    total = np.zeros(len(mask), dtype=np.int64)
    for start in range(0, words.shape[1], MOST_WORDS):
        bytewise = words[:, start : start + MOST_WORDS].sum(axis=1)
        pairs = (bytewise & EVEN_BYTES) + (bytewise >> np.uint64(8) & EVEN_BYTES)
        total += (pairs * QUARTERS >> np.uint64(48)).view(np.int64)
    return total


def _by_words(values: NDArray[np.float32]) -> Ints:
    """float32 entries and their columns as one 64-bit word each, so that one plain sort settles both."""
    words = _falling(values) << np.uint64(32)
    words |= np.arange(values.shape[1], dtype=np.uint64)
    words.sort(axis=1)
    return (words & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _falling(values: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Words below 2**32 that rise as ``values`` fall."""
    bits = (values + np.float32(0)).view(np.int32)
    bits ^= (bits >> 31) | np.int32(-(2**31))  # rise, read as unsigned: negative ones turned over, others behind them
    np.invert(bits, out=bits)
    return bits.view(np.uint32).astype(np.uint64)


def _by_argsort(values: NDArray[np.float64]) -> Ints:
    """A fast sort that scrambles ties, then the stable one for the rows that have any."""
    ranking = np.argsort(-values, axis=1)
    falling = np.take_along_axis(values, ranking, axis=1)
    tied = (falling[:, 1:] == falling[:, :-1]).any(axis=1)
    ranking[tied] = np.argsort(-values[tied], axis=1, kind="stable")
    return ranking


def _sorted_columns(rows: Ints, columns: Ints, values: Floats, shape: tuple[int, int]) -> Ints:
    """``columns`` in the order of rows, then falling ``values``; equal ones as they are, which is from the left."""
    row_bits, column_bits = ((length - 1).bit_length() for length in shape)
    if values.dtype == np.float32 and row_bits + column_bits <= WORD - 32:
        words = (rows << (32 + column_bits)).view(np.uint64)
        words |= _falling(values) << np.uint64(column_bits)
        words |= columns.view(np.uint64)
        words.sort()
        return (words & np.uint64((1 << column_bits) - 1)).view(np.int64)
    by_value = np.argsort(-values, kind="stable")
    compact = rows.astype(np.uint16) if row_bits <= 16 else rows
    return columns[by_value[np.argsort(compact[by_value], kind="stable")]]
