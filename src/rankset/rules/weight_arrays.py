"""Arrays of rule files that only rules with weights of rows have: weights of entries, and their sums by group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.calibration import Calibration
from rankset.core.masses import FRACTION_BITS, LARGEST, MOST, UNIT, RowMasses, squares_at, sums_at
from rankset.rules.spec import ONE_LABEL, RuleSpec

Ints = NDArray[np.int64]
Arrays = Mapping[str, NDArray[Any]]

ENTRIES, GROUPS, ABSENT = "masses", "group_masses", "absent_masses"
SQUARES, FRACTIONS = "squared_weights", "squared_fractions"
OF_WEIGHTS = (ENTRIES, GROUPS, SQUARES, FRACTIONS)
"""Names of the arrays, all of int64; rules with absent labels have one more."""
CLOSE = 1e-6
"""Relative rounding error of a squared sum."""


def arrays_of(calibration: Calibration) -> dict[str, NDArray[Any]]:
    """Return the arrays of a calibration that only rules with weights have, by name."""
    rows = calibration.row_masses
    if rows is None or calibration.masses is None:
        return {}
    whole, fractions = rows.squares
    found = {ENTRIES: calibration.masses, GROUPS: rows.by_group, SQUARES: whole, FRACTIONS: fractions}
    return found if rows.absent is None else {**found, ABSENT: rows.absent}


def checked(spec: RuleSpec, arrays: Arrays, offsets: Ints, absent: Ints | None) -> tuple[Ints, RowMasses]:
    """Return the weights of a file; raise ValueError if they cannot be right."""
    entries, by_group, *squares = (arrays[name] for name in OF_WEIGHTS)
    lost = arrays.get(ABSENT)
    if any(len(array) != len(offsets) - 1 for array in (by_group, *squares)) or len(entries) != offsets[-1]:
        raise ValueError("its weights and its groups contradict each other")
    if (lost is None) != (absent is None) or (lost is not None and not _fit_absent(lost, absent)):
        raise ValueError("its weights of absent labels cannot be right")
    numbers = (entries, by_group) if lost is None else (entries, by_group, lost)
    if any((array < 0).any() for array in numbers) or (entries > LARGEST).any() or sum(by_group.tolist()) > MOST:
        raise ValueError("its weights cannot be right")
    groups = np.repeat(np.arange(len(by_group)), np.diff(offsets))
    rest = by_group - sums_at(groups, entries, len(by_group)) - (0 if lost is None else lost)
    if (rest + np.diff(offsets) < 0).any() or (spec.target == ONE_LABEL and rest.any()):  # parts are rounded up
        raise ValueError("its weights do not add up to those of its groups")
    found = np.stack(squares)
    exact = squares_at(groups, entries, len(by_group)) if spec.target == ONE_LABEL and lost is None else None
    if not _are_squares(found, by_group) or (exact is not None and not np.array_equal(found, exact)):
        raise ValueError("its squared weights cannot be right")
    return entries, RowMasses(by_group, found, lost)


def _fit_absent(lost: NDArray[Any], absent: Ints | None) -> bool:
    """Return whether rows with absent labels can have these weights."""
    if absent is None or lost.dtype != np.int64 or len(lost) != len(absent):
        return False
    return not lost[absent == 0].any()


def _are_squares(squares: Ints, by_group: Ints) -> bool:
    """Return whether groups of these weights can have these sums of squared weights."""
    whole, fractions = squares
    if (squares < 0).any() or (fractions >= 1 << FRACTION_BITS).any():
        return False
    most = (by_group / UNIT) ** 2 * (1 + CLOSE)
    return bool((whole + fractions / (1 << FRACTION_BITS) <= most).all())
