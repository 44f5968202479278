"""``TriageDisplay``: the share of accepted rows against the error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from rankset.core.alpha import Alpha
from rankset.decisions.curve import TriageCurve
from rankset.decisions.triage import Triage
from rankset.integrations.matplotlib.display import Display

ERRORS = tuple(step / 200 for step in range(1, 61))
"""Errors of a curve, 0.005 to 0.3."""


@dataclass(eq=False)
class TriageDisplay(Display):
    """Share of rows that are accepted against the allowed error, as a curve for each promise.

    Parameters
    ----------
    curve : TriageCurve
        What ``Triage.curve`` returned.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> display = rs.TriageDisplay.from_triage(rs.triage(probs, labels, kind="logits"))
    >>> [line.get_label() for line in display.ax_.lines]
    ['a batch: expected error', 'a stream: with confidence 0.95']
    """

    curve: TriageCurve

    @classmethod
    def from_triage(
        cls, triage: Triage, *, errors: Sequence[Alpha] = ERRORS, confidence: Alpha = 0.95, ax: Any = None, **line: Any
    ) -> Self:
        """Draw the curves of a triage.

        Parameters
        ----------
        triage : Triage
            What ``triage`` returned.
        errors : sequence of float
            Errors, each strictly between 0 and 1. Default: 0.005, 0.01, …, 0.3.
        confidence : float, default 0.95
            Probability that the promise for the stream holds.
        ax : matplotlib Axes, optional
            Axes to draw on. Default: the axes of a new figure.
        **line
            Passed to ``Axes.plot``.

        Returns
        -------
        TriageDisplay
            The display, already drawn.

        Raises
        ------
        RanksetError
            If an error or the confidence is invalid.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> triage = rs.triage(probs, labels, kind="logits")
        >>> rs.TriageDisplay.from_triage(triage, errors=[0.05, 0.1]).ax_.get_xlabel()
        'allowed share of wrong answers'
        """
        return cls(triage.curve(errors, confidence=confidence)).plot(ax, **line)

    def plot(self, ax: Any = None, *, label: str = "", **line: Any) -> Self:
        """Draw both curves. To compare several triages, draw them on the same axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. Default: the axes of a new figure.
        label : str
            A name that is put before the names of the curves in the legend.
        **line
            Passed to ``Axes.plot``.

        Returns
        -------
        TriageDisplay
            The display itself.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> curve = rs.triage(probs, labels, kind="logits").curve()
        >>> rs.TriageDisplay(curve).plot().ax_.get_ylabel()
        'share of rows accepted'
        """
        if "ls" in line:
            line["linestyle"] = line.pop("ls")
        ax = self._set_axes(ax)
        points = self.curve.points
        errors = [point.error for point in points]
        start = f"{label}, " if label else ""
        names = (f"{start}a batch: expected error", f"{start}a stream: with confidence {self.curve.confidence:g}")
        drawn = ax.plot(errors, [point.batch for point in points], label=names[0], **line)
        style = {"color": drawn[0].get_color(), "linestyle": "--"} | line
        ax.plot(errors, [point.stream for point in points], label=names[1], **style)
        ax.set(
            xlabel="allowed share of wrong answers",
            ylabel="share of rows accepted",
            title="what may be decided automatically",
            ylim=(0, 1.03),
        )
        ax.set_xlim(left=0)
        ax.legend(loc="lower right")
        return self
