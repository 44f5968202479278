"""The share of accepted rows against the error, by both promises."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankset import notebook
from rankset.core.alpha import Alpha
from rankset.decisions import selection
from rankset.decisions.errors_by_group import exact_error
from rankset.decisions.selection import Counted
from rankset.inputs.frames import ARRAY

if TYPE_CHECKING:
    from rankset.decisions.gate_finding import FindsGates

ERRORS = (0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3)
HEAD = ("error", "batch", "stream", "wrong in stream")


class CurvePoint(NamedTuple):
    """What is accepted at one error.

    Attributes
    ----------
    error : the allowed share of wrong answers.
    batch : share of the rows that a batch of such rows would accept.
    stream : share of the rows that the gate accepts.
    wrong : share of wrong answers among the rows that the gate accepts; None if there are none.
    """

    error: float
    batch: float
    stream: float
    wrong: float | None


@dataclass(frozen=True, repr=False)
class TriageCurve:
    """The share of accepted rows at several errors, returned by ``Triage.curve``.

    The rows of the triage stand for a batch: each is judged by the others. The share by the gate is that of the rows
    that tested it.

    Attributes
    ----------
    points
        Error, share accepted in a batch, share accepted in a stream, and share of wrong answers in the stream.
    confidence
        Probability that the promise for the stream holds.
    n
        Number of rows.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> [point.batch for point in rs.triage(probs, labels, kind="logits").curve(errors=[0.05]).points]
    [0.7155]
    """

    points: tuple[CurvePoint, ...]
    confidence: float
    n: int

    def __repr__(self) -> str:
        ends = f"{self.points[0].error:g} to {self.points[-1].error:g}" if self.points else "none"
        return f"TriageCurve({len(self.points)} errors, {ends}, {self.n:,} rows)"

    def __str__(self) -> str:
        rows = [HEAD, *self._texts()]
        widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
        lines = ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in rows]
        note = f"share of rows accepted, from {self.n:,} rows; stream: with confidence {self.confidence:g}"
        return "\n".join([*lines, note])

    def _texts(self) -> list[tuple[str, ...]]:
        return [
            (
                f"{point.error:g}",
                f"{point.batch:.1%}",
                f"{point.stream:.1%}",
                "–" if point.wrong is None else f"{point.wrong:.2%}",
            )
            for point in self.points
        ]

    def html_table(self) -> str:
        """Return the table as HTML, for notebooks.

        Returns
        -------
        str

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> rs.triage(probs, labels, kind="logits").curve(errors=[0.05]).html_table().startswith("<table")
        True
        """
        rows = [
            (
                f"{point.error:g}",
                *(notebook.bar(share, f"{share:.1%}") for share in (point.batch, point.stream)),
                text[3],
            )
            for point, text in zip(self.points, self._texts(), strict=True)
        ]
        return notebook.table(rows, HEAD)

    def _repr_html_(self) -> str:
        return notebook.card(f"Share of rows accepted, from {self.n:,} rows", self.html_table())

    def to_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401
        """Return a data frame with one row per error.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Data frame library. Default: the first one installed.

        Returns
        -------
        data frame

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> list(rs.triage(probs, labels, kind="logits").curve(errors=[0.05]).to_frame("pandas").columns)
        ['error', 'batch', 'stream', 'wrong']
        """
        columns: dict[Any, Any] = {name: [getattr(point, name) for point in self.points] for name in CurvePoint._fields}
        columns["wrong"] = [np.nan if wrong is None else wrong for wrong in columns["wrong"]]
        return ARRAY.filled(columns, backend)

    def plot(self, ax: Any = None) -> Any:  # noqa: ANN401
        """Draw the shares against the error. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        TriageDisplay

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> display = rs.triage(probs, labels, kind="logits").curve().plot()
        """
        from rankset.errors import import_with_extra

        module = import_with_extra("rankset.integrations.matplotlib.triage_display", "TriageCurve.plot")
        return module.TriageDisplay(self).plot(ax=ax)


def curve_of(triage: FindsGates, errors: Alpha | Sequence[Alpha] | None, sure: Fraction, seed: int) -> TriageCurve:
    """Return the curve of a triage."""
    given = ERRORS if errors is None else errors
    several = isinstance(given, Iterable) and not isinstance(given, str)
    exact = [exact_error(error) for error in (given if several else [given])]  # type: ignore[union-attr]
    counted, sizes = _as_batch(triage), triage.counts.tolist()
    steps = triage._steps(seed)
    points = []
    for error in exact:
        taken = 0
        for batch, n in zip(counted, sizes, strict=True):
            largest = selection.largest_accepted(batch, n, 1, error)
            taken += int(batch.counts[batch.values <= largest].sum())
        gate = triage._gate(steps, [error] * len(sizes), float(sure), 1 - sure)
        accepted = int(gate.accepted.sum())
        wrong = int(gate.wrong.sum()) / accepted if accepted else None
        points.append(CurvePoint(float(error), taken / max(1, sum(sizes)), gate.share, wrong))
    return TriageCurve(tuple(points), float(sure), int(sum(sizes)))


def _as_batch(triage: FindsGates) -> list[Counted]:
    """Return the values of the rows of a triage, each judged by the others: a wrong row does not count itself."""
    answer = []
    for number in range(len(triage.counts)):
        parts = []
        for some, itself in ((triage.right, 0), (triage.wrong, 1)):
            keys = some.of_group(number)
            groups = np.full(len(keys[0]), number, dtype=np.int64)
            values = selection.p_values_in_units(triage.wrong, groups, keys, None)
            parts.append(Counted.of(values - itself))
        answer.append(Counted.together(parts))
    return answer
