"""Conditions: for whom the guarantee holds separately, as a group number for every (row, label) cell.

A condition is a small frozen value. Like a score it is a formula over cells, here over the label's column and
the row's group, so it serves calibration and prediction alike and composes with any score. Group numbers are
0 … count-1, and -1 for a group calibration never saw.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rankset.errors import KindError, LabelError
from rankset.inputs.vocabulary import Name, Names, group_names, plain

Ints = NDArray[np.int64]


@runtime_checkable
class Condition(Protocol):
    """Anything that numbers groups of cells."""

    @property
    def needs_groups(self) -> bool:
        """Whether it looks at the rows' groups."""

    def count(self, n_columns: int, n_row_groups: int) -> int:
        """How many groups there are."""

    def numbers(self, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:
        """The group of the cells in ``columns`` of rows in ``row_groups`` (-1: unseen), by broadcasting."""


@dataclass(frozen=True)
class Marginal:
    """One threshold for everybody: coverage holds on average over rows and labels."""

    needs_groups = False

    def count(self, n_columns: int, n_row_groups: int) -> int:  # noqa: ARG002
        return 1

    def numbers(self, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:  # noqa: ARG002
        return np.zeros((1, 1), dtype=np.int64)


@dataclass(frozen=True)
class PerLabel:
    """One threshold per true label, or per cluster of labels (``clusters`` names one for each class)."""

    clusters: tuple[Name, ...] | None = None
    needs_groups = False

    def __post_init__(self) -> None:
        unordered = isinstance(self.clusters, str | bytes | Mapping | set | frozenset)
        if unordered or not isinstance(self.clusters, Iterable | None):
            raise KindError.argument(
                "clusters", "a list with one cluster name per class, in column order", self.clusters
            )
        if self.clusters is not None:
            names = tuple(plain(name, "clusters") for name in self.clusters)
            object.__setattr__(self, "clusters", names)

    @cached_property
    def _clusters(self) -> tuple[Names, Ints] | None:
        if self.clusters is None:
            return None
        array = np.array(self.clusters, dtype=object)
        names = group_names(array)
        return names, names.codes(array)

    def count(self, n_columns: int, n_row_groups: int) -> int:  # noqa: ARG002
        if self._clusters is None:
            return n_columns
        names, codes = self._clusters
        if len(codes) != n_columns:
            raise LabelError.clusters(n_columns, len(codes))
        return len(names)

    def numbers(self, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:  # noqa: ARG002
        return columns if self._clusters is None else self._clusters[1][columns]


@dataclass(frozen=True)
class PerGroup:
    """One threshold per group of rows (a hospital, a language): pass ``groups=``, one name per row."""

    needs_groups = True

    def count(self, n_columns: int, n_row_groups: int) -> int:  # noqa: ARG002
        return n_row_groups

    def numbers(self, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:  # noqa: ARG002
        return row_groups


@dataclass(frozen=True)
class PerLabelAndGroup:
    """One threshold for every label in every group of rows: pass ``groups=``, one name per row.

    More generally one threshold for every combination of the groups of two conditions, for example
    ``PerLabelAndGroup(PerGroup(), PerLabel(clusters))`` for clusters of labels.
    """

    first: Condition = PerGroup()
    second: Condition = PerLabel()

    def __post_init__(self) -> None:
        checked_condition(self.first)
        checked_condition(self.second)

    @property
    def needs_groups(self) -> bool:
        return self.first.needs_groups or self.second.needs_groups

    def count(self, n_columns: int, n_row_groups: int) -> int:
        return self.first.count(n_columns, n_row_groups) * self.second.count(n_columns, n_row_groups)

    def numbers(self, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:
        first = self.first.numbers(columns, row_groups, n_columns, n_row_groups)
        second = self.second.numbers(columns, row_groups, n_columns, n_row_groups)
        joined = first * self.second.count(n_columns, n_row_groups) + second
        return np.where((first < 0) | (second < 0), -1, joined)


BUILT_IN: tuple[type[Any], ...] = (Marginal, PerLabel, PerGroup, PerLabelAndGroup)
"""The conditions a file may name."""


def has_clusters(condition: Condition) -> bool:
    """Whether a condition knows classes by their column."""
    if isinstance(condition, PerLabelAndGroup):
        return has_clusters(condition.first) or has_clusters(condition.second)
    return isinstance(condition, PerLabel) and condition.clusters is not None


def checked_condition(condition: object) -> Condition:
    """``condition`` itself, if it is one."""
    if isinstance(condition, type):
        raise KindError.class_instead_of_object("condition", condition)
    if isinstance(condition, BUILT_IN):  # asking a protocol takes long
        return condition
    if not isinstance(condition, Condition):
        raise KindError.argument("condition", "a condition such as Marginal() or PerLabel()", condition)
    return condition
