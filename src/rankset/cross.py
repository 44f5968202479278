"""Cross-conformal rules: every row calibrates the model that has not seen it, and counts of all folds are pooled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset import inputs, level, notebook, ranking
from rankset.conformal import Rule
from rankset.errors import KindError, RuleError
from rankset.indexes import RowIndex
from rankset.level import Alpha
from rankset.probabilities import from_kind
from rankset.recipe import warn_of_unseen
from rankset.selection import EMPTY, Empty
from rankset.sets import PredictionSets

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class CrossRule:
    """Rules of F folds as one (Vovk 2015): a label's p-value counts the rows of all folds, each under its own model.

    Its sets contain the label with probability at least 1 - 2 alpha - 2 (1 - alpha) (1 - 1/F) / (n/F + 1) (Vovk et
    al. 2018); usually it is close to 1 - alpha, which is not proven. See ``guarantee``.
    """

    rules: tuple[Rule, ...]

    def __post_init__(self) -> None:
        if not self.rules or not all(isinstance(rule, Rule) for rule in self.rules):
            raise KindError.argument("rules", "a tuple of at least one Rule", self.rules)
        for rule in self.rules[1:]:
            self.rules[0].check_alike(rule)

    def __repr__(self) -> str:
        first = self.rules[0].recipe
        return (
            f"CrossRule({first.score!r}, {first.condition!r}, {len(first.classes):,} classes, "
            f"{len(self.rules)} folds, calibrated on {self.n:,} rows)"
        )

    def _repr_html_(self) -> str:
        first = self.rules[0].recipe
        facts = [
            ("score", repr(first.score)),
            ("condition", repr(first.condition)),
            ("classes", notebook.chips(first.classes.values[:10], first.n_columns - 10)),
            ("proven at alpha=0.1", f"coverage of at least {self.guarantee(0.1):.4f}; usually it is about 0.9"),
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

    def guarantee(self, alpha: Alpha) -> float:
        """The proven probability that a set at ``alpha`` contains the label, on average over rows.

        >>> import rankset as rs
        >>> fold = rs.calibrate([[0.9, 0.1]] * 50, [0] * 50)
        >>> round(CrossRule((fold,) * 10).guarantee(0.1), 4)
        0.7682
        """
        exact, folds, n = level.exact(alpha), len(self.rules), self.n
        proven = 1 - 2 * exact - 2 * (1 - exact) * (1 - Fraction(1, folds)) / (Fraction(n, folds) + 1)
        return max(0.0, float(proven))

    def p_values(
        self, probs: Sequence[ArrayLike], *, groups: ArrayLike | None = None, ids: ArrayLike | None = None
    ) -> Floats:
        """How usual each label looks (n, K); ``probs`` are what each fold's model says of the same rows."""
        stranger, sizes = self._pooled(probs, groups, ids)
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
        exact = level.exact(alpha)
        stranger, sizes = self._pooled(probs, groups, ids)
        least = 1 + sizes - level.positions(sizes.ravel(), exact).reshape(sizes.shape)  # floor(alpha (n + 1))
        columns = ranking.whole(self._mean(probs))
        kept = np.take_along_axis(1 + stranger > least, columns, axis=1)
        if empty == "top":
            kept[:, 0] |= ~kept.any(axis=1)
        offsets = np.concatenate(([0], kept.sum(axis=1).cumsum())).astype(np.int64)
        first = self.rules[0]
        codes, template = columns[kept].astype(np.int32), first.source(probs[0]).answers
        return PredictionSets(offsets, codes, first.recipe.classes, exact, template=template)

    def _mean(self, probs: Sequence[ArrayLike]) -> Floats:
        """What the folds' models say on average."""
        kind = self.rules[0].kind
        sources = (rule.source(part).values for rule, part in zip(self.rules, probs, strict=True))
        matrices = [from_kind(inputs.plain_rows(values, kind), kind) for values in sources]
        return np.mean([matrix.astype(np.float64) for matrix in matrices], axis=0)

    def _pooled(self, probs: Sequence[ArrayLike], groups: ArrayLike | None, ids: ArrayLike | None) -> tuple[Ints, Ints]:
        if not isinstance(probs, Sequence) or len(probs) != len(self.rules):
            raise RuleError.folds(len(self.rules), len(probs) if isinstance(probs, Sequence) else type(probs).__name__)
        lengths = {len(rule.source(part).values) for rule, part in zip(self.rules, probs, strict=True)}
        if len(lengths) > 1:
            raise RuleError.folds(len(self.rules), f"matrices of {' and '.join(map(str, sorted(lengths)))} rows")
        index = RowIndex.of(probs[0])
        for fold, part in enumerate(probs[1:], start=1):
            index.check(part, f"probs[{fold}]")
        unseen = set.intersection(*(rule.unseen(groups) for rule in self.rules))
        if unseen:
            warn_of_unseen(unseen)
        counts = [rule.tails(part, groups=groups, ids=ids) for rule, part in zip(self.rules, probs, strict=True)]
        stranger, sizes = (np.sum(parts, axis=0) for parts in zip(*counts, strict=True))
        return stranger, sizes
