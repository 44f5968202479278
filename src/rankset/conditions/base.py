"""The protocol ``Condition``, and functions that check and apply a condition."""

from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rankset.core.sharing import Sharing
from rankset.errors import KindError, LabelError

Ints = NDArray[np.int64]


@runtime_checkable
class Condition(Protocol):
    """Protocol of conditions: any object that assigns (row, label) pairs to numbered groups.

    Every group has its own threshold, so coverage holds in every group separately. Group numbers are 0 … count-1.
    The number -1 means a group without calibration rows.

    A condition looks only at the column of the label and at the group of the row, not at probabilities. It must not
    depend on the calibration rows. Write it as a frozen dataclass with ``==``: rules are merged only if their
    conditions are equal. ``Rule.save`` refuses conditions that are not part of rankset, because loading a file does not
    run other code.

    If ``needs_groups`` is False, users pass no ``groups=``, and all rows have the row group 0.

    Two properties are optional. Their default is False. ``has_clusters`` is True if groups depend on the order of the
    classes. ``one_label_per_group`` is True if all (row, label) pairs of a group have the same label. ``Pooled``
    makes the groups of a condition share rows.

    Examples
    --------
    Labels below ``first`` share a threshold. Each of the other labels has its own, so it is covered separately:

    >>> import numpy as np
    >>> import rankset as rs
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class PerSevereLabel:
    ...     first: int
    ...     needs_groups = False
    ...     def count(self, n_columns, n_row_groups):
    ...         return n_columns - self.first + 1
    ...     def numbers(self, columns, row_groups, n_columns, n_row_groups):
    ...         return np.maximum(columns - self.first + 1, 0)
    >>> isinstance(PerSevereLabel(2), rs.Condition)
    True
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs, labels, method="thr", condition=PerSevereLabel(2))
    >>> print(rule.describe(0.1))
    Every label has its own condition:
      labels 0, 1  in the set if its probability is at least 0.1695
      label 2      in the set if its probability is at least 0.2199
      label 3      in the set if its probability is at least 0.1698
    >>> rule.coverage_band(0.1, label=3).n
    52

    ``PerLabelAndGroup`` combines it with other conditions:

    >>> both = rs.PerLabelAndGroup(rs.PerGroup(), PerSevereLabel(2))
    >>> rule = rs.calibrate(probs, labels, condition=both, groups=["north", "south"] * 130)
    >>> rule.coverage_band(0.2, group="south", label=3).n
    24
    """

    @property
    def needs_groups(self) -> bool:
        """Whether the user must pass ``groups=``, the group of each row."""

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
            Number of groups of (row, label) pairs.
        """

    def numbers(self, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:
        """Return the group numbers of (row, label) pairs.

        Parameters
        ----------
        columns : array of int
            Column of each label.
        row_groups : array of int
            Number of the group of each row, or -1 if the group has no calibration rows. Groups are numbered in the
            order of their sorted names. ``columns`` and ``row_groups`` have two dimensions, and their shapes can be
            broadcast to the same shape.
        n_columns, n_row_groups : int
            As in ``count``.

        Returns
        -------
        array of int
            Group numbers. Their shape has two dimensions and can be broadcast to the common shape of ``columns`` and
            ``row_groups``. Other shapes are refused.
        """


def has_clusters(condition: Condition) -> bool:
    """Return whether the groups of ``condition`` depend on the order of the classes. Default: False."""
    return bool(getattr(condition, "has_clusters", False))


def has_one_label_per_group(condition: Condition) -> bool:
    """Return whether all (row, label) pairs in a group of ``condition`` have the same label. Default: False."""
    return bool(getattr(condition, "one_label_per_group", False))


def sharing_of(condition: Condition, n_columns: int) -> Sharing | None:
    """Return how the groups of ``condition`` share calibration rows; None if every group uses its own rows alone."""
    share = getattr(condition, "_sharing", None)
    return None if share is None else cast("Sharing", share(n_columns))


def shares_rows(condition: Condition) -> bool:
    """Return whether the groups of ``condition`` share calibration rows."""
    return hasattr(condition, "_sharing")


def checked_condition(condition: object) -> Condition:
    """Return ``condition`` if it is a condition. Otherwise raise a KindError."""
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


def _fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Return whether an array of one shape can be broadcast to another."""
    try:
        return np.broadcast_shapes(shape, wanted) == wanted
    except ValueError:
        return False


def group_numbers(condition: Condition, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:
    """Return the group numbers of (row, label) pairs. Check the numbers if the condition is not part of rankset.

    Pairs of rows whose group has no calibration rows get -1, whatever the condition returns for these pairs.
    """
    if is_trusted(condition):
        return condition.numbers(columns, row_groups, n_columns, n_row_groups)
    array = np.asarray(condition.numbers(columns, row_groups, n_columns, n_row_groups))
    count, shape = condition.count(n_columns, n_row_groups), np.broadcast_shapes(columns.shape, row_groups.shape)
    if array.dtype.kind not in "iu":
        raise LabelError.group_numbers(condition, count, f"an array of {array.dtype}")
    if array.ndim not in (0, 2) or not _fits(array.shape, shape):
        raise LabelError.group_shape(condition, shape, array.shape)
    array = np.atleast_2d(array).astype(np.int64)
    if condition.needs_groups and (row_groups < 0).any():
        array = np.where(row_groups < 0, -1, array)
    if array.size and (array.min() < -1 or array.max() >= count):
        raise LabelError.group_numbers(condition, count, f"{array.min()} to {array.max()}")
    return array
