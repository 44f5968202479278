"""``Evaluation``: the result of ``evaluate``, printed as a table with sections."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankset import notebook
from rankset.errors import MetricError
from rankset.evaluation.class_ranges import ClassCounts, class_ranges
from rankset.evaluation.evaluation_frame import evaluation_frame
from rankset.evaluation.evaluation_remarks import REMARKS, coverage_notes, ends_in_words, rows_and_size
from rankset.evaluation.metrics import METRICS, SECTIONS, Ints, Metric, format_value
from rankset.evaluation.shares import Share
from rankset.inputs.vocabulary import short
from rankset.streams.exchangeability import Exchangeability

SHOWN_CLASSES = 10
"""Number of classes listed in a notebook, those with the lowest coverage."""
NAME_WIDTH = max(map(len, METRICS))


class Line(NamedTuple):
    """One line of the printed table."""

    name: str
    value: str
    remark: str


@dataclass(frozen=True, repr=False, eq=False)
class Evaluation:
    """Metrics of prediction sets on rows with known labels, returned by ``evaluate``. Print it to see a table.

    ``values`` has all metrics of the page "Metrics" by name. ``evaluation["class gap"]`` returns one metric. A metric
    is NaN if it is not defined. For example, the accuracy of one-label sets is not defined if no set has exactly one
    label. In the printed table such a metric is a dash, followed by the reason.

    Attributes
    ----------
    alpha
        Allowed error rate.
    n
        Number of rows.
    confidence
        Confidence of ``interval`` and ``expected``.
    values
        All metrics by name.
    interval
        Exact (Clopper-Pearson) confidence interval for the coverage of the rule on future rows. It is computed from
        these ``n`` rows only.
    expected
        Random variation alone can explain a coverage in this range. If coverage is outside, the printed table lists
        what to check. The range depends on ``n`` and on the number of
        calibration rows. The upper end is 1 if coverage can be higher because of ties or empty="top". None if the range
        is not known: if there are several thresholds, if you selected rows, for example by ``sets[mask]``,
        or if the sets were not predicted by a rule.
    size_counts
        Number of sets of size 0, 1, 2, …
    strata
        Two ``Share``: the range of set sizes with the largest gap for ``sscv``, and the range with the largest gap for
        ``sscv_empty_apart``.
    classes
        Number of rows, coverage and mean set size of every class that occurs in the labels.
    groups
        Number of rows, coverage and mean set size of every group. Empty if no groups were passed.
    absent
        Number of rows with the label ``rankset.ABSENT``. No set contains it.
    attained
        False if the labels of too many calibration rows are ``rankset.ABSENT`` for this alpha. Then every candidate is
        in its set, and coverage is the share of rows whose true label is among the candidates. ``expected`` is about
        this share.
    proven
        The coverage that is proven for the rule of the sets, if it is not 1 - alpha: with ``CrossConformal`` it is
        lower, with a stratified split it is 0. None otherwise.
    cost
        With the target ``Cost``: the mean cost of missing the true label, divided by the largest cost. At most alpha is
        promised on average. None for other targets.
    sure
        The probability with which the promise holds for this calibration, if it was passed to ``predict`` as
        ``confidence``. None otherwise. (``confidence`` here is that of the interval.)
    balanced
        Whether the promise is about macro coverage, as with ``Balanced``, and not about coverage.
    effective_rows
        If calibration rows have weights: how many rows of equal weight are as many. None otherwise.
    exchangeability
        Whether these rows look like the calibration rows, if it was passed to ``evaluate``. None otherwise.

    Examples
    --------
    >>> import rankset as rs
    >>> sets = rs.PredictionSets.from_mask([[True, False], [True, True], [False, True], [True, False]])
    >>> evaluation = rs.evaluate(sets, [0, 1, 1, 1], alpha=0.25)
    >>> evaluation.coverage, evaluation.singleton_hits, evaluation["classes below 50%"]
    (0.75, 0.6666666666666666, 0.0)
    """

    alpha: float
    n: int
    confidence: float
    values: Mapping[str, float]
    interval: tuple[float, float]
    expected: tuple[float, float] | None
    size_counts: Ints
    strata: tuple[Share, Share]
    classes: tuple[Share, ...]
    groups: tuple[Share, ...] = ()
    absent: int = 0
    attained: bool = True
    proven: float | None = None
    cost: float | None = None
    sure: float | None = None
    balanced: bool = False
    effective_rows: float | None = None
    exchangeability: Exchangeability | None = None

    def __getitem__(self, name: str) -> float:
        """Return the metric with this name; raise a MetricError, which is a KeyError, if there is none."""
        if name not in self.values:
            raise MetricError.unknown(name, tuple(self.values))
        return self.values[name]

    @property
    def coverage(self) -> float:
        """Fraction of rows whose set contains the true label."""
        return self.values["coverage"]

    @property
    def sscv(self) -> float:
        """Largest gap between coverage and 1 - alpha, over ranges of set sizes (0–1, 2–3, 4–10, … labels)."""
        return self.values["SSCV"]

    @property
    def sscv_empty_apart(self) -> float:
        """Like ``sscv``, but empty sets are a separate range (0, 1, 2–3, 4–10, … labels)."""
        return self.values["SSCV*"]

    @property
    def mean_size(self) -> float:
        """Mean number of labels in a set."""
        return self.values["size"]

    @property
    def singleton_rate(self) -> float:
        """Fraction of sets with exactly one label."""
        return self.values["singletons"]

    @property
    def singleton_hits(self) -> float:
        """Fraction of one-label sets that contain the true label. NaN if there are no one-label sets."""
        return self.values["singleton accuracy"]

    @property
    def empty_rate(self) -> float:
        """Fraction of empty sets."""
        return self.values["empty"]

    @property
    def macro_coverage(self) -> float:
        """Mean over all classes of the coverage of a class."""
        return self.values["macro coverage"]

    @property
    def class_gap(self) -> float:
        """Mean over all classes of the absolute gap between the coverage of a class and 1 - alpha (CovGap)."""
        return self.values["class gap"]

    @property
    def rms_class_gap(self) -> float:
        """Root mean square gap of classes to 1 - alpha, less what chance adds. NaN if no class has two rows."""
        return self.values["RMS class gap"]

    @property
    def classes_far_below(self) -> float:
        """Fraction of classes whose coverage is below 1 - alpha - 0.1."""
        return self.values["classes far below"]

    @property
    def classes_below_half(self) -> float:
        """Fraction of classes whose coverage is below 50 %."""
        return self.values["classes below 50%"]

    @property
    def worst_class_coverage(self) -> float:
        """Coverage of the class with the lowest coverage."""
        return self.values["worst class"]

    @property
    def worst_class(self) -> Share:
        """The class with the lowest coverage. If several classes have this coverage, the one with the most rows.

        Raises ``ValueError`` if all labels are ``rankset.ABSENT``, because there is no class then.
        """
        return min(self.classes, key=lambda share: (share.coverage, -share.n))

    @cached_property
    def ranges(self) -> Mapping[str, tuple[float, float]]:
        """Confidence intervals of metrics, by name: coverage, macro coverage, and the shares of classes below a level.

        Those of classes allow for the few rows of a class: by chance alone, many classes with few rows are below a
        level. The page "Metrics" has the formulas.
        """
        rows = np.array([one.n for one in self.classes], dtype=np.int64)
        hits = np.array([round(one.coverage * one.n) for one in self.classes], dtype=np.int64)
        of_classes = class_ranges(ClassCounts(hits[np.newaxis], rows), [self._level], self.confidence)
        return {"coverage": self.interval} | {name: one for name, (one,) in of_classes.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes and metrics as a dictionary.

        Returns
        -------
        dict
            The keys are attribute names, such as "alpha", and metric keys, such as "mean_size". "sscv_from"
            is the stratum that determines SSCV, and "sscv_empty_apart_from" the one that determines SSCV*.
            Every class, group and stratum is a dictionary. "ranges" has the intervals of metrics by key. "proven",
            "cost", "sure", "effective_rows" and "exchangeability" are there only if they are not None, "balanced" only
            if it is True.

        Examples
        --------
        >>> import rankset as rs
        >>> sets = rs.PredictionSets.from_mask([[True, False], [True, True]])
        >>> rs.evaluate(sets, [0, 1], alpha=0.25).to_dict()["mean_size"]
        1.5
        """
        facts = asdict(self)
        values, strata = facts.pop("values"), facts.pop("strata")
        for name in ("proven", "cost", "sure", "balanced", "effective_rows", "exchangeability"):
            if facts[name] is None or facts[name] is False:
                del facts[name]
        keys = {METRICS[name].key: value for name, value in values.items()}
        facts["ranges"] = {METRICS[name].key: ends for name, ends in self.ranges.items()}
        return facts | keys | dict(zip(("sscv_from", "sscv_empty_apart_from"), strata, strict=True))

    def to_frame(self, backend: str | None = None, *, of: str = "metrics") -> Any:  # noqa: ANN401
        """Return the metrics as a data frame with one row per metric, or the classes or groups with one row for each.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow". By default, the first of these libraries that is installed.
        of
            "metrics", "classes" or "groups".

        Returns
        -------
        data frame
            Of metrics: the columns "section", "metric", "value", "low", "high" and "explanation". "low" and "high" are
            the ends of the interval in ``ranges``, and NaN for metrics without one. Of classes and groups: the columns
            "name", "n", "coverage", "mean_size", and "low" and "high", the exact interval of the coverage.

        Raises
        ------
        RuleError
            If ``of`` is another text.

        Examples
        --------
        >>> import rankset as rs
        >>> sets = rs.PredictionSets.from_mask([[True, False], [True, True], [False, True], [True, False]])
        >>> evaluation = rs.evaluate(sets, [0, 1, 1, 1], alpha=0.25)
        >>> evaluation.to_frame("pandas")["metric"].tolist()[:3]
        ['coverage', 'SSCV', 'SSCV*']
        >>> evaluation.to_frame("pandas", of="classes")["coverage"].round(2).tolist()
        [1.0, 0.67]
        """
        return evaluation_frame(self, backend, of)

    def __repr__(self) -> str:
        lines = [self._title]
        for title, rows in self._sections():
            lines += [
                title,
                *(f"  {name:<{NAME_WIDTH}}  {value:>7}  {remark}".rstrip() for name, value, remark in rows),
            ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str, str]] = []
        for title, lines in self._sections():
            rows += [
                (notebook.faint(title), "", ""),
                *((one.name, one.value, notebook.faint(one.remark)) for one in lines),
            ]
        return notebook.card(self._title, notebook.table(rows), *self._classes_html())

    def _classes_html(self) -> tuple[str, str]:
        shown = sorted(self.classes, key=lambda share: share.coverage)[:SHOWN_CLASSES]
        rows = [
            (
                one.name,
                f"{one.n:,}",
                notebook.bar(one.coverage, f"{one.coverage:.4f}"),
                ends_in_words(one.interval(self.confidence)),
                f"{one.mean_size:.3f}",
            )
            for one in shown
        ]
        heads = ("class", "rows", "coverage", f"{self.confidence:.0%} interval", "mean size")
        title = f"Classes with the lowest coverage, {len(rows)} of {len(self.classes):,}"
        return notebook.faint(title), notebook.table(rows, heads)

    @property
    def _level(self) -> Fraction:
        """Alpha as the decimal that is printed; 0 if it is too small for a float."""
        return Fraction(str(self.alpha))

    @property
    def _title(self) -> str:
        sure = "" if self.sure is None else f" with confidence {self.sure:g}"
        return f"Evaluation of {self.n:,} rows at alpha={self.alpha:g}{sure}"

    def _sections(self) -> list[tuple[str, list[Line]]]:
        """Titles and lines of the printed table."""
        sections: list[tuple[str, list[Line]]] = [
            (title, [line for metric in METRICS.values() if metric.section == title for line in self._lines(metric)])
            for title in SECTIONS
        ]
        groups = [
            Line(f"group {short(repr(one.name))}", format_value(one.coverage), rows_and_size(one))
            for one in self.groups
        ]
        return [*sections, ("Groups", groups)] if groups else sections

    def _lines(self, metric: Metric) -> list[Line]:
        """The line of a metric, and for coverage the range to expect."""
        value = self.values[metric.name]
        if math.isnan(value):
            return [Line(metric.name, format_value(value), metric.undefined)]
        remark = REMARKS[metric.name](self) if metric.name in REMARKS else metric.explanation
        more = coverage_notes(self) if metric.name == "coverage" else []
        return [Line(metric.name, format_value(value), remark), *(Line("", "", note) for note in more)]
