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

TARGET = {"linestyle": "--", "linewidth": 1.2}
"""Style of the line at 1 - alpha."""
LEGEND = "thick: ± one standard error; thin: ± one standard deviation over the halves"
HEIGHT_OF_LINE = 0.34
"""Height of a line of the picture, in inches."""


def draw(comparisons: Sequence[Comparison], metrics: Iterable[str], ax: Any) -> Any:  # noqa: ANN401
    """Draw the metrics of all comparisons; return the figure."""
    places = places_of(comparisons[0].measures, metrics)
    count = len(comparisons[0].lines)
    axes = _axes(ax, len(places), 1.6 + HEIGHT_OF_LINE * count * (1 + 0.4 * (len(comparisons) - 1)))
    for number, (panel, place) in enumerate(zip(axes, places, strict=True)):
        for step, comparison in enumerate(comparisons):
            _draw_panel(panel, comparison, place, step, len(comparisons))
        panel.set_xlabel(comparisons[0].measures[place])
        panel.set_ylim(count - 0.4, -0.6)
        names = [line.name for line in comparisons[0].lines]
        panel.set_yticks(range(count), names if number == 0 or ax is not None else [""] * count)
        panel.grid(axis="x", alpha=0.3)
    figure = axes[0].figure
    if ax is None:
        figure.supxlabel(LEGEND, fontsize="small")
    if len(comparisons) > 1:
        place_of_legend = {"loc": "outside upper center"} if ax is None else {"loc": "best"}
        (figure if ax is None else axes[-1]).legend(
            *axes[-1].get_legend_handles_labels(), title="alpha", ncols=len(comparisons), **place_of_legend
        )
    return figure


def _draw_panel(panel: Any, comparison: Comparison, place: int, step: int, steps: int) -> None:  # noqa: ANN401
    """Draw one metric at one alpha: points, standard errors as thick lines, spread as thin lines."""
    lines = comparison.lines
    heights = np.arange(len(lines)) + (0.0 if steps == 1 else 0.6 * (step / (steps - 1) - 0.5))
    means, errors, spread = (
        np.array([getattr(line, name)[place] for line in lines]) for name in ("means", "errors", "spread")
    )
    colour = f"C{step}"
    panel.errorbar(means, heights, xerr=_finite(spread), fmt="none", ecolor=colour, elinewidth=0.8, capsize=3)
    panel.errorbar(
        *(means, heights),
        xerr=_finite(errors),
        fmt="o",
        color=colour,
        elinewidth=3,
        markersize=5,
        label=f"{comparison.alpha:g}",
    )
    metric = METRICS.get(comparison.measures[place])
    if metric is not None and metric.better == "closer to 1 - alpha":
        panel.axvline(1 - comparison.alpha, color="0.5" if steps == 1 else colour, **TARGET)


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
