"""Conditions whose groups share calibration rows: ``Pooled`` and ``Balanced``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from rankset.conditions.base import (
    Condition,
    Ints,
    checked_condition,
    group_numbers,
    has_clusters,
    sharing_of,
)
from rankset.conditions.builtin import PerLabel
from rankset.conditions.class_weights import WeighsClasses, numbers_of_classes
from rankset.core.arrays import is_real
from rankset.core.masses import UNIT
from rankset.core.sharing import Borrowing, Sharing
from rankset.errors import KindError
from rankset.inputs.label_counts import count_of_classes

PER_LABEL = PerLabel()
BORROWED, TILT = 200.0, 20.0
"""Fixed numbers. Neighbouring ones do about as well (docs/understand/sharing.md)."""
SMALLEST, LARGEST = 1e-6, 1e12
"""Smallest and largest number of borrowed rows."""


@dataclass(frozen=True)
class Pooled:
    """One threshold per label or group of rows, found from its own rows and from rows borrowed from all others.

    Use it if coverage should be about the same for every class and there are few rows per class: ``PerLabel`` then
    keeps nearly every label, because it uses the rows of each class alone.

    What is proven: sets contain the true label with probability at least 1 - alpha, over all rows, for any score and
    any number of rows per group, none included. Coverage of each group is 1 - alpha only approximately: nothing is
    proven about a single group. Without ties between keys it comes closer the more rows all groups have; with many
    equal keys, wrap the score in ``TieBreak``. Rows must be exchangeable: not a stratified sample, with the same mix of
    groups in new rows. If every group has about 100 rows
    or more, use the condition itself, without ``Pooled``: then coverage of every group is proven.

    Parameters
    ----------
    condition : Condition, default PerLabel()
        The groups: ``PerLabel()``, ``PerGroup()``, ``PerLabelAndGroup()``, ``Balanced(shares)`` or one of your own.
    borrow : float, default 200
        How many rows every group borrows. Borrowed rows are as unusual, on average, as the rows of the group.
    tilt : float, default 20
        How many rows of a group count as much as the assumption that its rows are as unusual as those of all groups.
        If both numbers are very large, sets are those of ``Marginal()``.

    Raises
    ------
    KindError
        If ``condition`` is not a condition, or is a ``Pooled`` itself, or if a number is too small or too large.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("cifar100")
    >>> rule = rs.calibrate(probs[:500], labels[:500], method="thr", condition=rs.Pooled(rs.PerLabel()))
    >>> sets = rule.predict(probs[500:], alpha=0.1)
    >>> f"{sets.covers(labels[500:]).mean():.2f} {sets.sizes.mean():.2f}"       # with PerLabel() sets have 92 labels
    '0.92 2.57'
    """

    condition: Condition = PER_LABEL
    borrow: float = BORROWED
    tilt: float = TILT
    trusted = True

    def __post_init__(self) -> None:
        inner = checked_condition(self.condition)
        if isinstance(inner, Pooled):
            raise KindError.shared_rows_inside("Pooled", inner)
        for name in ("borrow", "tilt"):
            value = getattr(self, name)
            if not is_real(value) or not SMALLEST <= value <= LARGEST:
                raise KindError.argument(name, f"a number from {SMALLEST:g} to {LARGEST:g}", value)
            object.__setattr__(self, name, float(value))

    def __repr__(self) -> str:
        changed = {"borrow": BORROWED, "tilt": TILT}
        parts = [f"{name}={getattr(self, name):g}" for name, usual in changed.items() if getattr(self, name) != usual]
        return f"Pooled({', '.join([repr(self.condition), *parts])})"

    @property
    def needs_groups(self) -> bool:
        """Whether the inner condition needs row groups."""
        return self.condition.needs_groups

    @property
    def has_clusters(self) -> bool:
        """Whether groups depend on the order of the classes."""
        return has_clusters(self.condition)

    def count(self, n_columns: int, n_row_groups: int) -> int:
        """Return the number of groups of the inner condition."""
        return self.condition.count(n_columns, n_row_groups)

    def numbers(self, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:
        """Return the group numbers of the inner condition."""
        return group_numbers(self.condition, columns, row_groups, n_columns, n_row_groups)

    def _sharing(self, n_columns: int) -> Sharing:
        """Return how groups share rows: they borrow from all rows."""
        inner = sharing_of(self.condition, n_columns)
        return replace(inner or Sharing(), borrowing=Borrowing(self.borrow, self.tilt))


@dataclass(frozen=True)
class Balanced(WeighsClasses):
    """All classes count the same, however frequent they are: the mean of their coverages is at least 1 - alpha.

    With other conditions frequent classes decide: with ``Marginal()`` rare classes can be covered much less often. Here
    every calibration row has a weight, 1 / (number of classes x share of its class), so that all classes together weigh
    the same.

    What is proven: the macro coverage, the mean over classes of the probability that a set contains the true label, is
    at least 1 - alpha, if ``shares`` are the true shares of the classes in the rows that calibrate. Nothing is proven
    about a single class. ``Pooled(Balanced(shares))`` proves the same, and covers the classes more evenly.

    Parameters
    ----------
    shares : sequence of numbers
        Number or share of rows of each class, in column order, all of them positive: those of the training rows, if
        calibration rows have the same mix of classes. Do not count the calibration rows themselves: then the promise
        holds only approximately.

    Raises
    ------
    KindError
        If ``shares`` is not a list of positive numbers.
    LabelError
        When the rule is made: if there is not one share for each class.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("carer")
    >>> counts = [4666, 5362, 1304, 2159, 1937, 572]                    # of the rows on which the model was trained
    >>> rule = rs.calibrate(probs[:1000], labels[:1000], kind="logits", method="thr", condition=rs.Balanced(counts))
    >>> result = rs.evaluate(rule.predict(probs[1000:], alpha=0.1), labels[1000:])
    >>> f"{result['macro coverage']:.2f} {result['size']:.2f}"
    '0.89 1.21'
    >>> rs.Balanced.fit(["cat", "owl", "cat"], ["cat", "owl"]).shares
    (2.0, 1.0)
    """

    shares: tuple[float, ...]
    trusted = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", numbers_of_classes("shares", self.shares))

    @classmethod
    def fit(cls, labels: ArrayLike, classes: int | Iterable[object]) -> Balanced:
        """Count the classes of rows that do not calibrate, such as the training rows.

        Parameters
        ----------
        labels : array-like
            Labels of these rows.
        classes : int or sequence
            Number of classes, or class names in column order.

        Returns
        -------
        Balanced

        Raises
        ------
        LabelError
            If a label is not one of ``classes``.
        KindError
            If a class has no rows.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.Balanced.fit([0, 0, 1, 2, 2, 2], 3)
        Balanced(3 classes, shares from 0.1667 to 0.5)
        """
        return cls(count_of_classes(labels, classes))

    def __repr__(self) -> str:
        largest = max(self.shares)
        total = math.fsum(share / largest for share in self.shares)
        return (
            f"Balanced({len(self.shares):,} classes, shares from {min(self.shares) / largest / total:.4g} "
            f"to {1 / total:.4g})"
        )

    @cached_property
    def _weights(self) -> Ints:
        """The weight of a row of each class: inversely proportional to its share, at least 1."""
        least = Fraction(min(self.shares))
        return np.array([max(1, round(UNIT * least / Fraction(share))) for share in self.shares], dtype=np.int64)

    def _sharing(self, n_columns: int) -> Sharing:  # noqa: ARG002
        """Return how groups share rows: keys are compared as they are, with weights."""
        return Sharing(weights=self._weights, balanced=True)
