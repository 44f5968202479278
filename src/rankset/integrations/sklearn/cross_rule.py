"""Cross-conformal rules: every row calibrates the model that has not seen it, and counts of all folds are pooled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import notebook
from rankset.conditions import Condition, PerLabel, PerLabelAndGroup
from rankset.core import ranking
from rankset.core.alpha import Alpha, exact_alpha, rows_needed, threshold_positions
from rankset.errors import InputError, KindError, RuleError
from rankset.inputs.prepare import Prepared
from rankset.inputs.vocabulary import union
from rankset.rules.batch import unseen_groups, warn_of_unseen
from rankset.rules.merging import renumbered
from rankset.rules.rule import Rule
from rankset.rules.select import EMPTY, Empty
from rankset.rules.spec import RuleSpec
from rankset.sets import PredictionSets

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class CrossRule:
    """Rules of F folds as one (Vovk 2015): a label's p-value counts the rows of all folds, each under its own model.

    Coverage is usually close to 1 - alpha, which is not proven; ``guarantee`` tells what is.

    Parameters
    ----------
    rules : one per fold, calibrated on rows that its model was not trained on.
    stratified : whether the folds were made by looking at labels; then there is a proof with ``PerLabel()`` only.
    """

    rules: tuple[Rule, ...]
    stratified: bool = False

    def __post_init__(self) -> None:
        if not self.rules or not all(isinstance(rule, Rule) for rule in self.rules):
            raise KindError.argument("rules", "a tuple of at least one Rule", self.rules)
        for rule in self.rules[1:]:
            self.rules[0]._check_mergeable(rule)

    def __repr__(self) -> str:
        first = self.rules[0].spec
        return (
            f"CrossRule({first.score!r}, {first.condition!r}, {len(first.classes):,} classes, "
            f"{len(self.rules)} folds, calibrated on {self.n:,} rows)"
        )

    def _repr_html_(self) -> str:
        first = self.rules[0].spec
        where = " in every group" if first.n_groups > 1 else ""
        facts = [
            ("score", repr(first.score)),
            ("condition", repr(first.condition)),
            ("classes", notebook.chips(first.classes.values[:10], first.n_columns - 10)),
            ("proven at alpha=0.1", f"coverage of at least {self.guarantee(0.1):.4f}{where}; usually it is about 0.9"),
        ]
        title = f"CrossRule of {len(self.rules)} folds, calibrated on {self.n:,} rows"
        return notebook.card(title, notebook.table(facts))

    @property
    def n(self) -> int:
        """How many rows calibrated the rule."""
        return sum(rule.n for rule in self.rules)

    @property
    def classes(self) -> NDArray[np.generic]:
        """The class names, in column order."""
        return self.rules[0].classes

    def guarantee(self, alpha: Alpha, *, group: object = None, label: object = None) -> float:
        """The proven probability that a set at ``alpha`` contains the label.

        With n rows in F folds it is 1 - c (alpha (n + 1) + F - 1) / (n + F): c is 2 for folds of one size (Vovk et al.
        2018) and less where one fold holds more than half of the rows. With several thresholds n counts the rows of
        one group: this is then the least of all groups, or that of one ``group`` or ``label``. It is 1 where a group
        has too few rows to leave a label out, and 0 where stratified folds void the proof.

        Parameters
        ----------
        alpha : the level that is asked of the sets.
        group, label : one of the row groups, or of the classes, where the condition has thresholds for each.

        Returns
        -------
        A number from 0 to 1.

        Raises
        ------
        RuleError : where there is no such group or label.

        Examples
        --------
        >>> import rankset as rs
        >>> fold = rs.calibrate([[0.9, 0.1]] * 50, [0] * 50)
        >>> round(rs.CrossRule((fold,) * 10).guarantee(0.1), 4)
        0.7682
        """
        exact, sizes = exact_alpha(alpha), self._fold_sizes()
        if group is not None or label is not None:
            sizes = sizes[:, [self._number(group, label)]]
        if self.stratified and not _given_label(self.rules[0].condition):
            return 0.0
        return float(min(_proven(tuple(of_group), exact) for of_group in sizes.T.tolist()))

    def _pooled_spec(self) -> RuleSpec:
        """The spec of all folds, with the row groups of each."""
        specs = [rule.spec for rule in self.rules]
        return specs[0].with_groups(union(*(spec.groups for spec in specs)))

    def _fold_sizes(self) -> Ints:
        """How many rows every fold has in every group (fold, group)."""
        spec = self._pooled_spec()
        return np.array([renumbered(rule.spec, rule.calibration, spec).counts for rule in self.rules])

    def _number(self, group: object, label: object) -> int:
        spec = self._pooled_spec()
        return Rule(spec, renumbered(self.rules[0].spec, self.rules[0].calibration, spec))._group(group, label)

    def p_values(
        self, probs: Sequence[ArrayLike], *, groups: ArrayLike | None = None, ids: ArrayLike | None = None
    ) -> Floats:
        """How usual each label looks (n, K); ``probs`` are what each fold's model says of the same rows."""
        stranger, sizes = self._pooled(self._prepare(probs, groups, ids))
        return (1 + stranger) / (1 + sizes)

    def predict(
        self,
        probs: Sequence[ArrayLike],
        alpha: Alpha,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        empty: Empty = "allow",
    ) -> PredictionSets:
        """The labels whose p-value exceeds ``alpha``, the most likely on average over the folds first."""
        if not isinstance(empty, str) or empty not in EMPTY:
            raise RuleError.option("empty", empty, EMPTY)
        exact = exact_alpha(alpha)
        data = self._prepare(probs, groups, ids)
        stranger, sizes = self._pooled(data)
        least = 1 + sizes - threshold_positions(sizes.ravel(), exact).reshape(sizes.shape)  # floor(alpha (n + 1))
        columns = ranking.rank_columns(_mean(data))
        kept = np.take_along_axis(1 + stranger > least, columns, axis=1)
        if empty == "top":
            kept[:, 0] |= ~kept.any(axis=1)
        offsets = np.concatenate(([0], kept.sum(axis=1).cumsum())).astype(np.int64)
        codes, template = columns[kept].astype(np.int32), replace(data[0].template, index=data[0].index.index)
        return PredictionSets(offsets, codes, self.rules[0].spec.classes, exact, template=template)

    def _prepare(self, probs: Sequence[ArrayLike], groups: ArrayLike | None, ids: ArrayLike | None) -> list[Prepared]:
        """What each fold's model says of the same rows, checked; the first one knows the index of all."""
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

    def _pooled(self, data: Sequence[Prepared]) -> tuple[Ints, Ints]:
        unseen = [set(unseen_groups(rule.spec, part)) for rule, part in zip(self.rules, data, strict=True)]
        warn_of_unseen(
            [name for name in unseen_groups(self.rules[0].spec, data[0]) if all(name in one for one in unseen)]
        )
        counts = [rule._tails(part) for rule, part in zip(self.rules, data, strict=True)]
        stranger, sizes = (np.sum(parts, axis=0) for parts in zip(*counts, strict=True))
        return stranger, sizes


def _mean(data: Sequence[Prepared]) -> Floats:
    """What the folds' models say on average."""
    matrices = (fold.rows(slice(0, len(fold))) for fold in data)
    return np.mean([matrix.astype(np.float64) for matrix in matrices], axis=0)


def _proven(sizes: Sequence[int], alpha: Fraction) -> Fraction:
    """The proven coverage of a group with so many rows in each fold.

    The pooled p-value is a weighted mean of the folds' p-values, weights (rows + 1) / (n + F), moved by a constant. A
    weighted mean of p-values is at most u with probability at most 2 u, and at most u / (largest weight).
    """
    n, folds = sum(sizes), len(sizes)
    if n < rows_needed(alpha):
        return Fraction(1)
    factor = min(Fraction(2), Fraction(n + folds, max(sizes) + 1))
    return max(Fraction(0), 1 - factor * (alpha * (n + 1) + folds - 1) / (n + folds))


def _given_label(condition: Condition) -> bool:
    """Whether every group holds rows of one label only."""
    if isinstance(condition, PerLabelAndGroup):
        return _given_label(condition.first) or _given_label(condition.second)
    return isinstance(condition, PerLabel) and condition.clusters is None
