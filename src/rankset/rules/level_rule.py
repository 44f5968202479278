"""LevelRule: a rule at one level, no larger than its thresholds; all sets are predicted here."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.alpha import rows_needed
from rankset.core.arrays import Sealed, is_whole
from rankset.core.calibration import Thresholds
from rankset.errors import KindError, Option, RuleError, warn
from rankset.inputs.prepare import prepare
from rankset.rules.batch import Batch, warn_of_unseen
from rankset.rules.select import EMPTY, Empty, select
from rankset.rules.spec import HasSpec, RuleSpec
from rankset.sets import CoverageLaw, PredictionSets

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class LevelRule(Sealed, HasSpec):
    """A rule at one level, as ``Rule.at(alpha)`` gives it: it predicts sets at that level, and does nothing else.

    It holds the thresholds of the level in place of the calibration, so it is small and travels well: about 1 KB when
    pickled, for one threshold. What needs the calibration (p-values, other levels, merging, saving, bands) is asked of
    the ``Rule``.

    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.calibrate(probs, labels).at(0.1)
    LevelRule(alpha=0.1, Rank(), Marginal(), kind='probs', 4 classes, calibrated on 260 rows)
    """

    spec: RuleSpec
    level: Fraction
    thresholds: Thresholds
    counts: Ints
    law: CoverageLaw | None

    def __repr__(self) -> str:
        spec = self.spec
        return (
            f"LevelRule(alpha={self.alpha:g}, {spec.score!r}, {spec.condition!r}, kind={spec.kind!r}, "
            f"{len(spec.classes):,} classes, calibrated on {self.n:,} rows)"
        )

    @property
    def alpha(self) -> float:
        """The level of its sets."""
        return float(self.level)

    @property
    def n(self) -> int:
        """How many rows calibrated it."""
        return int(self.counts.sum())

    def predict(
        self,
        probs: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        empty: Empty = "allow",
    ) -> PredictionSets:
        """The sets that ``Rule.predict`` gives at this level."""
        (sets,) = self.predict_parts(probs, groups=groups, ids=ids, empty=empty, rows=None)
        return sets

    def predict_parts(
        self,
        probs: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        empty: Empty = "allow",
        rows: int | None = 100_000,
    ) -> Iterator[PredictionSets]:
        """The same sets, those of ``rows`` rows at a time."""
        if not isinstance(empty, str) or empty not in EMPTY:
            raise RuleError.option("empty", empty, EMPTY)
        if rows is not None and (not is_whole(rows) or rows < 1):
            raise KindError.argument("rows", "a whole number, at least 1, or None for all at once", rows)
        data = prepare(probs, kind=self.spec.kind, classes=self.spec.classes, groups=groups, ids=ids)
        batch = Batch.of(self.spec, data)
        warn_of_unseen(self.spec, data)
        if self.thresholds.everything[:-1].any():
            self._warn_of_small_groups(batch)
        law, n, answers = self._law(batch, empty), len(data.matrix), data.answers

        def sets_of(part: slice) -> PredictionSets:
            offsets, codes = select(batch if rows is None else batch.part(part), self.thresholds, empty)
            template = answers if rows is None else answers.rows(np.arange(part.start, part.stop))
            return PredictionSets(offsets, codes, self.spec.classes, self.level, law, template)

        step = rows or max(n, 1)
        return (sets_of(slice(start, min(start + step, n))) for start in range(0, max(n, 1), step))

    def _law(self, batch: Batch, empty: Empty) -> CoverageLaw | None:
        """What is known beforehand of the coverage of these rows; filled sets only raise it."""
        if self.law is None or (batch.row_groups < 0).any():
            return None
        return self.law if empty == "allow" else replace(self.law, exact=False)

    def _warn_of_small_groups(self, batch: Batch) -> None:
        spec, present, needed = self.spec, np.unique(batch.row_groups), rows_needed(self.level)
        if batch.shape[0] == 0:
            return
        used = spec.numbers(np.arange(batch.shape[1])[np.newaxis, :], present[:, np.newaxis])
        small = np.unique(used[(used >= 0) & (self.counts[used] < needed)])
        if not len(small):
            return
        names = spec if not spec.condition.needs_groups else spec.with_groups(spec.groups.at(present))
        got = ", ".join(f"{self.counts[number]} for {names.group_name(number, used)}" for number in small[:5])
        more = f" and {len(small) - 5:,} more groups" if len(small) > 5 else ""
        warn(
            f"need n ≥ {_round(needed)} for ",
            Option("alpha", float(self.alpha)),
            f", got {self.n}: every label is kept."
            if spec.n_groups == 1
            else f", got {got}{more}: these keep every label.",
        )


def _round(count: int) -> str:
    """A count, in as many digits as one can read."""
    if count < 10**12:
        return str(count)
    return f"{float(count):.3g}" if count < 10**300 else f"10^{math.log10(count):.0f}"
