"""Condition: what numbers the groups of (row, label) cells, and how a condition is checked and applied."""

from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rankset.errors import KindError, LabelError

Ints = NDArray[np.int64]


@runtime_checkable
class Condition(Protocol):
    """Any object that numbers groups of (row, label) cells. Every group gets a threshold of its own.

    Group numbers are 0 … count-1, and -1 for a group that has no calibration rows.

    Two more properties are optional, False by default: ``has_clusters`` (groups depend on the order of the classes)
    and ``one_label_per_group`` (no group contains cells of two labels).

    Examples
    --------
    >>> import numpy as np
    >>> import rankset as rs
    >>> class FirstLabelOrOther:
    ...     needs_groups = False
    ...     def count(self, n_columns, n_row_groups):
    ...         return 2
    ...     def numbers(self, columns, row_groups, n_columns, n_row_groups):
    ...         return np.minimum(columns, 1)
    >>> isinstance(FirstLabelOrOther(), rs.Condition)
    True
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, condition=FirstLabelOrOther()).n
    260
    """

    @property
    def needs_groups(self) -> bool:
        """Whether rows have groups, passed as ``groups=``."""

    def count(self, n_columns: int, n_row_groups: int) -> int:
        """Return the number of groups.

        Parameters
        ----------
        n_columns : int
            Number of classes.
        n_row_groups : int
            Number of different row groups.

        Returns
        -------
        int
            Number of groups of cells.
        """

    def numbers(self, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:
        """Return the group number of cells.

        Parameters
        ----------
        columns : array of int
            Columns of the labels.
        row_groups : array of int
            Groups of the rows, -1 for groups without calibration rows. It is broadcast against ``columns``.
        n_columns, n_row_groups : int
            As in ``count``.

        Returns
        -------
        array of int
            Group numbers, in a shape that can be broadcast to that of the cells.
        """


def has_clusters(condition: Condition) -> bool:
    """Whether groups depend on the order of the classes, as ``condition`` declares."""
    return bool(getattr(condition, "has_clusters", False))


def has_one_label_per_group(condition: Condition) -> bool:
    """Whether no group contains cells of two labels, as ``condition`` declares."""
    return bool(getattr(condition, "one_label_per_group", False))


def checked_condition(condition: object) -> Condition:
    """Return ``condition`` if it is one; raise a KindError otherwise."""
    if isinstance(condition, type):
        raise KindError.class_instead_of_object("condition", condition)
    if is_trusted(condition):  # checking a protocol is slow
        return cast("Condition", condition)
    if not isinstance(condition, Condition):
        raise KindError.argument("condition", "a condition such as Marginal() or PerLabel()", condition)
    return condition


def is_trusted(condition: object) -> bool:
    """Whether the class of ``condition`` itself, not one of its parents, declares that its numbers need no check."""
    return bool(vars(type(condition)).get("trusted", False))


def group_numbers(condition: Condition, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:
    """Return the group numbers of cells. Those of a condition that is not rankset's own are checked.

    Cells of rows whose group has no calibration rows get -1, whatever the condition returns for them.
    """
    if is_trusted(condition):
        return condition.numbers(columns, row_groups, n_columns, n_row_groups)
    array = np.atleast_2d(np.asarray(condition.numbers(columns, row_groups, n_columns, n_row_groups)))
    count = condition.count(n_columns, n_row_groups)
    if condition.needs_groups and (row_groups < 0).any():
        array = np.where(row_groups < 0, -1, array)
    if array.dtype.kind not in "iu":
        raise LabelError.group_numbers(condition, count, f"an array of {array.dtype}")
    if array.size and (array.min() < -1 or array.max() >= count):
        raise LabelError.group_numbers(condition, count, f"{array.min()} to {array.max()}")
    return array
