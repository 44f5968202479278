"""Trial: rows with labels, and the random halves on which scores are measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from rankset import progress
from rankset.conditions import Marginal
from rankset.core.alpha import rows_needed
from rankset.core.arrays import is_whole
from rankset.errors import InputError, KindError, LabelError, Option, warn
from rankset.evaluation.metrics import Ints
from rankset.evaluation.resampling import SortedCells, Split, halves
from rankset.inputs.prepare import Prepared
from rankset.rules.batch import Batch
from rankset.rules.spec import RuleSpec
from rankset.scores import Score, checked_score


@dataclass(frozen=True)
class Trial:
    """Checked rows with labels, the halves on which scores are tried, and a spec for every score."""

    data: Prepared
    labels: Ints
    splits: list[Split]
    alpha: Fraction
    specs: list[RuleSpec]

    @classmethod
    def of(cls, data: Prepared, alpha: Fraction, scores: Iterable[Score], repeats: int, seed: int) -> Trial:
        """Return a trial of at least one score on ``repeats`` random halves of prepared rows with labels."""
        if not is_whole(repeats) or repeats < 1:
            raise KindError.argument("repeats", "an integer of at least 1", repeats)
        n, needed = len(data), rows_needed(alpha)
        if n < 2:
            raise InputError.too_few_rows_to_compare(n)
        if data.labels is None:
            raise LabelError.not_one_dimensional("labels", "NoneType")
        if n // 2 < needed:
            warn(
                f"at least {2 * needed} rows are needed to compare scores with ",
                Option("alpha", float(alpha)),
                f", got {n}. With fewer rows all sets contain every label, so all scores give the same results.",
            )
        condition = Marginal()
        specs = [RuleSpec.of(score, condition, data.kind, seed, data.classes) for score in scores]
        plain = replace(data.with_checked_values(), groups=None, ids=None)
        return cls(plain, data.labels, halves(n, repeats, specs[0].seed % 2**64), alpha, specs)

    def sorted_cells(self) -> Iterator[SortedCells]:
        """Yield the cells of all rows in the order of each score."""
        count = progress.counter(len(self.specs))
        for spec in self.specs:
            yield SortedCells.of(Batch.of(spec, self.data), self.labels)
            if count is not None:
                count()


def check_scores(scores: Iterable[Score | str], name: str) -> tuple[Score, ...]:
    """Return scores, and those that names stand for, as a tuple; raise an error if there are none, or one is none."""
    several = tuple(scores) if isinstance(scores, Iterable) and not isinstance(scores, str) else ()
    if not several:
        raise KindError.argument(name, "a list of at least one score", scores)
    return tuple(checked_score(score, name) for score in several)
