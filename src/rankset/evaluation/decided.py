"""``evaluate`` for decisions: how many accepted answers are wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset import notebook
from rankset.errors import join_names
from rankset.inputs.frames import ARRAY

Bools = NDArray[np.bool_]

SHOWN = 12
"""Number of groups in the printed table."""
CHECKS = (
    "Do these rows come from another source or time than the rows of the triage?",
    "Was the model trained or tuned on the rows of the triage?",
    "Were decisions about many small batches put together? The promise is about one batch.",
    "Do rows repeat others (copies, several rows of one person)? Then chance varies more than this.",
)


@dataclass(frozen=True)
class GroupDecisions:
    """Decisions about the rows of one group of the condition.

    Attributes
    ----------
    name
        The group: its row group, its predicted label, or both.
    error
        The allowed error.
    n, accepted, wrong
        Number of rows, of accepted rows, and of accepted rows whose answer is wrong.
    too_many
        Whether more answers are wrong than chance explains.
    """

    name: str
    error: float
    n: int
    accepted: int
    wrong: int
    too_many: bool


@dataclass(frozen=True, repr=False, eq=False)
class DecisionsEvaluation:
    """Decisions compared with the true labels, returned by ``evaluate``. Print it to see a table.

    Attributes
    ----------
    n, accepted, wrong
        Number of rows, of accepted rows, and of accepted rows whose answer is wrong.
    error
        The largest allowed error of the groups.
    error_rate, interval
        Share of wrong answers among the accepted ones, NaN if there are none; its exact interval (Clopper-Pearson).
    wrong_if_all
        Share of wrong answers if all rows were accepted.
    confidence
        Confidence of the interval.
    sure
        Probability with which the gate promises the error. None for a batch.
    groups
        The same for every group of the condition.
    reviewed, coverage, mean_size
        Number of rows that are not accepted; and of their sets, if these were passed, the share that contain the true
        label and the mean size. None otherwise.
    hours_saved
        Hours that nobody looks at accepted rows. None if ``minutes_per_row`` was not passed.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> done = rs.triage(probs[:1000], labels[:1000], kind="logits").accept(probs[1000:], error=0.05)
    >>> rs.evaluate(done, labels[1000:], minutes_per_row=2).hours_saved
    24.2
    """

    n: int
    accepted: int
    wrong: int
    error: float
    interval: tuple[float, float]
    wrong_if_all: float
    confidence: float
    sure: float | None
    groups: tuple[GroupDecisions, ...]
    reviewed: int
    coverage: float | None = None
    mean_size: float | None = None
    hours_saved: float | None = None

    @property
    def share(self) -> float:
        """Share of the rows that are accepted."""
        return self.accepted / self.n

    @property
    def error_rate(self) -> float:
        """Share of wrong answers among the accepted ones."""
        return self.wrong / self.accepted if self.accepted else math.nan

    @property
    def too_many(self) -> bool:
        """Whether more answers are wrong in a group than chance explains, in the rows of the triage and in these."""
        return any(one.too_many for one in self.groups)

    def __repr__(self) -> str:
        return f"DecisionsEvaluation({self.accepted:,} of {self.n:,} rows accepted, {self.wrong:,} of them wrong)"

    def _lines(self) -> list[tuple[str, str]]:
        low, high = self.interval
        ends = f"{self.confidence:.0%} interval {low:.2%} to {high:.2%}"
        share = f"{self.wrong:,} of {self.accepted:,}: {self.error_rate:.2%}, {ends}"
        lines = [
            ("accepted", f"{self.accepted:,} of {self.n:,} rows, {self.share:.1%}"),
            ("wrong among them", share if self.accepted else "–"),
            ("promised", self._promise()),
            ("if all were accepted", f"{self.wrong_if_all:.2%} wrong"),
            ("to review", f"{self.reviewed:,} rows{self._sets()}"),
        ]
        if self.hours_saved is not None:
            lines.append(("saved", f"{self.hours_saved:,.1f} hours"))
        return lines

    def _promise(self) -> str:
        several = len({one.error for one in self.groups}) > 1
        most = "at most its error" if several else f"at most {self.error:.12g}"
        where = "in each group, not for all together: " if len(self.groups) > 1 else ""
        if self.sure is None:
            return f"{where}an expected share of {most}"
        return f"{where}a share of {most} among all rows that pass, with confidence {self.sure:g}"

    def _sets(self) -> str:
        if self.coverage is None or self.mean_size is None:
            return ""
        return f"; {self.coverage:.1%} of their sets contain the true label, mean size {self.mean_size:.2f}"

    def __str__(self) -> str:
        lines = self._lines()
        width = max(len(name) for name, _ in lines)
        text = [f"Decisions about {self.n:,} rows", *(f"  {name.ljust(width)}  {value}" for name, value in lines)]
        if len(self.groups) > 1:
            text += ["", *self.group_lines()]
        if self.too_many:
            names = [one.name for one in self.groups if one.too_many] if len(self.groups) > 1 else []
            where = f" in {join_names(names, limit=3)}" if names else ""
            text += ["", f"More answers are wrong than promised{where}, and chance alone seldom does this. Check:"]
            text += [f"- {check}" for check in CHECKS]
        return "\n".join(text)

    def group_lines(self) -> list[str]:
        """Return the printed table of groups; no lines if there is one group.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("carer")
        >>> done = rs.triage(probs[:1000], labels[:1000], kind="logits").accept(probs[1000:], error=0.05)
        >>> rs.evaluate(done, labels[1000:]).group_lines()
        []
        """
        if len(self.groups) < 2:
            return []
        rows = [("group", "error", "rows", "accepted", "wrong"), *(self._row(one) for one in self.groups[:SHOWN])]
        widths = [max(len(row[place]) for row in rows) for place in range(5)]
        lines = [
            f"  {row[0].ljust(widths[0])}  "
            + "  ".join(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))
            for row in rows
        ]
        more = len(self.groups) - SHOWN
        return [*lines, *([f"  and {more:,} more groups"] if more > 0 else [])]

    @staticmethod
    def _row(one: GroupDecisions) -> tuple[str, ...]:
        share = f"{one.wrong:,} ({one.wrong / one.accepted:.2%})" if one.accepted else "–"
        return one.name, f"{one.error:g}", f"{one.n:,}", f"{one.accepted:,}", share

    def _repr_html_(self) -> str:
        return notebook.card(f"Decisions about {self.n:,} rows", notebook.table(self._lines()))

    def to_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401
        """Return a data frame with one row per group of the condition.

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
        >>> done = rs.triage(probs[:1000], labels[:1000], kind="logits").accept(probs[1000:], error=0.05)
        >>> list(rs.evaluate(done, labels[1000:]).to_frame("pandas").columns)
        ['group', 'error', 'n', 'accepted', 'wrong']
        """
        names = ("error", "n", "accepted", "wrong")
        columns: dict[Any, Any] = {"group": [one.name for one in self.groups]}
        return ARRAY.filled(columns | {name: [getattr(one, name) for one in self.groups] for name in names}, backend)
