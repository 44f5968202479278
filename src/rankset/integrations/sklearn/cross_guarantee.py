"""The coverage that is proven for cross-conformal rules."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rankset.conditions import has_one_label_per_group
from rankset.core.alpha import Alpha, exact_alpha, rows_needed
from rankset.core.alpha_argument import takes_alpha
from rankset.errors import RuleError
from rankset.rules.merging import renumbered
from rankset.rules.rule import Rule
from rankset.rules.spec import RuleSpec
from rankset.targets import AllLabels, AnyLabel, AtMostMissed, OneLabel, Target

Ints = NDArray[np.int64]

ONE = OneLabel()
EVERY_LABEL, SOME_LABELS = OneLabel | AllLabels, AnyLabel | AtMostMissed
"""Targets by which a set must contain all labels of a row, and by which some labels suffice."""


class ProvesCoverage:
    """Base of ``CrossRule``: the proven coverage."""

    rules: tuple[Rule, ...]
    stratified: bool
    spec: RuleSpec

    @takes_alpha
    def guarantee(self, alpha: Alpha, *, group: object = None, label: object = None) -> float:
        """Return the proven lower bound of the probability that a set contains the true label.

        With n rows in F folds, the value is 1 - c (alpha (n + 1) + F - 1) / (n + F). The factor c is 2 for folds of
        equal size (Vovk et al. 2018). It is smaller than 2 if one fold has more than about half of the rows.

        If there are several thresholds, the value is computed for each group, where n is the number of rows of the
        group. The lowest value is returned, or the value of the ``group`` or ``label`` you pass. If groups share rows
        (``Pooled``), n is the number of all rows, and the value is about all rows. Nothing is proven for one group.

        With ``AllLabels()`` it is the probability that the set contains all labels of the row. With ``AnyLabel()`` and
        ``AtMostMissed(m)`` every fold can prefer another label of a row, so less is proven: with m rows in the largest
        fold, the value is 1 - alpha (n + 1) / (m + 1). For a target of your own nothing is proven.

        The value is 1 if there are so few rows that every set contains all labels. It is 0 if the folds are stratified,
        unless every label has its own threshold, as with ``PerLabel()``.

        Parameters
        ----------
        alpha : float, str or Fraction
            The alpha of the sets.
        group, label : optional
            Row group or class. Selects one threshold if the condition has several thresholds.

        Returns
        -------
        float
            A number from 0 to 1.

        Raises
        ------
        RuleError
            If the group or label does not exist, or if groups share rows.

        Examples
        --------
        >>> import rankset as rs
        >>> fold = rs.calibrate([[0.9, 0.1]] * 50, [0] * 50)
        >>> round(rs.CrossRule((fold,) * 10).guarantee(0.1), 4)
        0.7682
        """
        exact, sizes = exact_alpha(alpha), self._fold_sizes()
        if self.spec.sharing is not None:
            if group is not None or label is not None:
                raise RuleError.guarantee_of_shared_rows(self.spec.condition)
            sizes = sizes.sum(axis=1, keepdims=True)
        elif group is not None or label is not None:
            sizes = sizes[:, [self._number(group, label)]]
        if not self.spec.guaranteed or (self.stratified and not has_one_label_per_group(self.rules[0].condition)):
            return 0.0
        target = self.spec.target
        return float(min(proven_coverage(tuple(of_group), exact, target) for of_group in sizes.T.tolist()))

    def _fold_sizes(self) -> Ints:
        """Return the number of rows in every fold and group (F, groups)."""
        spec = self.spec
        return np.array([renumbered(rule.spec, rule.calibration, spec).counts for rule in self.rules])

    def _number(self, group: object, label: object) -> int:
        spec = self.spec
        return Rule(spec, renumbered(self.rules[0].spec, self.rules[0].calibration, spec))._group(group, label)


def proven_coverage(sizes: Sequence[int], alpha: Fraction, target: Target = ONE) -> Fraction:
    """Return the proven coverage of a group with ``sizes`` calibration rows in each fold.

    The pooled p-value is a weighted mean of the p-values of the folds, with weights (rows + 1) / (n + F), plus a
    constant. A weighted mean of p-values is at most u with probability at most 2 u, and at most u / (largest weight).
    If all labels of a row must be in the set, the p-value of a row in a fold is that of its most unusual label, and no
    label has a smaller one. If some labels suffice, they can differ between folds. Then only this is known: if a row is
    missed, its p-value in each fold is at most alpha (n + 1) / (rows of the fold + 1).
    """
    n, folds = sum(sizes), len(sizes)
    if n < rows_needed(alpha):
        return Fraction(1)
    if not isinstance(target, EVERY_LABEL) and target != AtMostMissed(0):
        known = isinstance(target, SOME_LABELS)
        return max(Fraction(0), 1 - alpha * (n + 1) / (max(sizes) + 1)) if known else Fraction(0)
    factor = min(Fraction(2), Fraction(n + folds, max(sizes) + 1))
    return max(Fraction(0), 1 - factor * (alpha * (n + 1) + folds - 1) / (n + folds))
