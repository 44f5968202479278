"""``StreamDisplay``: a stream over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankset.errors import KindError, needs_extra
from rankset.integrations.matplotlib.display import TARGET, Display
from rankset.streams.alarms import Alarms
from rankset.streams.over_time import CONFIDENCE, Floats, OverTime
from rankset.streams.stream import Stream

PARTS = ("coverage", "size", "level", "evidence")
"""What can be drawn, each on axes of its own."""
COLORS = {"labels": "C0", "outputs": "C1", "coverage": "C2"}
DASHES = {"labels": "-", "outputs": "--", "coverage": ":"}
POWERS = (0, 1, 2, 3, 5, 10, 30, 100, 300, 1000, 3000, 10_000, 100_000)
"""Powers of ten with a tick."""


@dataclass(eq=False)
class StreamDisplay(Display):
    """A stream over time: covered labels, mean set size, level, and evidence of the alarms, one below the other.

    Covered labels have a band: a block of rows lies outside with probability 0.05 at most, if each label is missed with
    probability alpha, independently of the others. Evidence is drawn in powers of ten; an alarm is raised when its line
    first reaches its horizontal line, where a triangle stands.

    Parameters
    ----------
    history : dict of arrays
        What ``Stream.history`` returned.
    alpha : float
        The alpha of the stream.
    alarms : Alarms
        What ``Stream.alarms`` returned.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> stream = rs.Stream(rs.calibrate(probs[:1000], labels[:1000], kind="logits"), alpha=0.1)
    >>> for start in range(1000, 2000, 50):
    ...     sets = stream.predict(probs[start : start + 50])
    ...     learned = stream.update(labels[start : start + 50])
    >>> display = rs.StreamDisplay.from_stream(stream)
    >>> [ax.get_ylabel() for ax in display.axes_]
    ['covered labels', 'mean set size', 'level', 'evidence']
    """

    history: Mapping[str, Floats]
    alpha: float
    alarms: Alarms

    @classmethod
    def from_stream(cls, stream: Stream, *, axes: Any = None, parts: Sequence[str] = PARTS, **line: Any) -> Self:
        """Draw a stream as it is now.

        Parameters
        ----------
        stream : Stream
            The stream.
        axes, parts, **line
            As in ``plot``.

        Returns
        -------
        StreamDisplay
            The display, already drawn.

        Raises
        ------
        KindError
            If ``stream`` is no ``Stream``, or ``parts`` or ``axes`` cannot be used.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> stream = rs.Stream(rs.calibrate(probs[:1000], labels[:1000], kind="logits"), alpha=0.1)
        >>> _ = stream.predict(probs[1000:1100]), stream.update(labels[1000:1100])
        >>> len(rs.StreamDisplay.from_stream(stream, parts=["coverage", "size"]).axes_)
        2
        """
        if not isinstance(stream, Stream):
            raise KindError.argument("stream", "a Stream", stream)
        with stream._lock:
            made = cls(stream.history, stream.alpha, stream.alarms)
        return made.plot(axes, parts=parts, **line)

    def plot(self, axes: Any = None, *, parts: Sequence[str] = PARTS, **line: Any) -> Self:
        """Draw the parts one below the other. All axes have the same rows.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, optional
            Axes to draw on, one for each part. Default: the axes of a new figure.
        parts : sequence of str
            What to draw, in this order: "coverage", "size", "level", "evidence". Default: all of them.
        **line
            Passed to ``Axes.plot`` for the lines of blocks: coverage, size and level.

        Returns
        -------
        StreamDisplay
            The display itself, with ``axes_``, ``ax_`` (the first of them) and ``figure_``.

        Raises
        ------
        KindError
            If ``parts`` are no such names, or there are not as many axes.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> stream = rs.Stream(rs.calibrate(probs[:1000], labels[:1000], kind="logits"), alpha=0.1)
        >>> display = rs.StreamDisplay(stream.history, stream.alpha, stream.alarms)
        >>> display.plot().axes_[-1].get_xlabel()
        'rows'
        """
        drawing = _checked_parts(parts)
        self.axes_ = self._all_axes(axes, len(drawing))
        numbers = OverTime.of(self.history, self.alpha)
        for part, ax in zip(drawing, self.axes_, strict=True):
            getattr(self, f"_draw_{part}")(ax, numbers, {"color": "C0", "linewidth": 1.2} | line)
            self._mark_alarms(ax)
            ax.set_xlim(0, max(1.0, numbers.row[-1] if len(numbers.row) else 1.0))
        self.axes_[-1].set_xlabel("rows")
        return self

    def _all_axes(self, axes: Any, count: int) -> list[Any]:
        """Return the axes, or those of a new figure if they are None."""
        if axes is None:
            with needs_extra("plots"):
                import matplotlib.pyplot as plt
            _, made = plt.subplots(
                count, 1, figsize=(7.5, 1.0 + 1.9 * count), sharex=True, squeeze=False, layout="constrained"
            )
            axes = made
        found = list(np.ravel(np.asarray(axes, dtype=object)))
        if len(found) != count:
            raise KindError.argument("axes", f"{count} axes, one for each part", f"{len(found)} axes")
        self._set_axes(found[0])
        return found

    def _mark_alarms(self, ax: Any) -> None:
        """Draw a vertical line where an alarm was raised."""
        for alarm in self.alarms.raised:
            ax.axvline(alarm.at, color=COLORS[alarm.name], linestyle=":", linewidth=1)

    def _draw_coverage(self, ax: Any, numbers: OverTime, line: dict[str, Any]) -> None:
        """Draw the share of covered labels per block and so far, and the band."""
        places = _drawn(numbers.labels > 0)
        rows = _rows(numbers, places)
        band, ends = f"{CONFIDENCE:.0%} of blocks, by chance", (numbers.low[places], numbers.high[places])
        ax.fill_between(rows, *ends, color=line["color"], alpha=0.2, lw=0, label=band)
        ax.plot(rows, numbers.coverage[places], **{"label": "per block"} | line)
        ax.plot(numbers.row[numbers.below], numbers.coverage[numbers.below], ".", color="C3", markersize=5)
        ax.plot(rows, numbers.running[places], color="black", linewidth=1.8, label="so far")
        ax.axhline(1 - self.alpha, **TARGET)
        ax.set_ylabel("covered labels")
        _legend_above(ax)

    def _draw_size(self, ax: Any, numbers: OverTime, line: dict[str, Any]) -> None:
        """Draw the mean set size."""
        places = _drawn(numbers.rows > 0)
        ax.plot(_rows(numbers, places), numbers.size[places], **line)
        ax.set_ylim(bottom=0)
        ax.set_ylabel("mean set size")

    def _draw_level(self, ax: Any, numbers: OverTime, line: dict[str, Any]) -> None:
        """Draw the level, and where sets have every label or none."""
        ax.plot([0, *numbers.row], [self.alpha, *numbers.level], **line)
        ax.axhline(self.alpha, **TARGET)
        outside = ((0, numbers.level <= 0, "every label", "top"), (1, numbers.level >= 1, "no label", "bottom"))
        for end, reached, text, place in outside:
            if reached.any():
                ax.axhline(end, color="C3", linestyle=":", linewidth=1)
                place_in = {"va": place, "ha": "right", "transform": ax.get_yaxis_transform()}
                ax.text(0.995, end, text, color="C3", fontsize="small", **place_in)
        ax.set_ylabel("level")

    def _draw_evidence(self, ax: Any, numbers: OverTime, _line: dict[str, Any]) -> None:
        """Draw the evidence of the alarms in powers of ten, and where they are raised."""
        rows = [0, *numbers.row]
        for alarm in self.alarms:
            color, limit = COLORS[alarm.name], -np.log10(alarm.delta)
            ax.plot(rows, [0, *numbers.evidence[alarm.name]], DASHES[alarm.name], color=color, label=alarm.name)
            ax.axhline(limit, color=color, linestyle=(0, (6, 4)), linewidth=0.8)
            if alarm.raised:
                ax.plot([alarm.at], [limit], "^", color=color, markersize=7, zorder=3)
                ax.axvspan(alarm.since, alarm.at, color=color, alpha=0.15, lw=0)
        ends = [*np.concatenate(list(numbers.evidence.values())), -0.5, 1.6]
        _set_powers(ax, 1.15 * min(ends), 1.15 * max(ends))
        ax.set_ylabel("evidence")
        _legend_above(ax)


def _drawn(here: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the places of blocks; the first one twice, because it is drawn from its first to its last row."""
    places = np.flatnonzero(here)
    return np.concatenate((places[:1], places))


def _rows(numbers: OverTime, places: NDArray[np.int64]) -> Floats:
    """Return the rows at which blocks are drawn: the first row of the first block, then the last rows of all."""
    rows = numbers.row[places]
    rows[:1] -= numbers.rows[places[:1]]
    return rows


def _legend_above(ax: Any) -> None:
    """Put the legend above the axes, where it hides nothing."""
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, fontsize="small", frameon=False, borderaxespad=0.2)


def _set_powers(ax: Any, low: float, high: float) -> None:
    """Let the axis show powers of ten: small ones apart, large ones together."""
    ax.set_yscale("asinh", linear_width=2)
    ax.set_ylim(low, high)
    least = (np.arcsinh(high / 2) - np.arcsinh(low / 2)) / 8
    ticks: list[int] = []
    for power in sorted({*POWERS, *(-power for power in POWERS)}):
        apart = not ticks or np.arcsinh(power / 2) - np.arcsinh(ticks[-1] / 2) > least
        if low <= power <= high and (apart or power == 0):
            ticks.append(power)
    ax.set_yticks(ticks, [f"{10.0**power:g}" if abs(power) < 4 else f"$10^{{{power}}}$" for power in ticks])
    ax.minorticks_off()


def _checked_parts(parts: Sequence[str]) -> list[str]:
    """Return the names of what is drawn; raise an error if they are others."""
    found = [] if isinstance(parts, str) else list(parts)
    if not found or not set(found) <= set(PARTS) or len(set(found)) < len(found):
        raise KindError.argument("parts", f"a list of some of {', '.join(PARTS)}", parts)
    return found
