"""``evaluate`` for rows that can have several labels: how much of the true labels the sets contain."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from rankset import notebook
from rankset.errors import RuleError
from rankset.evaluation.advice import labels_to_check
from rankset.evaluation.labels_by_group import (
    GroupRecall,
    columns_of_groups,
    lines_of_groups,
    rows_in_words,
    table_of_groups,
)
from rankset.evaluation.metrics import format_value
from rankset.inputs.frames import ARRAY
from rankset.inputs.vocabulary import Name, short
from rankset.targets import Target
from rankset.targets.base import forbids_more_labels, is_about_false_labels

Range = tuple[float, float]

SHOWN = 5
"""Number of labels listed in the printed table, those with the lowest recall."""


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
    """

    name: Name
    n: int
    recall: float
    kept: float


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
    labels
        Recall of every label that occurs.
    by_number
        Recall of rows with 1, 2, 3, and 4 or more labels.
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

    def to_frame(self, backend: str | None = None, *, of: str = "labels") -> Any:  # noqa: ANN401
        """Return the labels as a data frame with the columns "label", "rows", "recall" and "kept"; or the groups.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow". By default, the first of these libraries that is installed.
        of
            "labels" or "groups".

        Returns
        -------
        data frame
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
        >>> rs.evaluate(sets, [[0], [0, 1]], alpha=0.25, target="recall").to_frame("pandas")["recall"].tolist()
        [1.0, 0.0]
        """
        if of not in ("labels", "groups"):
            raise RuleError.option("of", of, ("labels", "groups"))
        if of == "groups":
            return ARRAY.filled(columns_of_groups(self.groups), backend)
        names = {"label": "name", "rows": "n", "recall": "recall", "kept": "kept"}
        return ARRAY.filled(
            {title: [getattr(one, name) for one in self.labels] for title, name in names.items()}, backend
        )

    def __repr__(self) -> str:
        lines = [self._title, *(f"  {name:<20}{value:>8}  {remark}".rstrip() for name, value, remark in self._lines())]
        lines.append("Rows by number of labels")
        lines += [
            f"  {one.name!s:<20}{one.recall:>8.4f}  {rows_in_words(one.n)}, mean size {one.kept:.3f}"
            for one in self.by_number
        ]
        lines += lines_of_groups(self.groups, self.confidence)
        lines.append("Labels with the lowest recall")
        return "\n".join(
            [
                *lines,
                *(f"  {short(str(one.name)):<20}{one.recall:>8.4f}  {rows_in_words(one.n)}" for one in self._lowest()),
            ]
        )

    def _repr_html_(self) -> str:
        rows = [(name, value, notebook.faint(remark)) for name, value, remark in self._lines()]
        worst = [(one.name, f"{one.n:,}", notebook.bar(one.recall, f"{one.recall:.4f}")) for one in self._lowest()]
        head = ("label", "rows", "recall")
        return notebook.card(
            self._title, notebook.table(rows), notebook.table(worst, head), *table_of_groups(self.groups)
        )

    @property
    def _title(self) -> str:
        if forbids_more_labels(self.target):
            known = self.observed_rows is not None and is_about_false_labels(self.target)
            some = f", {self.observed_rows:,} of them with a false label," if known else ""
            return (
                f"Evaluation of {self.n + self.set_aside:,} rows{some} at alpha={self.alpha:g}, target {self.target!r}"
            )
        aside = f", {self.set_aside:,} rows without labels set aside" if self.set_aside else ""
        return f"Evaluation of {self.n:,} rows with labels at alpha={self.alpha:g}, target {self.target!r}{aside}"

    @property
    def _promise(self) -> str:
        """What is promised, in words."""
        words = str(getattr(self.target, "promise", "")).replace("{}", f"{1 - self.alpha:g}")
        where = " in every group of labels separately" if self.by_label else ""
        return f"promised{where}: {words}" if words else ""

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

    def _lowest(self) -> list[LabelRecall]:
        return sorted(self.labels, key=lambda one: (one.recall, -one.n))[:SHOWN]

    def _lines(self) -> list[tuple[str, str, str]]:
        """Name, value and remark of each line."""
        interval = f"{self.confidence:.0%} interval {{:.4f}} to {{:.4f}}"
        return [
            ("observed", format_value(math.nan if self.observed is None else self.observed), self._promise),
            *(("", "", line) for line in self._variation),
            ("recall", format_value(self.recall), interval.format(*self.recall_interval)),
            ("all labels", format_value(self.all_labels), interval.format(*self.all_labels_interval)),
            ("any label", format_value(self.any_label), "rows with at least one of their labels in the set"),
            ("micro recall", format_value(self.micro_recall), "share of all labels of all rows"),
            ("precision", format_value(self.precision), "mean share of true labels in sets that are not empty"),
            ("size", format_value(self.mean_size), "mean number of labels in a set"),
            ("empty", format_value(self.empty_rate), "share of empty sets"),
            ("label gap", format_value(self.label_gap), "mean gap between the recall of a label and 1 - alpha"),
        ]
