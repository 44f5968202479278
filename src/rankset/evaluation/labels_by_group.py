"""Recall, and rows with all labels, in groups of rows that can have several labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankset import notebook
from rankset.core.coverage_law import binomial_interval
from rankset.core.mean_interval import mean_interval
from rankset.evaluation.metrics import format_value
from rankset.evaluation.shares import Groups
from rankset.inputs.vocabulary import Name, short

Range = tuple[float, float]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class GroupRecall:
    """What the sets of one group of rows contain.

    Attributes
    ----------
    name
        The group.
    n, set_aside
        Number of its rows with labels, and without.
    observed
        What the target promises to be at least 1 - alpha, as observed in the group; as in ``LabelsEvaluation``.
    recall, recall_interval
        Mean over its rows of the share of their labels that the set contains, NaN if no row has a label; an interval
        for its expected value, None if it was not asked for.
    all_labels, all_labels_interval
        Share of its rows whose sets contain all their labels, and the exact interval.
    mean_size
        Mean number of labels in the sets of all its rows.
    """

    name: Name
    n: int
    set_aside: int
    observed: float | None
    recall: float
    recall_interval: Range | None
    all_labels: float
    all_labels_interval: Range | None
    mean_size: float


class Kept(NamedTuple):
    """How far the promise of a target was kept in each row, between 0 and 1, and which rows it is about."""

    values: Floats
    counted: NDArray[np.bool_]

    @property
    def n(self) -> int:
        """Number of rows that the promise is about."""
        return int(np.count_nonzero(self.counted))

    @property
    def mean(self) -> float:
        """Mean over the rows that the promise is about."""
        return float(self.values[self.counted].mean())


def recall_by_group(
    groups: Groups, hits: Ints, numbers: Ints, sizes: Ints, kept: Kept | None, confidence: float | None
) -> tuple[GroupRecall, ...]:
    """Return one entry for every group that has rows.

    Parameters
    ----------
    hits, numbers, sizes : for each row the true labels in its set, its true labels, and the labels in its set.
    kept : what the target promises; None if that is not known.
    confidence : of the intervals; None: without intervals, which take time.
    """
    has, n = numbers > 0, len(groups.names)

    def total(values: NDArray[Any], rows: NDArray[np.bool_]) -> Floats:
        return np.bincount(groups.codes[rows], values[rows], n).astype(np.float64)

    every = np.ones(len(numbers), dtype=np.bool_)
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: no row has labels
        counts, rows = total(has, every), total(every, every)
        complete, sizes_of = total(hits == numbers, has), total(sizes, every) / rows
        recall = total(hits / np.maximum(numbers, 1), has) / counts
        observed = None if kept is None else total(kept.values, kept.counted) / total(kept.counted, every)
    return tuple(
        GroupRecall(
            groups.names.values[code],
            int(counts[code]),
            int(rows[code] - counts[code]),
            None if observed is None or np.isnan(observed[code]) else float(observed[code]),
            float(recall[code]),
            None if confidence is None else mean_range(float(recall[code]), int(counts[code]), confidence),
            float(complete[code] / counts[code]) if counts[code] else float("nan"),
            None if confidence is None else _share_range(int(complete[code]), int(counts[code]), confidence),
            float(sizes_of[code]),
        )
        for code in np.flatnonzero(rows).tolist()
    )


def mean_range(mean: float, n: int, confidence: float) -> Range:
    """Return the interval of a mean; nothing is known without rows."""
    return mean_interval(mean, n, confidence) if n else (0.0, 1.0)


def _share_range(count: int, n: int, confidence: float) -> Range:
    """Return the interval of a share; nothing is known without rows."""
    return binomial_interval(count, n, confidence) if n else (0.0, 1.0)


def rows_in_words(n: int) -> str:
    """Return a number of rows in words."""
    return f"{n:,} row{'s' * (n != 1)}"


def lines_of_groups(groups: Sequence[GroupRecall], confidence: float) -> list[str]:
    """Return the lines of a printed table, none without groups."""
    lines = []
    for one in groups:
        name = f"group {short(repr(one.name))}"
        recall, complete = format_value(one.recall), format_value(one.all_labels)
        remark = f"all labels {complete}, {rows_in_words(one.n)}, mean size {one.mean_size:.3f}"
        lines.append(f"  {name:<20}{recall:>8}  {_ends(one.recall_interval)}{remark}")
    return [f"Recall of groups, with {confidence:.0%} intervals", *lines] if lines else []


def table_of_groups(groups: Sequence[GroupRecall]) -> list[str]:
    """Return the table of a notebook, none without groups."""
    rows = [
        (one.name, f"{one.n:,}", format_value(one.recall), format_value(one.all_labels), f"{one.mean_size:.3f}")
        for one in groups
    ]
    return [notebook.table(rows, ("group", "rows", "recall", "all labels", "mean size"))] if rows else []


def columns_of_groups(groups: Sequence[GroupRecall]) -> dict[Name, list[Any]]:
    """Return the columns of a data frame with one row per group."""
    nothing = (float("nan"), float("nan"))
    recalls = [one.recall_interval or nothing for one in groups]
    shares = [one.all_labels_interval or nothing for one in groups]
    return {
        "group": [one.name for one in groups],
        "rows": [one.n for one in groups],
        "recall": [one.recall for one in groups],
        "recall_low": [low for low, _ in recalls],
        "recall_high": [high for _, high in recalls],
        "all_labels": [one.all_labels for one in groups],
        "all_labels_low": [low for low, _ in shares],
        "all_labels_high": [high for _, high in shares],
        "mean_size": [one.mean_size for one in groups],
    }


def _ends(interval: Range | None) -> str:
    """Return the ends of an interval in words, with a comma behind them."""
    return "" if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}, "
