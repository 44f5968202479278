"""The conditions of rankset: Marginal, PerLabel, PerGroup, PerLabelAndGroup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from rankset.conditions.base import (
    Condition,
    Ints,
    checked_condition,
    group_numbers,
    has_clusters,
    has_one_label_per_group,
    shares_rows,
)
from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.errors import KindError, LabelError
from rankset.inputs.vocabulary import Name, Names, group_names, plain


@dataclass(frozen=True)
class Marginal:
    """One threshold for all rows and labels: coverage holds on average over all rows. This is the default.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels, condition=rs.Marginal())
    Rule(Rank(), Marginal(), kind='probs', 4 classes, calibrated on 260 rows)
    """

    needs_groups = False
    trusted = True

    def count(self, n_columns: int, n_row_groups: int) -> int:  # noqa: ARG002
        """Return 1."""
        return 1

    def numbers(self, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:  # noqa: ARG002
        """Return 0 for all (row, label) pairs."""
        return np.zeros((1, 1), dtype=np.int64)


@dataclass(frozen=True)
class PerLabel:
    """One threshold per label or cluster of labels: coverage holds separately for every true label or cluster.

    Parameters
    ----------
    clusters : sequence, optional
        The cluster of each class, in column order. By default, every class has its own threshold.
        ``PerLabel.clustered`` finds clusters of classes with similar scores on rows of their own.

    Raises
    ------
    KindError
        If ``clusters`` is not a list of names.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs, labels, condition=rs.PerLabel())
    >>> rule = rs.calibrate(probs, labels, condition=rs.PerLabel(["low", "low", "high", "high"]))
    >>> rule.predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1).to_lists()
    [[0, 1]]
    """

    clusters: tuple[Name, ...] | None = None
    needs_groups = False
    trusted = True

    def __post_init__(self) -> None:
        if isinstance(self.clusters, Mapping):
            raise KindError.clusters_by_name(self.clusters)
        unordered = isinstance(self.clusters, str | bytes | set | frozenset)
        if unordered or not isinstance(self.clusters, Iterable | None):
            raise KindError.argument(
                "clusters", "a list with one cluster name per class, in column order", self.clusters
            )
        if self.clusters is not None:
            names = tuple(plain(name, "clusters") for name in self.clusters)
            object.__setattr__(self, "clusters", names)

    @classmethod
    @takes_alpha
    def clustered(
        cls,
        probs: ArrayLike,
        labels: ArrayLike,
        alpha: Alpha = 0.1,
        **options: Any,  # noqa: ANN401
    ) -> PerLabel:
        """Find clusters of classes with similar scores on rows of their own. Do not calibrate on the same rows.

        Parameters
        ----------
        probs, labels, alpha, **options
            As in ``rankset.cluster_labels``, which does the work.

        Returns
        -------
        PerLabel

        Raises
        ------
        RanksetError
            As in ``rankset.cluster_labels``.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rs.PerLabel.clustered(probs[:100], labels[:100], n_clusters=2)
        PerLabel(clusters=('cluster 2', 'cluster 2', 'cluster 1', 'cluster 2'))
        """
        # Finding clusters needs scores and rules, which stand above conditions, so the function is looked up by name.
        find = import_module("rankset").cluster_labels
        return cast("PerLabel", find(probs, labels, alpha, **options))

    def __repr__(self) -> str:
        return "PerLabel()" if self.clusters is None else f"PerLabel(clusters={self.clusters!r})"

    @cached_property
    def _clusters(self) -> tuple[Names, Ints] | None:
        if self.clusters is None:
            return None
        array = np.array(self.clusters, dtype=object)
        names = group_names(array)
        return names, names.codes(array)

    @property
    def has_clusters(self) -> bool:
        """Whether there are clusters. If so, groups depend on the order of the classes."""
        return self.clusters is not None

    @property
    def one_label_per_group(self) -> bool:
        """Whether every label has its own group."""
        return self.clusters is None

    def count(self, n_columns: int, n_row_groups: int) -> int:  # noqa: ARG002
        """Return the number of labels, or the number of clusters."""
        if self._clusters is None:
            return n_columns
        names, codes = self._clusters
        if len(codes) != n_columns:
            raise LabelError.clusters(n_columns, len(codes))
        return len(names)

    def numbers(self, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:  # noqa: ARG002
        """Return the column of each label, or the number of its cluster."""
        return columns if self._clusters is None else self._clusters[1][columns]


@dataclass(frozen=True)
class PerGroup:
    """One threshold per group of rows: coverage holds in every group separately.

    A group can be a hospital or a language, for example. Pass the group name of each row as ``groups=`` to
    ``calibrate`` and ``predict``.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs, labels, condition=rs.PerGroup(), groups=["north", "south"] * 130)
    >>> rule.predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.1, groups=["south"]).to_lists()
    [[0, 1, 2]]
    """

    needs_groups = True
    trusted = True

    def count(self, n_columns: int, n_row_groups: int) -> int:  # noqa: ARG002
        """Return the number of row groups."""
        return n_row_groups

    def numbers(self, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:  # noqa: ARG002
        """Return the number of the group of each row."""
        return row_groups


@dataclass(frozen=True)
class PerLabelAndGroup:
    """One threshold for each combination of a label and a group of rows.

    Pass the group name of each row as ``groups=`` to ``calibrate`` and ``predict``.

    You can also pass two other conditions. Then each combination of a group of the first condition and a group of the
    second condition has its own threshold. For example, ``PerLabelAndGroup(PerGroup(), PerLabel(clusters))`` has a
    threshold for each combination of a cluster of labels and a group of rows.

    Parameters
    ----------
    first : Condition, default PerGroup()
        The first condition.
    second : Condition, default PerLabel()
        The second condition.

    Raises
    ------
    KindError
        If ``first`` or ``second`` is not a condition.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs, labels, condition=rs.PerLabelAndGroup(), groups=["north", "south"] * 130)
    >>> rule.predict([[0.6, 0.3, 0.1, 0.0]], alpha=0.2, groups=["south"]).to_lists()
    [[0, 1]]
    """

    first: Condition = PerGroup()
    second: Condition = PerLabel()
    trusted = True

    def __repr__(self) -> str:
        usual = self.first == PerGroup() and self.second == PerLabel()
        return "PerLabelAndGroup()" if usual else f"PerLabelAndGroup(first={self.first!r}, second={self.second!r})"

    def __post_init__(self) -> None:
        for one in (checked_condition(self.first), checked_condition(self.second)):
            if shares_rows(one):
                raise KindError.shared_rows_inside(type(self).__name__, one)

    @property
    def needs_groups(self) -> bool:
        """Whether at least one of the two conditions needs row groups."""
        return self.first.needs_groups or self.second.needs_groups

    @property
    def has_clusters(self) -> bool:
        """Whether at least one of the two conditions depends on the order of the classes."""
        return has_clusters(self.first) or has_clusters(self.second)

    @property
    def one_label_per_group(self) -> bool:
        """Whether all (row, label) pairs of a group have the same label."""
        return has_one_label_per_group(self.first) or has_one_label_per_group(self.second)

    def count(self, n_columns: int, n_row_groups: int) -> int:
        """Return the product of the numbers of groups of the two conditions."""
        return self.first.count(n_columns, n_row_groups) * self.second.count(n_columns, n_row_groups)

    def numbers(self, columns: Ints, row_groups: Ints, n_columns: int, n_row_groups: int) -> Ints:
        """Return the number of the combined group of each (row, label) pair."""
        first = group_numbers(self.first, columns, row_groups, n_columns, n_row_groups)
        second = group_numbers(self.second, columns, row_groups, n_columns, n_row_groups)
        joined = first * self.second.count(n_columns, n_row_groups) + second
        return np.where((first < 0) | (second < 0), -1, joined)
