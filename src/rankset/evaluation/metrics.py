"""The registry of all metrics of prediction sets.

``METRICS`` is the only list. ``evaluate``, ``compare``, ``choose``, the HTML report, the command line and the paper's
experiment take their metrics from it. To add a metric, add one ``Metric`` here and one line to
``docs/understand/metrics.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankset.core.alpha import Alpha, exact_alpha
from rankset.errors import RuleError

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Formula = Callable[[Bools, Ints, Ints, Fraction], float]
"""Function of four arguments: whether each row is covered, set sizes, column numbers of the labels (-1: absent from the
candidates), and alpha."""
RowValues = Callable[[Bools, Ints], NDArray[np.generic]]
"""Function of two arrays of the same shape: whether each row is covered, and set sizes. It works elementwise."""

Section = Literal["Coverage", "Set size", "Classes", "Own measures"]
"""The part of a table in which a metric is shown."""
OWN_SECTION: Section = "Own measures"
"""The section of measures that users pass to ``compare``; they are not in the registry."""
SECTIONS: tuple[Section, ...] = ("Coverage", "Set size", "Classes")
Better = Literal["smaller", "larger", "closer to 1 - alpha"]

Strata = Sequence[int]
PAPER_STRATA: Strata = (1, 3, 10, 100, 1000)
"""The largest set size of each stratum of the paper's SSCV (0–1, 2–3, …). Larger sets form one more stratum."""
EMPTY_APART: Strata = (0, *PAPER_STRATA)
"""The same strata, with empty sets in a stratum of their own."""

MACRO_COVERAGE = "macro coverage"
CLASSES_FAR_BELOW = "classes far below"
CLASSES_BELOW_HALF = "classes below 50%"
"""Metrics of classes that have intervals (``class_ranges``)."""
FAR = Fraction(1, 10)
"""A class is far below 1 - alpha if its coverage is smaller by more than this."""

UNDEFINED = "–"
"""Shown instead of a value that is not defined."""


@dataclass(frozen=True)
class Metric:
    """A metric: its name, its formula, and how it is shown.

    Parameters
    ----------
    name
        Name in tables, in ``Comparison.measures`` and in ``Evaluation.values``.
    key
        Name in the JSON output of ``rankset evaluate``, and name of the property of ``Evaluation``.
    section
        Section of the table in which the metric is shown.
    formula
        Function of (covered, sizes, labels, alpha) that returns a float. It returns NaN if the metric is not defined.
        If it is a ``MeanOverRows``, ``compare`` computes a standard error.
    explanation
        One line that explains the metric.
    better
        Which values are better: smaller, larger, or closer to 1 - alpha.
    undefined
        The reason that is shown if the formula returns NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> covered, sizes, labels = np.array([True, False]), np.array([1, 2]), np.array([0, 1])
    >>> METRICS["size"].formula(covered, sizes, labels, Fraction(1, 10))
    1.5
    """

    name: str
    key: str
    section: Section
    formula: Formula
    explanation: str
    better: Better
    undefined: str = "there are no rows"

    def loss(self, value: float, alpha: Fraction) -> float:
        """Return a number that is smaller for better values of the metric."""
        if self.better == "closer to 1 - alpha":
            return abs(value - float(1 - alpha))
        return -value if self.better == "larger" else value


@dataclass(frozen=True)
class MeanOverRows:
    """Formula of a metric that is the mean of one number per row.

    ``counts`` tells what that number counts: the true label if it is in the set ("hits"), or all labels in the set
    ("labels"). None if it is no such count.
    """

    row_values: RowValues
    counts: Literal["hits", "labels"] | None = None

    def __call__(self, covered: Bools, sizes: Ints, _labels: Ints, _alpha: Fraction) -> float:
        return _mean(self.row_values(covered, sizes))


def sscv(covered: Bools, sizes: Ints, alpha: Alpha, *, strata: Strata = PAPER_STRATA) -> float:
    """Return the size-stratified coverage violation.

    Sets are divided into strata by size. The result is the largest gap between coverage and 1 - alpha over all strata
    that have rows.

    Parameters
    ----------
    covered
        Array (n,) of booleans: whether the set of each row contains the true label.
    sizes
        Array (n,): the number of labels in each set.
    alpha
        Allowed error rate.
    strata
        The largest size in each stratum, in ascending order. Sets larger than the last number are one more stratum.

    Returns
    -------
    float
        The largest gap. NaN if there are no rows.

    Examples
    --------
    >>> sscv(np.array([True, True, False]), np.array([1, 2, 2]), 0.1)
    0.4
    """
    if len(sizes) == 0:
        return math.nan
    hits, rows = _counts_by(np.searchsorted(strata, sizes), covered)
    return float(np.abs(hits / rows - float(1 - exact_alpha(alpha))).max())


def class_coverage(covered: Bools, labels: Ints) -> Floats:
    """Return the coverage of every class that occurs among ``labels``, in column order; -1 is no class."""
    hits, rows = class_counts(covered, labels)
    return hits / rows


def class_counts(covered: Bools, labels: Ints) -> tuple[Ints, Ints]:
    """Return the covered rows and all rows of every class that occurs among ``labels``; -1 is no class."""
    if len(labels) and labels.min() < 0:
        covered, labels = covered[labels >= 0], labels[labels >= 0]
    return _counts_by(labels, covered)


def mean_where_defined(values: Floats) -> Floats:
    """Return the mean over the last axis without its NaN entries, NaN where all of them are NaN."""
    defined = ~np.isnan(values)
    if defined.all():
        return values.mean(axis=-1)
    counts = defined.sum(axis=-1)
    sums = np.where(defined, values, 0.0).sum(axis=-1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), math.nan)


def format_value(value: float) -> str:
    """Return ``value`` with four decimals, a dash where it is not defined."""
    return UNDEFINED if math.isnan(value) else f"{value:.4f}"


def metrics_named(names: Iterable[str]) -> tuple[Metric, ...]:
    """Return the metrics of these names; raise ``RuleError`` for a name that is not in the registry."""
    wanted = tuple(names)
    for name in wanted:
        if name not in METRICS:
            raise RuleError.option("metric", name, tuple(METRICS))
    return tuple(METRICS[name] for name in wanted)


def _counts_by(codes: Ints, covered: Bools) -> tuple[Ints, Ints]:
    """Covered rows and all rows of each code that occurs."""
    counts = np.bincount(codes)
    hits = np.bincount(codes[covered], minlength=len(counts))
    return hits[counts > 0], counts[counts > 0]


def _mean(values: NDArray[np.generic]) -> float:
    return float(values.mean()) if len(values) else math.nan


def _singleton_accuracy(covered: Bools, sizes: Ints, _labels: Ints, _alpha: Fraction) -> float:
    return _mean(covered[sizes == 1])


def _macro_coverage(covered: Bools, _sizes: Ints, labels: Ints, _alpha: Fraction) -> float:
    return _mean(class_coverage(covered, labels))


def _class_gap(covered: Bools, _sizes: Ints, labels: Ints, alpha: Fraction) -> float:
    return _mean(np.abs(class_coverage(covered, labels) - float(1 - alpha)))


def _rms_class_gap(covered: Bools, _sizes: Ints, labels: Ints, alpha: Fraction) -> float:
    """The mean of squared gaps, less the variance that a share of m rows has by chance, c (1 - c) / (m - 1)."""
    hits, rows = class_counts(covered, labels)
    several = rows > 1
    if not several.any():
        return math.nan
    m = rows[several]
    c = hits[several] / m
    return math.sqrt(max(0.0, float(((c - float(1 - alpha)) ** 2 - c * (1 - c) / (m - 1)).mean())))


def _classes_far_below(covered: Bools, _sizes: Ints, labels: Ints, alpha: Fraction) -> float:
    return _mean(class_coverage(covered, labels) < float(1 - alpha - FAR))


def _classes_below_half(covered: Bools, _sizes: Ints, labels: Ints, _alpha: Fraction) -> float:
    return _mean(class_coverage(covered, labels) < 0.5)


def _worst_class(covered: Bools, _sizes: Ints, labels: Ints, _alpha: Fraction) -> float:
    found = class_coverage(covered, labels)
    return float(found.min()) if len(found) else math.nan


_ALL = (
    Metric(
        name="coverage",
        key="coverage",
        section="Coverage",
        formula=MeanOverRows(lambda covered, _sizes: covered, counts="hits"),
        explanation="share of rows whose set contains the true label",
        better="closer to 1 - alpha",
    ),
    Metric(
        name="SSCV",
        key="sscv",
        section="Coverage",
        formula=lambda covered, sizes, _labels, alpha: sscv(covered, sizes, alpha),
        explanation="largest gap between coverage and 1 - alpha among sets of similar size (0–1, 2–3, 4–10, … labels)",
        better="smaller",
    ),
    Metric(
        name="SSCV*",
        key="sscv_empty_apart",
        section="Coverage",
        formula=lambda covered, sizes, _labels, alpha: sscv(covered, sizes, alpha, strata=EMPTY_APART),
        explanation="SSCV with empty sets as a stratum of their own (0, 1, 2–3, 4–10, … labels)",
        better="smaller",
    ),
    Metric(
        name="size",
        key="mean_size",
        section="Set size",
        formula=MeanOverRows(lambda _covered, sizes: sizes, counts="labels"),
        explanation="mean number of labels in a set",
        better="smaller",
    ),
    Metric(
        name="singletons",
        key="singleton_rate",
        section="Set size",
        formula=MeanOverRows(lambda _covered, sizes: sizes == 1),
        explanation="share of sets with exactly one label",
        better="larger",
    ),
    Metric(
        name="singleton accuracy",
        key="singleton_hits",
        section="Set size",
        formula=_singleton_accuracy,
        explanation="share of one-label sets whose label is the true one",
        better="larger",
        undefined="no set has exactly one label",
    ),
    Metric(
        name="empty",
        key="empty_rate",
        section="Set size",
        formula=MeanOverRows(lambda _covered, sizes: sizes == 0),
        explanation="share of empty sets",
        better="smaller",
    ),
    Metric(
        name=MACRO_COVERAGE,
        key="macro_coverage",
        section="Classes",
        formula=_macro_coverage,
        explanation="mean of the coverage of every class; rare and frequent classes count the same",
        better="closer to 1 - alpha",
    ),
    Metric(
        name="class gap",
        key="class_gap",
        section="Classes",
        formula=_class_gap,
        explanation="mean absolute gap between the coverage of a class and 1 - alpha",
        better="smaller",
    ),
    Metric(
        name="RMS class gap",
        key="rms_class_gap",
        section="Classes",
        formula=_rms_class_gap,
        explanation="root mean square gap of classes to 1 - alpha, less what chance adds",
        better="smaller",
        undefined="no class has two rows",
    ),
    Metric(
        name=CLASSES_FAR_BELOW,
        key="classes_far_below",
        section="Classes",
        formula=_classes_far_below,
        explanation="share of classes whose coverage is below 1 - alpha - 0.1",
        better="smaller",
    ),
    Metric(
        name=CLASSES_BELOW_HALF,
        key="classes_below_half",
        section="Classes",
        formula=_classes_below_half,
        explanation="share of classes whose coverage is below 50 %",
        better="smaller",
    ),
    Metric(
        name="worst class",
        key="worst_class_coverage",
        section="Classes",
        formula=_worst_class,
        explanation="coverage of the class that is covered least",
        better="larger",
    ),
)

METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _ALL}
"""All metrics by name, in the order of tables: section after section."""
