"""``ConditionComparison``: the result of ``compare`` with several conditions, as one table and one picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankset import notebook
from rankset.conditions import Condition, condition_in_words
from rankset.errors import RuleError, needs_extra
from rankset.evaluation.comparison import Comparison
from rankset.evaluation.comparison_notes import wrapped
from rankset.evaluation.comparison_table import Line, cell, places_of
from rankset.inputs.frames import ARRAY

SHOWN = ("coverage", "size", "macro coverage", "RMS class gap", "classes far below", "worst class")
"""The metrics of the table, as far as they were measured; all of them if none of these but coverage and size was."""
MARKERS = "osD^vP*X<>"
FAR_APART = 5
"""Sizes whose ratio is larger are drawn on a logarithmic axis."""
NOTE = (
    "Every condition and score is measured on the same halves: one half calibrates, the other one tests. In "
    "parentheses: the standard deviation over the halves. What is proven depends on the condition: coverage over all "
    "rows (Marginal, Pooled), in every group (PerLabel, PerGroup), or on average over classes (Balanced)."
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
        lines = [
            "  ".join(part.ljust(width) for part, width in zip(row, widths, strict=True)).rstrip() for row in table
        ]
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
        return ARRAY.filled(condition_columns(self.comparisons), backend)

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
            The axis of sizes is logarithmic if they differ by more than a factor of 5.

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
            _, ax = plt.subplots(figsize=(7.6, 4.4), layout="constrained")
        for number, comparison in enumerate(self.comparisons):
            for marker, line in zip(MARKERS * len(comparison.lines), comparison.lines, strict=False):
                _draw_point(ax, line, places, colour=f"C{number}", marker=marker)
        ax.set_xlabel(x)
        ax.set_ylabel(y)
        ax.set_title(
            f"alpha = {self.comparisons[0].alpha:g}; bars: ± one standard deviation over halves", fontsize="small"
        )
        ax.grid(alpha=0.3)
        if x == "size":
            _scale_sizes(ax, [line.means[places[0]] for one in self.comparisons for line in one.lines])
        _draw_legend(ax, self.comparisons)
        return ax.figure


def condition_columns(comparisons: Sequence[Comparison]) -> dict[Any, Any]:
    """Return columns with one row per condition and score: of each metric the mean and the spread."""
    pairs = [(one, line) for one in comparisons for line in one.lines]
    columns: dict[Any, Any] = {
        "condition": [repr(one.condition) for one, _ in pairs],
        "score": [line.name for _, line in pairs],
    }
    for place, measure in enumerate(comparisons[0].measures):
        columns[measure] = np.array([line.means[place] for _, line in pairs])
        columns[f"{measure} spread"] = np.array([line.spread[place] for _, line in pairs])
    return columns


def _draw_point(ax: Any, line: Line, places: Sequence[int], colour: str, marker: str) -> None:  # noqa: ANN401
    """Draw one point with its spread over the halves."""
    means = [line.means[place] for place in places]
    spread = [line.spread[place] if np.isfinite(line.spread[place]) else 0.0 for place in places]
    ax.errorbar(*means, xerr=spread[0], yerr=spread[1], fmt=marker, color=colour, elinewidth=0.8, capsize=2)


def _scale_sizes(ax: Any, sizes: Sequence[float]) -> None:  # noqa: ANN401
    """Use a logarithmic axis with plain numbers if sizes differ much."""
    known = [size for size in sizes if np.isfinite(size)]
    if not known or min(known) <= 0 or max(known) <= FAR_APART * min(known):
        return
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _draw_legend(ax: Any, comparisons: Sequence[Comparison]) -> None:  # noqa: ANN401
    """Draw a legend at the right of the axes: a colour for each condition, a marker for each score."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(color=f"C{number}", label=condition_in_words(one.condition)) for number, one in enumerate(comparisons)
    ]
    lines = comparisons[0].lines
    if len(lines) > 1:
        handles += [
            Line2D([], [], marker=marker, color="0.3", linestyle="none", label=line.name)
            for marker, line in zip(MARKERS * len(lines), lines, strict=False)
        ]
    ax.legend(handles=handles, fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)


def _cell(line: Line, place: int) -> str:
    return cell(line.means[place], line.errors[place], line.spread[place])
