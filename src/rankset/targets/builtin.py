"""Targets that every label counts for in the same way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankset.core.arrays import is_whole
from rankset.errors import KindError
from rankset.targets.base import Chosen, TrueLabels

MOST_MISSED = 1 << 31
EACH = "separately for every label (or group of labels with one threshold)"
EVERY_LABEL = f"a true label is in the set with probability at least {{}}, {EACH}"
"""What targets promise if labels, or groups of labels, have thresholds of their own."""


@dataclass(frozen=True)
class OneLabel:
    """Every row has one true label, and it is in the set with probability at least 1 - alpha. This is the default.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, target=rs.OneLabel()) == rs.calibrate(probs, labels)
    True
    """

    several_labels: ClassVar[bool] = False
    promise: ClassVar[str] = "the set contains the true label with probability at least {}"

    def entries(self, labels: TrueLabels) -> Chosen:
        """Return every label."""
        return np.arange(len(labels)), None


@dataclass(frozen=True)
class Recall:
    """The expected share of a row's true labels that the set misses is at most alpha.

    It is a mean over rows: a row with many labels counts as much as a row with one label. Rows without labels are set
    aside; the promise is about rows that have labels. The method is conformal risk control (Angelopoulos et al. 2024).

    Examples
    --------
    >>> import rankset as rs
    >>> probs = [[0.9, 0.8, 0.1], [0.7, 0.2, 0.6], [0.4, 0.9, 0.3], [0.1, 0.3, 0.8]]
    >>> rule = rs.calibrate(probs, [[0, 1], [0, 2], [1], [2]], target=rs.Recall(), kind="marginals")
    >>> rule.predict([[0.8, 0.7, 0.1]], alpha=0.3).to_lists()
    [[0]]
    """

    promise: ClassVar[str] = "the expected share of a row's true labels that the set contains is at least {}"
    promise_by_label: ClassVar[str] = EVERY_LABEL

    def entries(self, labels: TrueLabels) -> Chosen:
        """Return every label, with the weight 1 / (number of labels of its row in its group)."""
        sizes = np.repeat(labels.sizes, labels.sizes)
        return labels.order, (np.ones(len(labels), dtype=np.int64), sizes)


@dataclass(frozen=True)
class AtMostMissed:
    """The set misses at most ``m`` true labels of the row, with probability at least 1 - alpha.

    Rows without labels are set aside; the promise is about rows that have labels.

    Parameters
    ----------
    m : int
        Number of true labels that a set may miss. 0 is the same as ``AllLabels()``.

    Raises
    ------
    KindError
        If ``m`` is not an integer of at least 0 and below 2**31.

    Examples
    --------
    >>> import rankset as rs
    >>> probs = [[0.9, 0.8, 0.1], [0.7, 0.2, 0.6], [0.4, 0.9, 0.3], [0.1, 0.3, 0.8]]
    >>> rule = rs.calibrate(probs, [[0, 1], [0, 2], [1], [2]], target=rs.AtMostMissed(1), kind="marginals")
    >>> rule.predict([[0.8, 0.7, 0.1]], alpha=0.3).to_lists()
    [[0, 1]]
    """

    m: int

    def __post_init__(self) -> None:
        if not is_whole(self.m) or not 0 <= self.m < MOST_MISSED:
            raise KindError.argument("m", "an integer of at least 0 and below 2**31", self.m)
        object.__setattr__(self, "m", int(self.m))

    @property
    def promise(self) -> str:
        """What is promised, in words."""
        return f"the set misses at most {self.m:,} of a row's true labels with probability at least {{}}"

    @property
    def promise_by_label(self) -> str:
        """What is promised if labels have thresholds of their own, in words."""
        if not self.m:
            return EVERY_LABEL
        missed = f"at most {self.m:,} of a row's true labels among them are missed with probability at least {{}}"
        return f"if labels share a threshold, {missed}; nothing about a label with a threshold of its own"

    def entries(self, labels: TrueLabels) -> Chosen:
        """Return the label of each row and group that comes after ``m`` more unusual ones."""
        return labels.order[(labels.ends - 1 - self.m)[labels.sizes > self.m]], None


@dataclass(frozen=True)
class AllLabels:
    """The set contains all true labels of the row, with probability at least 1 - alpha.

    Rows without labels are set aside; the promise is about rows that have labels.

    Examples
    --------
    >>> import rankset as rs
    >>> probs = [[0.9, 0.8, 0.1], [0.7, 0.2, 0.6], [0.4, 0.9, 0.3], [0.1, 0.3, 0.8]]
    >>> rule = rs.calibrate(probs, [[0, 1], [0, 2], [1], [2]], target=rs.AllLabels(), kind="marginals")
    >>> rule.predict([[0.8, 0.7, 0.1]], alpha=0.3).to_lists()
    [[0, 1]]
    """

    promise: ClassVar[str] = "the set contains all true labels of a row with probability at least {}"
    promise_by_label: ClassVar[str] = EVERY_LABEL

    def entries(self, labels: TrueLabels) -> Chosen:
        """Return the most unusual label of each row and group."""
        return labels.order[labels.ends - 1], None


@dataclass(frozen=True)
class AnyLabel:
    """The set contains at least one true label of the row, with probability at least 1 - alpha.

    Rows without labels are set aside; the promise is about rows that have labels.

    Examples
    --------
    >>> import rankset as rs
    >>> probs = [[0.9, 0.8, 0.1], [0.7, 0.2, 0.6], [0.4, 0.9, 0.3], [0.1, 0.3, 0.8]]
    >>> rule = rs.calibrate(probs, [[0, 1], [0, 2], [1], [2]], target=rs.AnyLabel(), kind="marginals")
    >>> rule.predict([[0.8, 0.7, 0.1]], alpha=0.3).to_lists()
    [[0, 1]]
    """

    promise: ClassVar[str] = "the set contains at least one true label of a row with probability at least {}"
    promise_by_label: ClassVar[str] = (
        "a true label is in the set with probability at least {}, separately for every label; of labels with one "
        "threshold, at least one of a row's true labels"
    )

    def entries(self, labels: TrueLabels) -> Chosen:
        """Return the least unusual label of each row and group."""
        return labels.order[labels.ends - labels.sizes], None
