"""The protocol ``Target``, and what targets get: the true labels of calibration rows with their keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rankset.core import lexicographic
from rankset.core.lexicographic import Keys
from rankset.core.weights import Weights
from rankset.errors import KindError

Ints = NDArray[np.int64]

Chosen = tuple[Ints, Weights | None]
"""The true labels that are entries, by number, and their weights; None if all weights are 1."""


@dataclass(frozen=True, eq=False)
class TrueLabels:
    """The true labels of some calibration rows, as a target gets them. Every array has one entry per true label.

    Attributes
    ----------
    row
        The row of the label. Rows are in ascending order.
    group
        The number of the group of the label, by the condition of the rule.
    column
        The column of the label.
    keys
        The keys of the label: a tuple of arrays, most significant first. Larger keys mean a more unusual label.
    classes
        Class names in column order.
    order
        An order of the labels by row, then by group, then by keys.
    ends
        Positions in ``order`` after the last, most unusual, label of each row and group.
    sizes
        Number of labels of each row and group, in the order of ``ends``.

    Examples
    --------
    >>> import numpy as np, rankset as rs
    >>> row, column = np.array([0, 0, 1]), np.array([2, 0, 1])
    >>> labels = rs.TrueLabels(row, np.zeros(3, int), column, (np.array([-0.2, -0.9, -0.5]),), range(3))
    >>> labels.order.tolist(), labels.ends.tolist(), labels.sizes.tolist()
    ([1, 0, 2], [2, 3], [2, 1])
    """

    row: Ints
    group: Ints
    column: Ints
    keys: Keys
    classes: Sequence[object]

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def order(self) -> Ints:
        """An order by row, then by group, then by keys: the most unusual label of a row and group is the last."""
        return lexicographic.argsort((self.row, self.group, *self.keys))

    @cached_property
    def ends(self) -> Ints:
        """Positions in ``order`` after the last label of each row and group."""
        row, group = self.row[self.order], self.group[self.order]
        last = np.append((row[1:] != row[:-1]) | (group[1:] != group[:-1]), [True] * bool(len(row)))
        return np.flatnonzero(last) + 1

    @cached_property
    def sizes(self) -> Ints:
        """Number of labels of each row and group, in the order of ``ends``."""
        return np.diff(self.ends, prepend=0)


@runtime_checkable
class Target(Protocol):
    """Protocol of targets: what is promised about the true labels of a row.

    A target turns the true labels of calibration rows into entries. The loss of a row is the sum of the weights of its
    entries that the set misses. The mean loss of new rows is at most alpha, whatever the score. For this to hold, the
    weights of the entries of a row must add up to at most 1, in every group of the condition.

    Write it as a frozen dataclass with ``==``: rules are merged only if their targets are equal. It must not depend on
    the calibration rows. ``Rule.save`` refuses targets that are not part of rankset.

    Optional attributes:

    ``several_labels``
        Whether rows can have several labels, so that ``labels`` are lists or a 0/1 matrix. Default: True.
    ``about_false_labels``
        Whether entries are false labels, which sets must not contain: ``entries`` then gets the false labels of the
        rows, and a set contains the labels that are less unusual than almost all entries. Default: False.
    ``promise``
        What is promised, in words, with ``{}`` in place of 1 - alpha.
    ``promise_by_label``
        The same if labels have thresholds of their own, as with ``PerLabel()``.

    Examples
    --------
    The most unusual label counts half, the second most unusual one the other half:

    >>> import numpy as np, rankset as rs
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class WorstTwo:
    ...     def entries(self, labels):
    ...         last = labels.ends - 1
    ...         second = (labels.ends - 2)[labels.sizes > 1]
    ...         places = labels.order[np.concatenate([last, second])]
    ...         return places, (np.ones(len(places), int), np.full(len(places), 2))
    >>> probs = [[0.9, 0.8, 0.1], [0.7, 0.2, 0.6], [0.4, 0.9, 0.3], [0.1, 0.3, 0.8]]
    >>> labels = [[0, 1], [0, 2], [1], [2]]
    >>> rule = rs.calibrate(probs, labels, target=WorstTwo(), kind="marginals", method="thr")
    >>> rule.predict([[0.85, 0.75, 0.1]], alpha=0.3).to_lists()
    [[0, 1]]
    """

    def entries(self, labels: TrueLabels) -> Chosen:
        """Return which of the true labels of calibration rows are entries, and their weights.

        Parameters
        ----------
        labels : TrueLabels
            The true labels of some rows, with groups and keys.

        Returns
        -------
        places : array of int
            Numbers of the labels that are entries.
        weights : pair of arrays of int, or None
            The weight of each entry: an integer, and the integer that it is divided by. None if all weights are 1.
        """


def checked_target(target: object) -> Target:
    """Return ``target``, or the target that the name ``target`` stands for; raise an error if it is neither."""
    if isinstance(target, str):
        from rankset.targets.names import named_target

        return named_target(target)
    if isinstance(target, type):
        raise KindError.class_instead_of_object("target", target)
    if not callable(getattr(target, "entries", None)):
        expected = "a target such as Recall() or AllLabels(), the name of one, or another object with entries(labels)"
        raise KindError.argument("target", expected, target)
    return cast("Target", target)


def is_about_false_labels(target: Target) -> bool:
    """Return whether sets must not contain entries."""
    return bool(getattr(target, "about_false_labels", False))


def forbids_more_labels(target: Target) -> bool:
    """Return whether a promise can fail because a set has too many labels."""
    return bool(getattr(target, "forbids_more_labels", False)) or is_about_false_labels(target)


def has_several_labels(target: Target) -> bool:
    """Return whether rows can have several labels."""
    return bool(getattr(target, "several_labels", True))
