"""``ConditionComparison``: the result of ``compare`` with several conditions, as one table and one picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankset import notebook
from rankset.conditions import Condition
from rankset.errors import RuleError, needs_extra
from rankset.evaluation.comparison import Comparison
from rankset.evaluation.comparison_notes import wrapped
from rankset.evaluation.comparison_table import Line, cell, places_of
from rankset.inputs.frames import ARRAY

SHOWN = ("coverage", "size", "macro coverage", "RMS class gap", "classes far below", "worst class")
"""The metrics of the table, as far as they were measured; all of them if none of these but coverage and size was."""
MARKERS = "osD^vP*X<>"
NOTE = (
    "Every condition and score is measured on the same halves: one half calibrates, the other one tests. In parentheses: "
    "the standard deviation over the halves. What is proven depends on the condition: coverage over all rows (Marginal, "
    "Pooled), in every group (PerLabel, PerGroup), or on average over classes (Balanced)."
)


@dataclass(frozen=True, repr=False, eq=False)
class ConditionComparison:
    """Comparisons of the same scores with several conditions, returned by ``compare``. Print it to see one table.

    ``comparison[condition]`` is the ``Comparison`` of one condition, with all its attributes.

    Attributes
    ----------
    comparisons
        The comparison of each condition, in the order in which the conditions were passed.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> conditions = [rs.Marginal(), rs.PerLabel(), rs.Pooled()]
    >>> found = rs.compare(probs, labels, condition=conditions, scores=["thr"], kind="logits", repeats=2)
    >>> found[rs.Pooled()].smallest
    Thr()
    >>> found.to_frame("pandas")[["condition", "score"]].values.tolist()
    [['Marginal()', 'THR'], ['PerLabel()', 'THR'], ['Pooled(PerLabel())', 'THR']]
    """

    comparisons: tuple[Comparison, ...]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions, in the order in which they were passed."""
        return tuple(one.condition for one in self.comparisons)

    def __getitem__(self, condition: Condition) -> Comparison:
        for one in self.comparisons:
            if one.condition == condition:
                return one
        raise RuleError.option("condition", condition, self.conditions)

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def __repr__(self) -> str:
        table = [self._head, *self._rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(part.ljust(width) for part, width in zip(row, widths, strict=True)).rstrip() for row in table]
        return "\n".join([self._title, *lines, wrapped(NOTE)])

    def _repr_html_(self) -> str:
        return notebook.card(self._title, notebook.table(self._rows, self._head), notebook.faint(NOTE))

    @property
    def _title(self) -> str:
        first = self.comparisons[0]
        halves = first.values.shape[2]
        return (
            f"Comparison of {len(self)} conditions on {halves} random {'half' if halves == 1 else 'halves'} "
            f"of {first.n:,} rows, alpha={first.alpha:g}"
        )

    @property
    def _places(self) -> list[int]:
        measures = self.comparisons[0].measures
        wanted = [name for name in SHOWN if name in measures]
        return places_of(measures, wanted if len(wanted) > 2 else measures)

    @property
    def _head(self) -> tuple[str, ...]:
        measures = self.comparisons[0].measures
        return ("condition", "score", *(measures[place] for place in self._places))

    @property
    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (repr(one.condition), line.text, *(_cell(line, place) for place in self._places))
            for one in self.comparisons
            for line in one.lines
        ]

    def to_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401
        """Return a data frame with one row for each condition and score.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow". By default, the first of these libraries that is installed.

        Returns
        -------
        data frame
            The columns "condition" and "score", and for every metric the mean over the splits and their standard
            deviation.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> both = rs.compare(probs, labels, condition=[rs.Marginal(), rs.Pooled()], scores=["thr"], repeats=2)
        >>> both.to_frame("pandas").columns[:4].tolist()
        ['condition', 'score', 'coverage', 'coverage spread']
        """
        pairs = [(one, line) for one in self.comparisons for line in one.lines]
        columns: dict[Any, Any] = {
            "condition": [repr(one.condition) for one, _ in pairs],
            "score": [line.name for _, line in pairs],
        }
        for place, measure in enumerate(self.comparisons[0].measures):
            columns[measure] = np.array([line.means[place] for _, line in pairs])
            columns[f"{measure} spread"] = np.array([line.spread[place] for _, line in pairs])
        return ARRAY.filled(columns, backend)

    def plot(self, x: str = "size", y: str = "RMS class gap", *, ax: Any = None) -> Any:  # noqa: ANN401
        """Draw two metrics against each other: a point for each condition and score.

        Parameters
        ----------
        x, y
            Names of the metrics. Default: mean size, and how unevenly classes are covered. Good is at the left and at
            the bottom.
        ax
            Matplotlib Axes to draw on. Default: the axes of a new figure.

        Returns
        -------
        matplotlib Figure
            A colour for each condition, a marker for each score. Thin lines are one standard deviation over the splits.

        Raises
        ------
        RuleError
            If a metric was not measured.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> both = [rs.Marginal(), rs.Pooled()]
        >>> figure = rs.compare(probs, labels, condition=both, scores=["thr"], kind="logits", repeats=2).plot()
        >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
        ('size', 'RMS class gap')
        """
        places = places_of(self.comparisons[0].measures, (x, y))
        if ax is None:
            with needs_extra("pictures"):
                import matplotlib.pyplot as plt
            _, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
        for number, comparison in enumerate(self.comparisons):
            for marker, line in zip(MARKERS * len(comparison.lines), comparison.lines, strict=False):
                _draw_point(ax, line, places, colour=f"C{number}", marker=marker, label=_label(comparison, line))
        ax.set_xlabel(x)
        ax.set_ylabel(y)
        ax.grid(alpha=0.3)
        ax.legend(fontsize="small")
        return ax.figure


def _label(comparison: Comparison, line: Line) -> str:
    return f"{comparison.condition!r}, {line.name}"


def _draw_point(ax: Any, line: Line, places: Sequence[int], colour: str, marker: str, label: str) -> None:  # noqa: ANN401
    """Draw one point with its spread over the halves."""
    means = [line.means[place] for place in places]
    spread = [line.spread[place] if np.isfinite(line.spread[place]) else 0.0 for place in places]
    ax.errorbar(
        *means, xerr=spread[0], yerr=spread[1], fmt=marker, color=colour, elinewidth=0.8, capsize=2, label=label
    )


def _cell(line: Line, place: int) -> str:
    return cell(line.means[place], line.errors[place], line.spread[place])
