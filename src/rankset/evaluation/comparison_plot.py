"""The picture of a comparison: a panel per metric, a line per score, a colour per alpha."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankset.errors import KindError, needs_extra
from rankset.evaluation.comparison_table import places_of
from rankset.evaluation.metrics import METRICS

if TYPE_CHECKING:
    from rankset.evaluation.comparison import Comparison

RISK = "risk"
"""The mean loss, which comparisons with a target measure instead of coverage."""
TARGET = {"linestyle": "--", "linewidth": 1.2}
"""Style of the line at 1 - alpha, or at alpha for the mean loss."""
LEGEND = "thick: ± one standard error\nthin, with caps: ± one standard deviation over the halves"
LEGENDS_OF_LINES = {
    "closer to 1 - alpha": "\ndashed: the target, 1 - alpha",
    RISK: "\ndashed: the promise, at most alpha",
}
"""What the dashed lines are: for metrics that should be close to 1 - alpha, and for the mean loss."""
HEIGHT_OF_LINE = 0.34
"""Height of a line of the picture, in inches."""
GAP = 0.2
"""Distance of two alphas of the same score, if there is space for it. The distance of two scores is 1."""


def draw(comparisons: Sequence[Comparison], metrics: Iterable[str] | None, ax: Any) -> Any:  # noqa: ANN401
    """Draw the metrics of all comparisons, by default size and what is promised; return the figure."""
    measures = comparisons[0].measures
    places = places_of(measures, ("size", RISK if RISK in measures else "coverage") if metrics is None else metrics)
    count = len(comparisons[0].lines)
    axes = _axes(ax, len(places), 1.9 + HEIGHT_OF_LINE * count * (1 + 0.6 * (len(comparisons) - 1)))
    for number, (panel, place) in enumerate(zip(axes, places, strict=True)):
        for step, comparison in enumerate(comparisons):
            _draw_panel(panel, comparison, place, step, len(comparisons))
        panel.set_xlabel(measures[place])
        for height in np.arange(1, count) - 0.5 if len(comparisons) > 1 else ():
            panel.axhline(height, color="0.85", linewidth=0.8, zorder=0)
        panel.set_ylim(count - 0.5, -0.5)
        names = [line.name for line in comparisons[0].lines]
        panel.set_yticks(range(count), names if number == 0 or ax is not None else [""] * count)
        panel.grid(axis="x", alpha=0.3)
    figure = axes[0].figure
    if ax is None:
        lines = dict.fromkeys(_line_of(measures[place]) for place in places)
        figure.supxlabel(LEGEND + "".join(LEGENDS_OF_LINES.get(line, "") for line in lines), fontsize="small")
    if len(comparisons) > 1:
        place_of_legend = {"loc": "outside upper center"} if ax is None else {"loc": "best"}
        (figure if ax is None else axes[-1]).legend(
            *axes[-1].get_legend_handles_labels(), title="alpha", ncols=len(comparisons), **place_of_legend
        )
    return figure


def _draw_panel(panel: Any, comparison: Comparison, place: int, step: int, steps: int) -> None:  # noqa: ANN401
    """Draw one metric at one alpha: points, standard errors as thick lines, spread as thin lines."""
    from matplotlib.colors import to_rgba

    lines = comparison.lines
    gap = min(GAP, 0.45 / max(steps - 1, 1))
    heights = np.arange(len(lines)) + gap * (step - (steps - 1) / 2)
    means, errors, spread = (
        np.array([getattr(line, name)[place] for line in lines]) for name in ("means", "errors", "spread")
    )
    colour = f"C{step}"
    thin = {"fmt": "none", "ecolor": colour, "elinewidth": 0.9, "capsize": 3, "zorder": 3}
    panel.errorbar(means, heights, xerr=np.where(np.isfinite(spread), spread, np.nan), **thin)
    panel.errorbar(
        *(means, heights),
        xerr=_finite(errors),
        fmt="o",
        color=colour,
        ecolor=to_rgba(colour, 0.4),  # light, so that the caps are seen where the error is larger than the spread
        elinewidth=4,
        markersize=4,
        label=f"{comparison.alpha:g}",
    )
    line = _line_of(comparison.measures[place])
    if line in LEGENDS_OF_LINES:
        at = comparison.alpha if line == RISK else 1 - comparison.alpha
        panel.axvline(at, color="0.5" if steps == 1 else colour, **TARGET)


def _line_of(measure: str) -> str:
    """Return which dashed line a measure has, as a key of ``LEGENDS_OF_LINES``; another text if it has none."""
    return METRICS[measure].better if measure in METRICS else measure


def _finite(values: Any) -> Any:  # noqa: ANN401
    return np.where(np.isfinite(values), values, 0.0)


def _axes(ax: Any, count: int, height: float) -> list[Any]:  # noqa: ANN401
    """Return axes for ``count`` panels: those passed, or new ones."""
    if ax is not None:
        given = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(given) != count:
            raise KindError.argument("ax", f"{count} Matplotlib Axes, one per metric", f"{len(given)} Axes")
        return given
    with needs_extra("pictures"):
        import matplotlib.pyplot as plt
    _, panels = plt.subplots(1, count, figsize=(1.6 + 3.2 * count, height), layout="constrained", squeeze=False)
    return list(panels[0])
