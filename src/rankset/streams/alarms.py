"""Alarms of a stream: what they have seen, since when, how sure they are, and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from rankset.streams.betting import Wealth

WORDS = {
    "labels": (
        "the scores of true labels do not look like those of earlier rows",
        "Look at recent rows: new kinds of rows, another model, wrong labels? Then calibrate on recent rows.",
    ),
    "outputs": (
        "the largest probabilities do not look like those of earlier rows",
        "Look at recent rows: other inputs, or another model? Label some of them, and compare coverage.",
    ),
    "coverage": (
        "sets miss the true label more often than allowed",
        "Calibrate a new rule on recent rows, or train the model anew. Until then treat sets as too small.",
    ),
}
"""What each alarm says, and what to do."""
LARGEST = 690.0
"""Chances are written as powers of ten if the logarithm of the evidence is larger: floats end there."""


@dataclass(frozen=True)
class Alarm:
    """One alarm of a stream.

    Attributes
    ----------
    name
        "labels" (scores of true labels), "outputs" (largest probabilities, no labels needed) or "coverage" (misses).
    raised
        Whether it was raised. It stays raised until ``Stream.restart_alarms``.
    at
        Number of the last row that had come when it was raised, from 0 on; None if it was not.
    since
        Number of the row since which the evidence has grown, an estimate of when rows changed; None if it was not.
    delta
        Probability of a false alarm, at most, however long the stream is.
    log_wealth
        Natural logarithm of the evidence now.
    highest
        The largest one so far. The alarm is raised if it reaches log(1 / delta).
    rows
        Number of rows it has seen.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> rule = rs.calibrate(probs[:1000], labels[:1000], kind="logits")
    >>> stream = rs.Stream(rule, alpha=0.1, outputs=probs[:1000])
    >>> _ = stream.predict(probs[1000:1500]), stream.predict(probs[1500:] / 3)
    >>> alarm = stream.alarms.outputs
    >>> alarm.raised, alarm.at, alarm.since
    (True, 513, 493)
    """

    name: str
    raised: bool
    at: int | None
    since: int | None
    delta: float
    log_wealth: float
    highest: float
    rows: int

    @classmethod
    def _of(cls, name: str, wealth: Wealth) -> Alarm:
        """Return what an alarm says now."""
        raised, delta = wealth.raised_at is not None, math.exp(-wealth.limit)
        return cls(name, raised, wealth.raised_at, wealth.since, delta, wealth.log, wealth.highest, wealth.rows)

    @property
    def chance(self) -> float:
        """How likely so much evidence is, at most, if nothing has changed: a p-value that holds at all times."""
        return min(1.0, math.exp(-self.highest))

    @property
    def advice(self) -> str:
        """What to do if the alarm is raised."""
        return WORDS[self.name][1]

    @property
    def _chance_text(self) -> str:
        """The chance with two digits; if it is too small for a float, the next larger power of ten."""
        return f"{self.chance:.2g}" if self.highest < LARGEST else f"1e-{math.floor(self.highest / math.log(10))}"

    def __str__(self) -> str:
        if not self.raised:
            return f"{self.name}: no alarm after {self.rows:,} rows (p = {self.chance:.2g}, alarm at {self.delta:g})"
        usual = "sets missed no more than allowed" if self.name == "coverage" else "nothing had changed"
        return (
            f"{self.name}: ALARM at row {self.at:,}, since about row {self.since:,}: {WORDS[self.name][0]}. If "
            f"{usual}, the chance of this would be at most {self._chance_text}. {self.advice}"
        )


@dataclass(frozen=True)
class Alarms:
    """The alarms of a stream, from ``Stream.alarms``. It is true if one of them is raised.

    Attributes
    ----------
    labels
        Whether true labels still look like before: exchangeability of their scores, in the order in which labels come.
    outputs
        Whether outputs still look like before: exchangeability of the largest probabilities. No labels are needed.
    coverage
        Whether sets miss more often than alpha + tolerance.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> stream = rs.Stream(rs.calibrate(probs[:1000], labels[:1000], kind="logits"), alpha=0.1)
    >>> _ = stream.predict(probs[1000:]), stream.update(labels[1000:])
    >>> bool(stream.alarms), stream.alarms.labels.rows
    (False, 1000)
    """

    labels: Alarm
    outputs: Alarm
    coverage: Alarm

    def __iter__(self) -> Iterator[Alarm]:
        return iter((self.labels, self.outputs, self.coverage))

    def __bool__(self) -> bool:
        return any(alarm.raised for alarm in self)

    @property
    def raised(self) -> tuple[Alarm, ...]:
        """The alarms that are raised."""
        return tuple(alarm for alarm in self if alarm.raised)

    def __str__(self) -> str:
        return "\n".join(map(str, self))
