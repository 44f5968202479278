"""``Comparison``: the result of ``compare``, printed as a table with standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from rankset import notebook
from rankset.conditions import Condition, Marginal
from rankset.errors import KindError
from rankset.evaluation import comparison_notes, comparison_table
from rankset.evaluation.comparison_table import Line
from rankset.evaluation.comparison_tables import ComparisonTables
from rankset.evaluation.metrics import Floats, mean_where_defined
from rankset.evaluation.short_names import short_names
from rankset.scores import Score
from rankset.targets import OneLabel, Target

MARGINAL = Marginal()
ONE_LABEL = OneLabel()

ENOUGH = 2.0
"""Number of standard errors above which a difference is not attributed to noise."""


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(ComparisonTables):
    """Metrics of several scores on the same random splits, returned by ``compare``. Print it to see a table.

    In each split, one half of the rows is used for calibration and the other half for testing.

    Attributes
    ----------
    scores
        The scores that were compared.
    measures
        Names of the metrics (see the page "Metrics").
    values
        Array (score, metric, split): all measured values. NaN if a metric is not defined.
    alpha
        Allowed error rate.
    n
        Number of rows.
    variances
        Array (score, metric): the variance of the mean metric. The mean is taken over all possible splits of one data
        set. The variance is taken over different data sets of ``n`` rows. NaN for metrics that are not means over rows.
    size_covariances
        Array (score, score): the covariance of the mean set sizes of two scores, in the same way.
    condition
        The condition of all calibrations.
    auto_values
        Array (metric, split): the values of ``auto``, which is fitted in the calibration half of each split. None if
        ``auto`` was not compared. It is not a score, so it is not among ``scores``, ``means`` and ``smallest``, but it
        is a line of every table. For large inputs it has fewer splits than the scores: the first ones.
    target
        What is promised about the true labels of a row. With another target than ``OneLabel()``, the metrics are the
        mean loss ("risk"), which is at most alpha on average, size, the share of empty sets, and for several labels per
        row the mean share of the labels in the set ("recall") and the share of rows with all of them ("all labels").

    Notes
    -----
    A row in the test half has a direct effect on a mean: its own value is part of the mean. A row in the calibration
    half has an indirect effect: it changes the threshold. Over all splits, each row is equally often in the test half
    and in the calibration half. So the variance of the mean is Var(test effect + calibration effect) / n. For coverage,
    the two effects cancel each other. Only some of all possible splits are drawn. This adds a second term: the variance
    over the splits, divided by the number of splits.

    With several thresholds, a calibration row changes the threshold of its own group, and the number of calibration
    rows of this group. Then coverage and size have standard errors, unless a group is so small that it keeps every
    label in some halves and has a threshold in others.

    With a target, all metrics have standard errors if there is one threshold: a calibration row acts by its loss beyond
    the threshold, and the mean loss of a half is taken as a normal variable. Over 300 simulated data sets they
    were 0.9 to 1.2 times the true errors.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> comparison = rs.compare(probs, labels, 0.1, scores=[rs.Rank(), rs.Thr()])
    >>> comparison.smallest
    Thr()
    >>> comparison.means.shape == (2, len(comparison.measures))
    True
    """

    scores: tuple[Score, ...]
    measures: tuple[str, ...]
    values: Floats
    alpha: float
    n: int
    variances: Floats
    size_covariances: Floats
    condition: Condition = MARGINAL
    auto_values: Floats | None = None
    target: Target = ONE_LABEL

    @property
    def means(self) -> Floats:
        """Array (score, metric): means over the splits in which the metric is defined."""
        return mean_where_defined(self.values)

    @property
    def errors(self) -> Floats:
        """Array (score, metric): standard errors of the means. NaN if not available, infinite if repeats=1."""
        return np.sqrt(self.variances + _variance_of_halves(self.values))

    @property
    def spread(self) -> Floats:
        """Array (score, metric): standard deviations over the splits (ddof=1). NaN if defined in fewer than two splits.

        How much the result of one calibration on half of the rows varies. It is not the error of the mean.
        """
        return _spread(self.values)

    @property
    def names(self) -> tuple[str, ...]:
        """Short names of the scores, such as "RANK" and "RAPS(0.2, 2)". They are all different."""
        return short_names(self.scores)

    @property
    def smallest(self) -> Score:
        """The score with the smallest mean size."""
        return self.scores[self._smallest]

    @property
    def tied_with_smallest(self) -> tuple[Score, ...]:
        """The score with the smallest mean size, and all scores whose mean size is not significantly larger.

        All scores if the standard errors are not known: if repeats=1, or if groups of a condition are too small. With a
        target also if there are several thresholds.
        """
        weights = np.eye(len(self.scores))
        weights[:, self._smallest] -= 1
        gaps = [self.contrast(row) for row in weights]
        return tuple(score for score, (gap, error) in zip(self.scores, gaps, strict=True) if not gap > ENOUGH * error)

    def contrast(self, weights: ArrayLike) -> tuple[float, float]:
        """Return a weighted sum of the mean set sizes of the scores, and its standard error.

        For example, the weights (1, -1) give the difference between two scores. All scores are measured on the same
        rows, so their mean sizes are correlated. This is included in the standard error.

        Parameters
        ----------
        weights
            One number per score.

        Returns
        -------
        (value, error)
            The weighted sum and its standard error. The error is infinite if repeats=1, and NaN if groups of a
            condition are too small.

        Raises
        ------
        KindError
            If the number of weights is not the number of scores.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> gap, error = rs.compare(probs, labels, scores=[rs.Rank(), rs.Thr()]).contrast([1, -1])
        >>> gap > 2 * error
        True
        """
        weighted = np.asarray(weights, dtype=np.float64)
        if weighted.shape != (len(self.scores),):
            raise KindError.argument("weights", f"{len(self.scores)} numbers, one per score", weights)
        sizes = weighted @ self._sizes
        variance = np.maximum(0.0, weighted @ self.size_covariances @ weighted) + _variance_of_halves(sizes)
        return float(sizes.mean()), float(np.sqrt(variance))

    def __repr__(self) -> str:
        return "\n".join([*self._text, comparison_notes.wrapped(self._note)])

    def _repr_html_(self) -> str:
        tables = [notebook.table(rows, head) for head, rows in comparison_table.sections(self)]
        return notebook.card(self._title, *tables, notebook.faint(self._note))

    @property
    def _text(self) -> list[str]:
        """The printed lines without the note."""
        return [self._title, *comparison_table.as_text(self)]

    @property
    def _parts(self) -> tuple[Comparison, ...]:
        return (self,)

    @cached_property
    def lines(self) -> list[Line]:
        """All lines of the tables: one for each score, then one for ``auto`` if it was compared.

        A line has a short ``name``, a longer ``text``, the arrays ``means``, ``errors`` and ``spread`` with one entry
        per metric, and a ``mark``.
        """
        marks = self._marks()
        parts = zip(self.names, self.scores, self.means, self.errors, self.spread, marks, strict=True)
        lines = [Line(name, repr(score), *numbers) for name, score, *numbers in parts]
        if self.auto_values is None:
            return lines
        means = mean_where_defined(self.auto_values)
        repeats = self.auto_values.shape[1]
        mark = "chosen in each half" if repeats == self._repeats else f"chosen in the first {repeats} halves"
        auto = Line("auto", "auto", means, np.full_like(means, np.nan), _spread(self.auto_values), mark)
        return [*lines, auto]

    def _marks(self) -> list[str]:
        """What is written behind the mean size of each score; no score is the smallest if all sizes are the same."""
        if (self._sizes == self._sizes[0]).all():
            return ["same sizes" if len(self.scores) > 1 else ""] * len(self.scores)
        near = self.tied_with_smallest if np.isfinite(self._size_errors).all() else ()
        first = "smallest" if self.auto_values is None else "smallest fixed score"
        return [
            first if score == self.smallest else "tied, within noise" if score in near else "" for score in self.scores
        ]

    @property
    def _smallest(self) -> int:
        return int(self._sizes.mean(axis=1).argmin())

    @property
    def _sizes(self) -> Floats:
        return self.values[:, self.measures.index("size")]

    @property
    def _size_errors(self) -> Floats:
        return self.errors[:, self.measures.index("size")]

    @property
    def _repeats(self) -> int:
        return self.values.shape[2]

    @property
    def _title(self) -> str:
        return comparison_notes.title(self)

    @property
    def _note(self) -> str:
        """What the numbers mean, below the tables."""
        return comparison_notes.note(self)


def _variance_of_halves(values: Floats) -> Floats:
    """Variance of means over the last axis that comes from drawing that many halves instead of all of them."""
    repeats = values.shape[-1]
    return values.var(axis=-1, ddof=1) / repeats if repeats > 1 else np.full(values.shape[:-1], np.inf)


def _spread(values: Floats) -> Floats:
    """Standard deviations over the last axis without its NaN entries, NaN where fewer than two are left."""
    defined = ~np.isnan(values)
    counts = defined.sum(axis=-1)
    gaps = np.where(defined, values - mean_where_defined(values)[..., np.newaxis], 0.0)
    return np.where(counts > 1, np.sqrt((gaps**2).sum(axis=-1) / np.maximum(counts - 1, 1)), np.nan)
