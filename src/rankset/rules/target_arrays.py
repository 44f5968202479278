"""Arrays of rule files that only targets other than ``OneLabel`` have: weights of entries, and numbers of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.arrays import is_whole
from rankset.core.calibration import Calibration
from rankset.core.entries import Entries, RowCounts
from rankset.core.lexicographic import Keys
from rankset.core.weights import LARGEST, Sums, Weights
from rankset.rules.spec import ONE_LABEL, RuleSpec
from rankset.targets import AtMostMissed, Cost, Recall, Target
from rankset.targets.cost import cost_weights

Ints = NDArray[np.int64]
Arrays = Mapping[str, NDArray[Any]]

PARTS, WHOLES, ROWS = "weights", "sizes", "rows"
WEIGHTS_OF_TARGETS = (PARTS, WHOLES)
"""Names of the arrays: the weight of an entry is an integer of the first, divided by one of the second."""
MOST = 1 << 53


def arrays_of(calibration: Calibration) -> dict[str, NDArray[Any]]:
    """Return the arrays of a calibration that only targets have, by name."""
    answer: dict[str, NDArray[Any]] = {}
    if calibration.weights is not None:
        answer |= dict(zip((PARTS, WHOLES), calibration.weights, strict=True))
    if calibration.rows is not None:
        answer[ROWS] = calibration.rows.by_group
    return answer


def example(groups: Ints, keys: Keys, target: Target) -> Calibration:
    """Return a calibration of one entry, which has the arrays of this target."""
    one = np.ones(1, dtype=np.int64)
    weights = (one, one) if isinstance(target, Recall | Cost) else None
    return Calibration.of_entries([Entries(groups, keys, weights)], 1, RowCounts(one, 1))


def checked(
    spec: RuleSpec, arrays: Arrays, offsets: Ints, n_absent: int, counts: tuple[object, object] | None
) -> tuple[RowCounts | None, Weights | None]:
    """Return the numbers of rows and the weights of a file; raise ValueError if they cannot be right.

    ``counts`` are the numbers of rows with and without labels, None if the format has none.
    """
    if counts is None:
        return None, None
    labelled, set_aside = counts
    if not is_whole(labelled) or not is_whole(set_aside) or not 0 <= labelled < MOST or not 0 <= set_aside < MOST:  # type: ignore[operator]
        raise ValueError("its numbers of rows cannot be right")
    if spec.target == ONE_LABEL:
        if (labelled, set_aside) != (int(offsets[-1]) + n_absent, 0):
            raise ValueError("its numbers of rows cannot be right")
        return None, None
    rows, entries = arrays[ROWS], np.diff(offsets)
    if len(rows) != len(entries) or (rows < 0).any() or not _fit(spec, rows, int(labelled)):  # type: ignore[call-overload]
        raise ValueError("its numbers of rows cannot be right")
    weights = (arrays[PARTS], arrays[WHOLES]) if PARTS in arrays else None
    if weights is None:
        _check_entries(spec, entries, rows)
    else:
        _check_weights(spec, weights, offsets, rows)
    return RowCounts(rows, int(labelled), int(set_aside)), weights  # type: ignore[call-overload]


def _check_entries(spec: RuleSpec, entries: Ints, rows: Ints) -> None:
    """Raise ValueError for numbers of entries without weights of their own that no rows can have."""
    if _misses_all(spec) and entries.any():
        raise ValueError("its target has no entries with so few classes")
    if spec.weighted and isinstance(spec.target, Recall | Cost):
        wrong = entries > rows * spec.n_columns
    elif isinstance(spec.target, AtMostMissed):
        wrong = entries > rows
    else:
        wrong = entries != rows
    if wrong.any():
        raise ValueError("its numbers of entries and rows contradict each other")


def _fit(spec: RuleSpec, rows: Ints, labelled: int) -> bool:
    """Return whether groups can have these numbers of rows, if there are so many rows with entries in all."""
    total = sum(rows.tolist())
    if len(rows) == 1 or not spec.several_labels:
        return bool(total == labelled)
    return int(rows.max(initial=0)) <= labelled <= total


def _misses_all(spec: RuleSpec) -> bool:
    """Return whether a set may miss every class."""
    return isinstance(spec.target, AtMostMissed) and spec.target.m >= spec.n_columns


def _check_weights(spec: RuleSpec, weights: Weights, offsets: Ints, rows: Ints) -> None:
    """Raise ValueError for weights that no rows can have."""
    parts, wholes = weights
    n = int(offsets[-1])
    if any(len(array) != n or (n and not 1 <= array.min() <= array.max() <= LARGEST) for array in weights):
        raise ValueError("its weights cannot be right")
    if isinstance(spec.target, Cost):
        _check_costs(spec, spec.target, weights, offsets, rows)
        return
    if (parts != 1).any() or (n and wholes.max() > spec.n_columns):
        raise ValueError("its weights cannot be right")
    sums = Sums(weights)
    for group, count in enumerate(rows.tolist()):
        if sums.of(int(offsets[group]), int(offsets[group + 1])) != count:
            raise ValueError("its weights do not add up to its rows")


def _check_costs(spec: RuleSpec, target: Cost, weights: Weights, offsets: Ints, rows: Ints) -> None:
    """Raise ValueError for weights that are not the costs of the labels of their group.

    Rows whose label costs nothing have no entry. So groups without such a label have as many entries as rows.
    """
    parts, wholes = weights
    known, whole = cost_weights(target, spec.classes.values)
    groups, costs = (array.ravel() for array in np.broadcast_arrays(spec.table(), known))
    entries, free = np.diff(offsets), np.zeros(len(rows), dtype=np.bool_)
    free[groups[costs == 0]] = True
    own = np.repeat(np.arange(len(rows)), entries)
    if (wholes != whole).any() or not np.isin(own * (whole + 1) + parts, groups * (whole + 1) + costs).all():
        raise ValueError("its weights are not those of its costs")
    if (entries > rows).any() or ((entries != rows) & ~free).any():
        raise ValueError("its numbers of entries and rows contradict each other")
