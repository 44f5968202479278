"""Calibration rows whose true label is not among the candidates: they count in their groups, and have no keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rankset.conditions import Condition, has_clusters, has_one_label_per_group
from rankset.core.calibration import Calibration
from rankset.core.lexicographic import Keys
from rankset.errors import LabelError, Option, Text

Ints = NDArray[np.int64]


def check_condition(condition: Condition, table: Ints, absent: NDArray[np.bool_]) -> None:
    """Raise an error if the group of a row depends on its label, which ``absent`` rows have not.

    ``table`` has the group of every (row group, column).
    """
    if has_one_label_per_group(condition) or has_clusters(condition) or (table != table[:, :1]).any():
        raise LabelError.absent_condition(condition, int(absent.argmax()))


def calibration(parts: Sequence[tuple[Ints, Keys]], absent: NDArray[np.bool_], count: int) -> Calibration:
    """Return the calibration of rows in parts, in row order; the keys of ``absent`` rows are left out."""
    groups = np.concatenate([numbers for numbers, _ in parts])
    keys = tuple(np.concatenate(pieces) for pieces in zip(*(keys for _, keys in parts), strict=True))
    present = ~absent
    without_keys = np.bincount(groups[absent], minlength=count).astype(np.int64)
    return Calibration.of_parts([(groups[present], tuple(key[present] for key in keys))], count, without_keys)


def unattained(
    alpha: Fraction, sizes: Sequence[tuple[str, int, int, Fraction]], rows: str = "calibration rows"
) -> tuple[Text, ...]:
    """Return the warning about a level that cannot be attained.

    ``rows`` says what the rows are. ``sizes`` has the name of each group ("" if there is one for all rows), the number
    of its rows, the number of absent labels among them, and the smallest alpha that can be attained.
    """
    told = "; ".join(reason(*size, rows) for size in sizes[:5])
    more = f"; and {len(sizes) - 5:,} more groups" if len(sizes) > 5 else ""
    end = "all sets contain every label" if not sizes[0][0] else "in these groups no label is left out"
    return (
        "coverage of 1 - alpha cannot be attained for ",
        Option("alpha", float(alpha)),
        f": {told}{more}. So {end}.",
    )


def reason(name: str, n: int, absent: int, least: Fraction, rows: str = "calibration rows") -> str:
    """Return why no label is left out in a group at small values of alpha: absent labels among its rows."""
    where = f" for {name}" if name else ""
    return (
        f"the true label is absent from {absent:,} of {n:,} {rows}{where}, so with these rows at least "
        f"{percent(least)} % of sets must be allowed to miss (alpha of at least {least}, about {rounded_up(least)})"
    )


def percent(share: Fraction) -> str:
    """Return a share in percent with one decimal, rounded up, so that it is not below the share.

    >>> percent(Fraction(1, 13))
    '7.7'
    """
    return f"{math.ceil(share * 1000) / 10:g}"


def rounded_up(alpha: Fraction) -> str:
    """Return alpha with four digits, rounded up, so that the written number can be attained.

    >>> rounded_up(Fraction(1, 13))
    '0.07693'
    """
    places = 3 - math.floor(math.log10(alpha))
    return f"{math.ceil(alpha * 10**places) / 10**places:.{places}f}".rstrip("0").rstrip(".")
