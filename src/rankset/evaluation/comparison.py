"""``Comparison``: the result of ``compare``, printed as a table with standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankset import notebook
from rankset.errors import KindError
from rankset.evaluation.metrics import METRICS, SECTIONS, Floats, format_value, mean_where_defined
from rankset.inputs.frames import ARRAY
from rankset.scores import Score

NOTE = (
    "± is one standard error: how much the number would change with other rows of the same kind and other halves. The "
    "coverage of random halves hardly depends on the rows, so its ± is small. Numbers without ± have no standard error "
    "that was checked. A dash: not defined in any half."
)

NOTE_OF_ONE = (
    "One random half has no standard errors: how much the numbers would change with another half is not known, so "
    "differences cannot be distinguished from noise. Pass repeats=20 or more."
)

ENOUGH = 2.0
"""Number of standard errors above which a difference is not attributed to noise."""


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """Metrics of several scores on the same random splits, returned by ``compare``. Print it to see a table.

    In each split, one half of the rows is used for calibration and the other half for testing.

    Attributes
    ----------
    scores
        The scores that were compared.
    measures
        Names of the metrics (see ``docs/metrics.md``).
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

    Notes
    -----
    A row in the test half has a direct effect on a mean: its own value is part of the mean. A row in the calibration
    half has an indirect effect: it changes the threshold. Over all splits, each row is equally often in the test half
    and in the calibration half. So the variance of the mean is Var(test effect + calibration effect) / n. For coverage,
    the two effects cancel each other. Only some of all possible splits are drawn. This adds a second term: the variance
    over the splits, divided by the number of splits.

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

    @property
    def means(self) -> Floats:
        """Array (score, metric): means over the splits in which the metric is defined."""
        return mean_where_defined(self.values)

    @property
    def errors(self) -> Floats:
        """Array (score, metric): standard errors of the means. NaN if not available, infinite if repeats=1."""
        return np.sqrt(self.variances + _variance_of_halves(self.values))

    @property
    def smallest(self) -> Score:
        """The score with the smallest mean size."""
        return self.scores[self._smallest]

    @property
    def tied_with_smallest(self) -> tuple[Score, ...]:
        """The score with the smallest mean size, and all scores whose mean size is not significantly larger.

        All scores if repeats=1, because the standard error is then not known.
        """
        weights = np.eye(len(self.scores))
        weights[:, self._smallest] -= 1
        gaps = [self.contrast(row) for row in weights]
        return tuple(
            score for score, (gap, error) in zip(self.scores, gaps, strict=True) if gap <= ENOUGH * error or gap == 0
        )

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
            The weighted sum and its standard error. The error is infinite if repeats=1.

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
        variance = max(0.0, float(weighted @ self.size_covariances @ weighted)) + float(_variance_of_halves(sizes))
        return float(sizes.mean()), float(np.sqrt(variance))

    def to_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401
        """Return a data frame with one row per score.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow". By default, the first of these libraries that is installed.

        Returns
        -------
        data frame
            The column "score", and two columns for every metric: the mean and the standard error. The error is NaN if
            it is not available, and infinite if repeats=1.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rs.compare(probs, labels, repeats=2).to_frame("pandas").columns[:3].tolist()
        ['score', 'coverage', 'coverage error']
        """
        columns: dict[Any, Any] = {"score": [repr(score) for score in self.scores]}
        means, errors = self.means, self.errors
        for place, measure in enumerate(self.measures):
            columns |= {measure: means[:, place], f"{measure} error": errors[:, place]}
        return ARRAY.filled(columns, backend)

    def __repr__(self) -> str:
        lines = [self._title]
        for title, names in self._sections():
            table = [(title, *names, ""), *self._rows(names)]
            widths = [max(map(len, column)) for column in zip(*table, strict=True)]
            lines += [
                "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
            ]
        return "\n".join([*lines, self._note])

    def _repr_html_(self) -> str:
        tables = [notebook.table(self._rows(names), (title, *names, "")) for title, names in self._sections()]
        return notebook.card(self._title, *tables, notebook.faint(self._note))

    def _sections(self) -> list[tuple[str, list[str]]]:
        """Titles of the tables and the measures in each."""
        found = [(title, [name for name in self.measures if METRICS[name].section == title]) for title in SECTIONS]
        return [(title, names) for title, names in found if names]

    def _rows(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        """Score, cells of the named measures, and a mark behind the mean size."""
        places = [self.measures.index(name) for name in names]
        marks = self._marks() if "size" in names else [""] * len(self.scores)
        return [
            (repr(score), *(_cell(means[place], errors[place]) for place in places), mark)
            for score, means, errors, mark in zip(self.scores, self.means, self.errors, marks, strict=True)
        ]

    def _marks(self) -> list[str]:
        near = self.tied_with_smallest if self._repeats > 1 else ()
        return [
            "smallest" if score == self.smallest else "tied, within noise" if score in near else ""
            for score in self.scores
        ]

    @property
    def _smallest(self) -> int:
        return int(self._sizes.mean(axis=1).argmin())

    @property
    def _sizes(self) -> Floats:
        return self.values[:, self.measures.index("size")]

    @property
    def _repeats(self) -> int:
        return self.values.shape[2]

    @property
    def _title(self) -> str:
        halves = f"{self._repeats} random {'half' if self._repeats == 1 else 'halves'}"
        return f"Comparison of {len(self.scores)} scores on {halves} of {self.n:,} rows, alpha={self.alpha:g}"

    @property
    def _note(self) -> str:
        return NOTE_OF_ONE if self._repeats == 1 else NOTE


def _variance_of_halves(values: Floats) -> Floats:
    """Variance of means over the last axis that comes from drawing that many halves instead of all of them."""
    repeats = values.shape[-1]
    return values.var(axis=-1, ddof=1) / repeats if repeats > 1 else np.full(values.shape[:-1], np.inf)


def _cell(mean: float, error: float) -> str:
    return f"{format_value(mean)} ±{error:.4f}" if np.isfinite(error) else format_value(mean)
