"""``evaluate`` for rows that can have several labels: how much of the true labels the sets contain."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from rankset import notebook
from rankset.errors import RuleError
from rankset.evaluation.advice import labels_to_check
from rankset.evaluation.labels_by_group import GroupRecall, columns_of_groups, lines_of_groups, table_of_groups
from rankset.evaluation.labels_words import (
    gap_of,
    label_columns,
    metric_columns,
    number_lines,
    promise_of,
    title_of,
    worst_labels,
)
from rankset.evaluation.metrics import format_value
from rankset.inputs.frames import ARRAY
from rankset.inputs.vocabulary import Name
from rankset.targets import Target
from rankset.targets.base import forbids_more_labels

Range = tuple[float, float]

TABLES = ("metrics", "labels", "groups")
"""What a data frame can be about."""
ATTRIBUTES = {"size": "mean_size", "empty": "empty_rate"}
"""Attributes whose names differ from those in the table."""


@dataclass(frozen=True)
class LabelRecall:
    """Recall of one label, or of the rows with one number of labels.

    Attributes
    ----------
    name
        The label, or the number of labels.
    n
        Number of rows that have the label, or so many labels.
    recall
        Of a label: the share of its rows whose sets contain it. Of rows: the mean share of their labels that the sets
        contain.
    kept
        Share of all rows whose sets contain the label. Of rows: the mean size of their sets.
    false
        Of a label: the share of the rows without it whose sets contain it. NaN of rows, and if every row has the label.
    """

    name: Name
    n: int
    recall: float
    kept: float
    false: float = math.nan


@dataclass(frozen=True, repr=False, eq=False)
class LabelsEvaluation:
    """Evaluation of sets on rows that can have several labels, returned by ``evaluate``. Print it to see a table.

    Rows without labels are set aside: they count for ``mean_size``, ``empty_rate`` and ``precision`` only; also for
    ``observed`` if the target is ``CertainLabels``. Means over rows with labels are NaN if there are none of these.

    Attributes
    ----------
    alpha
        Allowed error rate.
    target
        The target of the sets.
    n, set_aside
        Number of rows with labels, and without.
    confidence
        Confidence of the intervals.
    recall, recall_interval
        Mean over rows of the share of their labels that the set contains; an interval for its expected value
        (Hoeffding and Bentkus).
    all_labels, all_labels_interval
        Share of rows whose sets contain all their labels; the exact interval (Clopper-Pearson).
    any_label
        Share of rows whose sets contain at least one of their labels.
    micro_recall
        Share of all labels of all rows that the sets contain.
    precision
        Mean over sets that are not empty of the share of their labels that are true. NaN if all are empty.
    mean_size, empty_rate
        Mean number of labels in a set, and share of empty sets.
    label_gap, lowest_label
        Mean over labels of the gap between the recall of a label and 1 - alpha; the label with the lowest recall.
    labels, unseen
        Recall of every label that occurs, and the labels that no row has (their recall is NaN).
    by_number
        Recall of rows with 1, 2, 3, and 4 or more labels; first, with the recall NaN, rows without labels.
    missed_more
        For each number m of labels, the share of rows of which the set misses more than m.
    observed
        What the target promises to be at least 1 - alpha, as observed: ``recall`` for ``Recall``, ``all_labels`` for
        ``AllLabels``, the share of sets without a false label for ``CertainLabels``, and so on. None for a target of
        your own, and if ``by_label``, and if ``observed_rows`` is 0.
    observed_rows
        Number of rows that ``observed`` is the mean of: rows with labels; rows with a false label for
        ``CertainLabels``, which promises nothing about other rows. None if ``observed`` is not known.
    by_label
        Whether the promise holds for groups of labels separately, as with ``PerLabel()``: then no number of all labels
        together is promised. Look at ``labels``.
    expected
        Random variation alone can explain a value of ``observed`` in this range, with probability ``confidence``; for
        ``Recall`` with at least this probability. If ``observed`` is outside, the printed table lists what to
        check. None if the range is not known, as in ``Evaluation``.
    groups
        Recall, rows with all labels, and mean set size of every group. Empty if no groups were passed.
    proven
        What is proven for ``observed``, if it is not 1 - alpha: 0 for a stratified split, ``CrossRule.guarantee`` for
        folds. None otherwise.
    sure
        The probability with which the promise holds for this calibration, if it was passed to ``predict`` as
        ``confidence``. None otherwise. (``confidence`` here is that of the intervals.)

    Examples
    --------
    >>> import rankset as rs
    >>> sets = rs.PredictionSets.from_mask([[True, True], [True, False], [True, True]])
    >>> evaluation = rs.evaluate(sets, [[0], [0, 1], [0, 1]], alpha=0.25, target="recall")
    >>> round(evaluation.recall, 4), evaluation.lowest_label.name
    (0.8333, 1)
    """

    alpha: float
    target: Target
    n: int
    set_aside: int
    confidence: float
    recall: float
    recall_interval: Range
    all_labels: float
    all_labels_interval: Range
    any_label: float
    micro_recall: float
    precision: float
    mean_size: float
    empty_rate: float
    label_gap: float
    labels: tuple[LabelRecall, ...]
    by_number: tuple[LabelRecall, ...]
    missed_more: tuple[float, ...]
    observed: float | None = None
    observed_rows: int | None = None
    by_label: bool = False
    expected: Range | None = None
    groups: tuple[GroupRecall, ...] = ()
    proven: float | None = None
    sure: float | None = None
    unseen: tuple[LabelRecall, ...] = ()

    @property
    def lowest_label(self) -> LabelRecall | None:
        """The label with the lowest recall, of several the one with the most rows. None if no row has a label."""
        return min(self.labels, key=lambda one: (one.recall, -one.n), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as a dictionary; every label and every group is a dictionary.

        Returns
        -------
        dict

        Examples
        --------
        >>> import rankset as rs
        >>> sets = rs.PredictionSets.from_mask([[True, True], [True, False]])
        >>> rs.evaluate(sets, [[0], [0, 1]], alpha=0.25, target="recall").to_dict()["mean_size"]
        1.5
        """
        return asdict(self) | {"target": repr(self.target)}

    def to_frame(self, backend: str | None = None, *, of: str = "metrics") -> Any:  # noqa: ANN401
        """Return the measures as a data frame with one row for each, or the labels or groups.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow". By default, the first of these libraries that is installed.
        of
            "metrics", "labels" or "groups".

        Returns
        -------
        data frame
            Of metrics: the columns "metric", "value", "low", "high" and "explanation". "low" and "high" are the ends of
            the interval of recall and of all labels, and NaN for others. Of labels: "label", "rows", "recall", "low"
            and "high" (the exact interval of recall), "kept" and "false". Labels that no row has come last.
            Of groups: the columns "group", "rows", "recall", "recall_low", "recall_high", "all_labels",
            "all_labels_low", "all_labels_high" and "mean_size".

        Raises
        ------
        RuleError
            If ``of`` is another text.

        Examples
        --------
        >>> import rankset as rs
        >>> sets = rs.PredictionSets.from_mask([[True, True], [True, False]])
        >>> found = rs.evaluate(sets, [[0], [0, 1]], alpha=0.25, target="recall")
        >>> found.to_frame("pandas")["metric"].tolist()[:3]
        ['observed', 'recall', 'all labels']
        >>> found.to_frame("pandas", of="labels")["recall"].tolist()
        [1.0, 0.0]
        """
        if of not in TABLES:
            raise RuleError.option("of", of, TABLES)
        if of == "groups":
            return ARRAY.filled(columns_of_groups(self.groups), backend)
        return ARRAY.filled(metric_columns(self) if of == "metrics" else label_columns(self), backend)

    def __repr__(self) -> str:
        told = (f"  {name:<20}{value:>8}  {remark}".rstrip() for name, value, remark in self._lines())
        groups = lines_of_groups(self.groups, self.confidence)
        return "\n".join([title_of(self), *told, *number_lines(self), *groups, *worst_labels(self).lines()])

    def _repr_html_(self) -> str:
        rows = [(name, value, notebook.faint(remark)) for name, value, remark in self._lines()]
        worst = worst_labels(self)
        labels = [(name, of, notebook.bar(value, f"{value:.4f}")) for name, value, of in worst.labels]
        tables = [notebook.table(rows), notebook.table(labels, ("label", "rows", worst.title))]
        return notebook.card(title_of(self), *tables, *table_of_groups(self.groups))

    @property
    def _variation(self) -> list[str]:
        """Whether random variation can explain the difference, and what to check if not; no lines if not known."""
        if self.expected is None or self.observed is None:
            return []
        low, high = self.expected
        share = f"{self.confidence:.0%} of calibrations"
        remark = f"sampling variation alone gives {low:.4f} to {high:.4f} in {share}"
        if low <= self.observed <= high:
            return [f"{remark}: inside"]
        advice = labels_to_check(
            too_low=self.observed < low,
            confidence=self.confidence,
            about_false_labels=forbids_more_labels(self.target),
        )
        return [f"{remark}: OUTSIDE", *advice]

    def _value(self, name: str) -> float:
        """Return the value of a line of the table by its name."""
        found = getattr(self, ATTRIBUTES.get(name, name.replace(" ", "_")))
        return math.nan if found is None else float(found)

    def _lines(self) -> list[tuple[str, str, str]]:
        """Name, value and remark of each line."""
        promise, *less = promise_of(self)
        interval = f"{self.confidence:.0%} interval {{:.4f}} to {{:.4f}}"
        return [
            ("observed", format_value(math.nan if self.observed is None else self.observed), promise),
            *(("", "", line) for line in (*less, *self._variation)),
            ("recall", format_value(self.recall), interval.format(*self.recall_interval)),
            ("all labels", format_value(self.all_labels), interval.format(*self.all_labels_interval)),
            ("any label", format_value(self.any_label), "rows with at least one of their labels in the set"),
            ("micro recall", format_value(self.micro_recall), "share of all labels of all rows"),
            ("precision", format_value(self.precision), "mean share of true labels in sets that are not empty"),
            ("size", format_value(self.mean_size), "mean number of labels in a set"),
            ("empty", format_value(self.empty_rate), "share of empty sets"),
            *gap_of(self),
        ]
