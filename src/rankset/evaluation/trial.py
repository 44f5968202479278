"""Trial: rows with labels, and the random halves on which scores are measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from rankset import progress
from rankset.conditions import Marginal
from rankset.core.alpha import rows_needed
from rankset.core.arrays import is_whole
from rankset.errors import InputError, KindError, LabelError, warn
from rankset.evaluation.metrics import Floats, Formula, Ints
from rankset.evaluation.resampling import Ranked, halves
from rankset.inputs.prepare import Prepared
from rankset.rules.batch import Batch
from rankset.rules.spec import RuleSpec
from rankset.scores import Score, Thr, checked_score


@dataclass(frozen=True)
class Trial:
    """Checked rows with labels, and the halves on which scores are tried."""

    data: Prepared
    labels: Ints
    seed: int
    splits: list[tuple[Ints, Ints]]
    alpha: Fraction

    @classmethod
    def of(cls, data: Prepared, alpha: Fraction, repeats: int, seed: int) -> Trial:
        """Return a trial on prepared rows with labels, with ``repeats`` random halves."""
        if not is_whole(repeats) or repeats < 1:
            raise KindError.argument("repeats", "a whole number, at least 1", repeats)
        n = len(data)
        if n < 2:
            raise InputError.no_rows_to_evaluate()
        if data.labels is None:
            raise LabelError.not_one_dimensional("labels", "NoneType")
        if n // 2 < rows_needed(alpha):
            warn(
                f"need n ≥ {2 * rows_needed(alpha)} to compare scores at alpha={float(alpha):g}, "
                f"got {n}: half of them leaves no label out, so all scores look alike."
            )
        checked = RuleSpec.of(Thr(), Marginal(), data.kind, seed, data.classes)
        splits = list(halves(n, repeats, checked.seed % 2**64))
        plain = replace(data.with_checked_values(), groups=None, ids=None)
        return cls(plain, data.labels, checked.seed, splits, alpha)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def ranked(self, scores: Sequence[Score]) -> Iterator[Ranked]:
        """Yield the cells of all rows in the order of each score."""
        count = progress.counter(len(scores))
        for score in scores:
            spec = RuleSpec.of(score, Marginal(), self.data.kind, self.seed, self.data.classes)
            yield Ranked.of(Batch.of(spec, self.data), self.labels)
            count()

    def values(self, ranked: Ranked, formulas: Sequence[Formula]) -> Floats:
        """Return every formula on every half, as an array (formula, half)."""
        answers = np.empty((len(formulas), len(self.splits)))
        for repeat, (cal, test) in enumerate(self.splits):
            covered, sizes = ranked.outcome(cal, test, self.alpha)
            labels = self.labels[test]
            answers[:, repeat] = [formula(covered, sizes, labels, self.alpha) for formula in formulas]
        return answers


def check_scores(scores: Iterable[Score], name: str) -> tuple[Score, ...]:
    """Return ``scores`` as a tuple; raise ``KindError`` if there are none, or if one of them is no score."""
    several = tuple(scores) if isinstance(scores, Iterable) else ()
    if not several:
        raise KindError.argument(name, "a list of at least one score", scores)
    return tuple(checked_score(score, name) for score in several)
