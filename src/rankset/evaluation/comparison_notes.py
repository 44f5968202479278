"""The title above and the notes below the tables of a ``Comparison``: only what the tables show is explained."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankset.conditions import Marginal, PerLabel, PerLabelAndGroup, shares_rows
from rankset.targets import OneLabel
from rankset.targets.base import has_several_labels

if TYPE_CHECKING:
    from rankset.evaluation.comparison import Comparison

WIDTH = 110
"""Number of characters in a line of the notes."""

NOTE_OF_ERRORS = (
    "± is one standard error: how much the number would change with other rows of the same kind and other halves. The "
    "{} of random halves hardly depends on the rows, so its ± is small. Numbers without ± have no standard error "
    "that was checked."
)
NOTE_OF_SPREAD = (
    "In parentheses: the standard deviation over the halves, how much one calibration on half of the rows differs from "
    "another."
)
NOTE_OF_DASHES = "A dash: not defined in any half."

NOTE_OF_ONE = (
    "One random half has no standard errors: how much the numbers would change with another half is not known, so "
    "differences cannot be distinguished from noise. Pass repeats=20 or more."
)

NOTE_OF_SMALL_GROUPS = (
    "No standard errors: at least one group of the condition has so few rows that it keeps every label in some halves, "
    "and a threshold in others."
)

NOTE_OF_SHARED_ROWS = "No standard errors: they are not known for groups that share rows."

NOTE_OF_TARGET = "risk is the mean loss of rows with labels, which the target promises to be at most alpha on average."
NOTE_OF_TARGET_WITHOUT_ERRORS = (
    "No standard errors: they are known for one threshold, and if every half has enough rows with labels for alpha."
)

NOTE_OF_LABELS = (
    "With thresholds per label every label of a row counts on its own for risk, so risk is not 1 - recall, the mean "
    "over rows."
)

NOTE_OF_AUTO = (
    "auto is not a fixed score: in each half that calibrates, rankset.auto fits and chooses a score on some rows and "
    "calibrates on the others. No standard error is known for it."
)


def title(comparison: Comparison) -> str:
    """Return what was compared: the number of scores, halves and rows, alpha, and the condition."""
    repeats, count = comparison.values.shape[2], len(comparison.scores)
    auto = "" if comparison.auto_values is None else " and auto"
    halves = _counted(repeats, "random half", "random halves")
    condition = "" if isinstance(comparison.condition, Marginal) else f", {comparison.condition!r}"
    condition += "" if comparison.target == OneLabel() else f", {comparison.target!r}"
    return (
        f"Comparison of {_counted(count, 'score', 'scores')}{auto} on {halves}"
        f" of {comparison.n:,} rows, alpha={comparison.alpha:g}{condition}"
    )


def note(comparison: Comparison) -> str:
    """Return what the numbers of the tables mean."""
    lines, one_label = comparison.lines, comparison.target == OneLabel()
    told = [] if one_label else [NOTE_OF_TARGET]
    if isinstance(comparison.condition, PerLabel | PerLabelAndGroup) and has_several_labels(comparison.target):
        told.append(NOTE_OF_LABELS)
    if comparison.values.shape[2] == 1:
        told.append(NOTE_OF_ONE)
    elif shares_rows(comparison.condition):
        told.append(NOTE_OF_SHARED_ROWS)
    elif np.isnan(comparison.errors[:, comparison.measures.index("size")]).all():
        told.append(NOTE_OF_SMALL_GROUPS if one_label else NOTE_OF_TARGET_WITHOUT_ERRORS)
    if any(np.isfinite(line.errors).any() for line in lines):
        told.append(NOTE_OF_ERRORS.format("coverage" if one_label else "risk"))
    if any(np.isfinite(line.spread).any() for line in lines):
        told.append(NOTE_OF_SPREAD)
    if any(np.isnan(line.means).any() for line in lines):
        told.append(NOTE_OF_DASHES)
    return " ".join(told if comparison.auto_values is None else [*told, NOTE_OF_AUTO])


def common_note(comparisons: Sequence[Comparison]) -> str | None:
    """Return one note for all tables, or None if their notes differ by more than dashes."""
    notes = {note(comparison) for comparison in comparisons}
    alike = {one.replace(f" {NOTE_OF_DASHES}", "") for one in notes}
    return max(notes, key=len) if len(alike) == 1 else None


def wrapped(text: str) -> str:
    """Return a note in lines of at most 110 characters."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _counted(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"
