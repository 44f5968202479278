"""Warnings about groups that keep every label, or none: too few calibration rows, or too many absent labels."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rankset.core.alpha import smallest_alpha
from rankset.core.promise import Promise
from rankset.errors import Option, warn
from rankset.rules import absent_rows
from rankset.rules.sentences import readable_count
from rankset.rules.spec import RuleSpec
from rankset.targets import AtMostMissed

Ints = NDArray[np.int64]


def warn_of_small_groups(
    spec: RuleSpec, promise: Promise, counts: Ints, row_groups: Ints, absent: Ints | None = None
) -> None:
    """Warn of the groups among some rows that keep every label at this level, or none if the target forbids false ones.

    ``counts`` and ``absent`` have one entry per group: its calibration rows, and how many of them have absent labels.
    ``row_groups`` are the row groups of the rows, by number; one entry if all rows share it.
    """
    if not len(row_groups):
        return
    present, needed, level = np.unique(row_groups), promise.rows_needed, promise.alpha
    if spec.sharing is not None:
        _warn_of_few_rows(needed, level, counts, absent)
        return
    used = spec.numbers(np.arange(spec.n_columns)[np.newaxis, :], present[:, np.newaxis])
    names = spec if not spec.condition.needs_groups else spec.with_groups(spec.groups.at(present))
    complete = np.ones(len(counts), dtype=bool)
    if absent is not None:
        complete = absent == 0
        numbers = np.unique(used[(used >= 0) & ~complete[used]]).tolist()
        titles = [names.group_name(one, used) if spec.n_groups > 1 else "" for one in numbers]
        _warn_of_absent(level, list(zip(titles, counts[numbers].tolist(), absent[numbers].tolist(), strict=True)))
    small = np.unique(used[(used >= 0) & (counts[used] < needed) & complete[used]])
    if not len(small):
        return
    all_sets = "are empty" if spec.below else "contain every label"
    got = ", ".join(f"{counts[number]} for {names.group_name(number, used)}" for number in small[:5])
    more = f" and {len(small) - 5:,} more groups" if len(small) > 5 else ""
    warn(
        f"at least {readable_count(needed)} calibration rows are needed for ",
        Option("alpha", float(level)),
        *(() if promise.confidence is None else (" and ", Option("confidence", float(promise.confidence)))),
        f", got {counts.sum()}. All sets {all_sets}." if spec.n_groups == 1 else f", got {got}{more}. {_kept(spec)}",
    )


def warn_of_kept_groups(spec: RuleSpec, level: Fraction, kept: NDArray[np.bool_], row_groups: Ints) -> None:
    """Warn of the groups among some rows in which a row of weight 1 keeps every label, if rows have weights.

    ``kept`` says which groups keep every label; ``row_groups`` as in ``warn_of_small_groups``.
    """
    present = np.unique(row_groups)
    used = spec.numbers(np.arange(spec.n_columns)[np.newaxis, :], present[:, np.newaxis])
    found = np.unique(used[(used >= 0) & kept[used]])
    if not len(found):
        return
    names = spec if not spec.condition.needs_groups else spec.with_groups(spec.groups.at(present))
    listed = ", ".join(names.group_name(number, used) for number in found[:5])
    more = f" and {len(found) - 5:,} more groups" if len(found) > 5 else ""
    warn(
        "the calibration rows have too little weight for ",
        Option("alpha", float(level)),
        f" and new rows of weight 1{'' if spec.n_groups == 1 else f' in {listed}{more}'}. No label is left out there. "
        "Use more calibration rows, or check that the weights of calibration rows and new rows have the same scale.",
    )


def _warn_of_few_rows(needed: int, level: Fraction, counts: Ints, absent: Ints | None) -> None:
    """Warn if groups share rows, and all rows together are too few, or too many of them have absent labels."""
    n, lost = int(counts.sum()), 0 if absent is None else int(absent.sum())
    if lost:
        _warn_of_absent(level, [("", n, lost)])
    elif n < needed:
        few = f"at least {readable_count(needed)} calibration rows are needed for "
        warn(few, Option("alpha", float(level)), f", got {n}. All sets contain every label.")


def warn_of_no_promise(spec: RuleSpec) -> None:
    """Warn if a target lets sets miss as many labels as groups of the condition have: then it promises nothing."""
    if not isinstance(spec.target, AtMostMissed) or not spec.target.m:
        return
    table = np.broadcast_to(spec.table(), (spec.table().shape[0], spec.n_columns))
    sizes = [np.bincount(row[row >= 0], minlength=spec.n_groups) for row in table]
    largest = np.max(sizes, axis=0, initial=0)
    free, groups = int((largest <= spec.target.m).sum()), spec.n_groups
    if not free:
        return
    where = "" if free == groups else f" in {free:,} of {groups:,} groups"
    most = int(largest[largest <= spec.target.m].max())
    among = "these groups have" if groups > 1 else "there are"
    rest = "; for a promise about all labels of a row leave out the condition" if spec.by_label else ""
    warn(
        f"{spec.target!r} with {spec.condition!r} promises nothing{where}: {among} at most {most} "
        f"label{'s' * (most != 1)}, of which {spec.target.m} may be missed. Pass ",
        Option("target", "recall"),
        f"{rest}.",
    )


def _kept(spec: RuleSpec) -> str:
    """Return what happens to groups with too few rows."""
    only_labels = spec.by_label and not spec.condition.needs_groups
    if only_labels:
        return f"These labels are {'never' if spec.below else 'always'} in the set."
    return f"In these groups {'every' if spec.below else 'no'} label is left out."


def _warn_of_absent(level: Fraction, groups: list[tuple[str, int, int]]) -> None:
    """Warn of those groups (name, rows, absent labels) in which too many true labels are absent for this level."""
    sizes = [(name, n, absent, least) for name, n, absent in groups if (least := smallest_alpha(n, absent)) > level]
    if sizes:
        warn(*absent_rows.unattained(level, sizes))
