"""``CrossRule``: one rule made from the rules of several folds, for cross-conformal prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import notebook
from rankset.core import ranking
from rankset.core.alpha import Alpha, exact_alpha, rows_needed, threshold_positions
from rankset.core.alpha_argument import takes_alpha
from rankset.core.promise import Promise
from rankset.errors import InputError, KindError, RuleError
from rankset.inputs.prepare import Prepared
from rankset.integrations.sklearn.cross_guarantee import ProvesCoverage
from rankset.integrations.sklearn.cross_refusals import RefusesMethods
from rankset.rules.batch import unseen_groups, warn_of_unseen
from rankset.rules.rule import Rule
from rankset.rules.select import EMPTY, Empty
from rankset.rules.small_groups import warn_of_small_groups
from rankset.rules.spec import HasSpec, RuleSpec, settings_text
from rankset.rules.summaries import Estimate
from rankset.sets import PredictionSets
from rankset.targets import OneLabel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class CrossRule(ProvesCoverage, HasSpec, RefusesMethods):
    """Cross-conformal rule: one rule made from the rules of F folds (Vovk 2015).

    Each fold has its own model and its own rule. To compute the p-value of a label, each rule counts its calibration
    rows that are at least as unusual as the label. The score of the label is computed from the output of the model of
    the same fold. The counts of all folds are added. Coverage is usually close to 1 - alpha. The proven coverage is
    lower, see ``guarantee``.

    ``Rule`` has methods that a CrossRule cannot have: ``save``, ``coverage_band``, ``threshold``, ``rank_profile``,
    ``at``, ``update``, ``merge`` and ``predict_parts``. They raise an error that tells the reason. To keep a fitted
    ``ConformalClassifier`` with its CrossRule and the models of the folds, use joblib or pickle.

    Parameters
    ----------
    rules : tuple of Rule
        One rule per fold. It is calibrated on rows that were not used to train the model of the fold.
    stratified : bool, default False
        Whether labels were used to make the folds. If True, coverage is proven only with ``PerLabel()``. Rules of a
        fitted ``ConformalClassifier`` know it themselves, also after ``save`` and ``load``.

    Raises
    ------
    KindError
        If ``rules`` is not a tuple of rules.
    RuleError
        If the rules differ in score, condition, classes, kind or seed, or if their rows have weights
        (``weights=``, ``Balanced``, ``LabelShift``).

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> first, second = rs.calibrate(probs[:130], labels[:130]), rs.calibrate(probs[130:], labels[130:])
    >>> rs.CrossRule((first, second))
    CrossRule(Rank(), Marginal(), 4 classes, 2 folds, calibrated on 260 rows)
    """

    rules: tuple[Rule, ...]
    stratified: bool = False

    def __post_init__(self) -> None:
        if not self.rules or not all(isinstance(rule, Rule) for rule in self.rules):
            raise KindError.argument("rules", "a tuple of at least one Rule", self.rules)
        for rule in self.rules[1:]:
            self.rules[0]._check_mergeable(rule)
        if self.rules[0].calibration.weights is not None or self.rules[0].spec.below:
            raise RuleError.folds_with_shares(self.rules[0].target)
        if self.rules[0].spec.weighted:
            raise RuleError.folds_with_weights_of_rows()
        if self.rules[0].spec.reweighted:
            raise RuleError.folds_with_weights(self.rules[0].condition)

    def __repr__(self) -> str:
        first = self.rules[0].spec
        return (
            f"CrossRule({settings_text(first)}, {len(first.classes):,} classes, "
            f"{len(self.rules)} folds, calibrated on {self.n:,} rows)"
        )

    def _repr_html_(self) -> str:
        first = self.rules[0].spec
        each = ", and about as much for each group" if first.n_groups > 1 else ""
        where = " in every group" if first.promises_by_group else ""
        usual = f"usually it is about 0.9{' over all rows' + each if first.sharing is not None else ''}"
        facts = [
            ("score", repr(first.score)),
            ("condition", repr(first.condition)),
            ("classes", notebook.chips(first.classes.values[:10], first.n_columns - 10)),
            ("proven at alpha=0.1", f"coverage of at least {self.guarantee(0.1):.4f}{where}; {usual}"),
        ]
        title = f"CrossRule of {len(self.rules)} folds, calibrated on {self.n:,} rows"
        return notebook.card(title, notebook.table(facts))

    @property
    def spec(self) -> RuleSpec:  # type: ignore[override]
        """Score, condition, kind, seed and class names of all folds, with the row groups of all."""
        first, *others = (rule.spec for rule in self.rules)
        return first.together(*others)

    @property
    def n(self) -> int:
        """Number of calibration rows in all folds."""
        return sum(rule.n for rule in self.rules)

    @property
    def set_aside(self) -> int:
        """Number of rows without labels in all folds, if rows can have several labels."""
        return sum(rule.set_aside for rule in self.rules)

    def p_values(
        self, probs: Sequence[ArrayLike], *, groups: ArrayLike | None = None, ids: ArrayLike | None = None
    ) -> Floats:
        """Return the p-value of each label. A label is in the set if and only if its p-value is larger than alpha.

        Parameters
        ----------
        probs : sequence of F array-likes (n, K)
            For each fold, the outputs of its model for the rows to predict. All entries have the same rows.
        groups, ids : array-like (n,), optional
            As in ``Rule.p_values``.

        Returns
        -------
        array (n, K)
            The p-values.

        Raises
        ------
        RuleError
            If the number of matrices is not the number of folds, or if they have different numbers of rows.

        Examples
        --------
        >>> import rankset as rs
        >>> fold = rs.calibrate([[0.9, 0.1]] * 9, [0] * 9)
        >>> rs.CrossRule((fold, fold)).p_values([[[0.8, 0.2]], [[0.95, 0.05]]]).round(2)
        array([[0.53, 0.05]])
        """
        stranger, sizes = self._pooled(self._prepare(probs, groups, ids))
        return (1 + stranger) / (1 + sizes)

    @takes_alpha
    def predict(
        self,
        probs: Sequence[ArrayLike],
        alpha: Alpha,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        empty: Empty = "allow",
    ) -> PredictionSets:
        """Return sets of the labels whose p-value is larger than ``alpha``.

        The labels of a set are sorted by the mean output of the models of all folds, largest first.

        Parameters
        ----------
        probs : sequence of F array-likes (n, K)
            For each fold, the outputs of its model for the rows to predict. All entries have the same rows.
        alpha : float, str or Fraction
            The alpha of the sets.
        groups, ids : array-like (n,), optional
            As in ``Rule.predict``.
        empty : {"allow", "top"}, default "allow"
            "allow" keeps empty sets. "top" adds the most likely label to each empty set.

        Returns
        -------
        PredictionSets
            One set per row.

        Raises
        ------
        RuleError
            If the number of matrices is not the number of folds, or if they have different numbers of rows.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rule = rs.CrossRule((rs.calibrate(probs[:130], labels[:130]), rs.calibrate(probs[130:], labels[130:])))
        >>> rule.predict([[[0.9, 0.1, 0, 0]], [[0.8, 0.1, 0.1, 0]]], alpha=0.3).to_lists()
        [[0]]
        """
        if not isinstance(empty, str) or empty not in EMPTY:
            raise RuleError.option("empty", empty, EMPTY)
        exact = exact_alpha(alpha)
        data = self._prepare(probs, groups, ids)
        stranger, sizes = self._pooled(data)
        self._warn_of_small_groups(data[0], exact)
        least = 1 + sizes - threshold_positions(sizes.ravel(), exact).reshape(sizes.shape)  # floor(alpha (n + 1))
        columns = ranking.rank_columns(_mean(data))
        kept = np.take_along_axis(1 + stranger > least, columns, axis=1)
        if empty == "top":
            kept[:, 0] |= ~kept.any(axis=1)
        offsets = np.concatenate(([0], kept.sum(axis=1).cumsum())).astype(np.int64)
        codes, template = columns[kept].astype(np.int32), replace(data[0].template, index=data[0].index.index)
        spec, proven = self.rules[0].spec, self.guarantee(exact)
        target = None if spec.target == OneLabel() else spec.target
        own: dict[str, Any] = {
            "template": template,
            "proven": proven,
            "target": target,
            "by_label": spec.promises_by_label,
        }
        return PredictionSets(offsets, codes, spec.classes, exact, **own)

    @takes_alpha
    def expected_size(
        self,
        probs: Sequence[ArrayLike],
        alpha: Alpha,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        empty: Empty = "allow",
    ) -> Estimate:
        """Estimate the mean size of the sets at ``alpha`` from rows without labels.

        Parameters
        ----------
        probs, alpha, groups, ids, empty
            As in ``predict``.

        Returns
        -------
        Estimate
            The mean size and its standard error.

        Raises
        ------
        RuleError
            If there are no rows, or for the same reasons as in ``predict``.

        Examples
        --------
        >>> import rankset as rs
        >>> fold = rs.calibrate([[0.9, 0.1]] * 9, [0] * 9)
        >>> rs.CrossRule((fold, fold)).expected_size([[[0.8, 0.2]] * 3, [[0.95, 0.05]] * 3], alpha=0.1)
        Estimate(mean=1, error=0, n=3)
        """
        return Estimate.of_sizes(self.predict(probs, alpha, groups=groups, ids=ids, empty=empty).sizes)

    def _prepare(self, probs: Sequence[ArrayLike], groups: ArrayLike | None, ids: ArrayLike | None) -> list[Prepared]:
        """Return the checked outputs of each fold's model; the first one has the index of all."""
        if not isinstance(probs, Sequence) or len(probs) != len(self.rules):
            raise RuleError.folds(len(self.rules), len(probs) if isinstance(probs, Sequence) else type(probs).__name__)
        first, *others = (
            rule._prepare(part, groups=groups, ids=ids) for rule, part in zip(self.rules, probs, strict=True)
        )
        lengths = sorted({len(data) for data in (first, *others)})
        if len(lengths) > 1:
            raise RuleError.folds(len(self.rules), f"matrices of {' and '.join(map(str, lengths))} rows")
        for fold, part in enumerate(probs[1:], start=1):
            first.index.check(part, f"probs[{fold}]")
        if any(data.counts is not None for data in (first, *others)):
            raise InputError.no_pooling()
        return [first, *others]

    def _warn_of_small_groups(self, data: Prepared, level: Fraction) -> None:
        """Warn of the groups among these rows that have too few rows in all folds together."""
        spec, counts = self.spec, self._fold_sizes().sum(axis=0)
        if (counts < rows_needed(level)).any():
            rows = (
                np.zeros(min(len(data), 1), dtype=np.int64) if data.groups is None else spec.groups.codes(data.groups)
            )
            warn_of_small_groups(spec, Promise(level), counts, rows)

    def _pooled(self, data: Sequence[Prepared]) -> tuple[Ints, Ints]:
        """Return for each label the number of rows that are at least as unusual, and the number of all rows."""
        unseen = [set(unseen_groups(rule.spec, part)) for rule, part in zip(self.rules, data, strict=True)]
        warn_of_unseen(
            [name for name in unseen_groups(self.rules[0].spec, data[0]) if all(name in one for one in unseen)]
        )
        counts = [rule._tails(part) for rule, part in zip(self.rules, data, strict=True)]
        stranger, sizes = (np.sum(parts, axis=0) for parts in zip(*counts, strict=True))
        return stranger, sizes


def _mean(data: Sequence[Prepared]) -> Floats:
    """Return the mean output of the folds' models (n, K)."""
    matrices = (fold.rows(slice(0, len(fold))) for fold in data)
    return np.mean([matrix.astype(np.float64) for matrix in matrices], axis=0)
