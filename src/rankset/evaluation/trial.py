"""Trial: rows with labels, and the random halves on which scores are measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankset import progress
from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha, exact_alpha, rows_needed, smallest_alpha
from rankset.core.arrays import is_whole
from rankset.errors import InputError, KindError, LabelError, LevelError, Option, warn
from rankset.evaluation.metrics import Ints
from rankset.evaluation.resampling import SortedCells, Split, furthest_threshold, halves
from rankset.evaluation.resampling_by_group import GroupedCells
from rankset.evaluation.resampling_shared import SharedCells
from rankset.inputs.prepare import Prepared
from rankset.rules import absent_rows
from rankset.rules.batch import Batch
from rankset.rules.spec import NO_NAMES, RuleSpec
from rankset.scores import Score, checked_score

MARGINAL = Marginal()
Alphas = list[Any] | tuple[Alpha, ...] | NDArray[Any]
"""Several alphas."""


@dataclass(frozen=True)
class Trial:
    """Checked rows with labels, the halves on which scores are tried, and a spec for every score."""

    data: Prepared
    labels: Ints
    splits: list[Split]
    specs: list[RuleSpec]

    @classmethod
    def of(
        cls,
        data: Prepared,
        alphas: Sequence[Fraction],
        scores: Iterable[Score],
        repeats: int,
        seed: int,
        condition: Condition = MARGINAL,
    ) -> Trial:
        """Return a trial of at least one score on ``repeats`` random halves of prepared rows with labels.

        Groups of the rows are left out if the condition does not use them. Warn of an alpha that needs more rows.
        """
        if not is_whole(repeats) or repeats < 1:
            raise KindError.argument("repeats", "an integer of at least 1", repeats)
        n = len(data)
        if n < 2:
            raise InputError.too_few_rows_to_compare(n)
        if data.labels is None:
            raise LabelError.not_one_dimensional("labels", "NoneType")
        specs = [RuleSpec.of(score, condition, data.kind, seed, data.classes) for score in scores]
        plain = data if condition.needs_groups else replace(data, groups=None)
        specs = [spec.learning(plain) for spec in specs]
        if (absent := data.absent) is not None:
            absent_rows.check_condition(condition, specs[0].table(), absent)
        for alpha in alphas:
            _warn_of_few_rows(specs[0], plain, alpha)
            _warn_of_absent_rows(specs[0], plain, alpha)
        return cls(plain.with_checked_values(), data.labels, halves(n, repeats, specs[0].seed % 2**64), specs)

    def sorted_cells(self, alphas: Sequence[Fraction]) -> Iterator[SortedCells | GroupedCells | SharedCells]:
        """Yield the cells that thresholds at ``alphas`` can keep, in the order of each score."""
        count, furthest = progress.counter(len(self.specs)), furthest_threshold(len(self.labels), alphas)
        for spec in self.specs:
            batch = Batch.of(spec, self.data)
            if spec.sharing is not None:
                yield SharedCells(self.data, spec.with_groups(NO_NAMES))
            elif spec.shared_group is not None:
                yield SortedCells.of(batch, self.labels, furthest)
            else:
                yield GroupedCells.of(batch, self.labels)
            if count is not None:
                count()


def check_scores(scores: Iterable[Score | str], name: str) -> tuple[Score, ...]:
    """Return scores, and those that names stand for, as a tuple; raise an error if there are none, or one is none."""
    several = tuple(scores) if isinstance(scores, Iterable) and not isinstance(scores, str) else ()
    if not several:
        raise KindError.argument(name, "a list of at least one score", scores)
    return tuple(checked_score(score, name) for score in several)


def check_levels(alpha: Alpha | Alphas) -> tuple[Fraction, ...]:
    """Return one or several alphas as exact fractions, in the given order; raise an error if there are none."""
    if not has_several_levels(alpha):
        return (exact_alpha(cast("Alpha", alpha)),)
    levels = tuple(dict.fromkeys(exact_alpha(one) for one in cast("Iterable[Alpha]", alpha)))
    if not levels:
        raise LevelError.not_a_number(alpha)
    return levels


def has_several_levels(alpha: object) -> bool:
    """Return whether ``alpha`` is a list of alphas, also if it has one entry only."""
    return not isinstance(alpha, str) and isinstance(alpha, Iterable) and getattr(alpha, "ndim", 1) > 0


def _warn_of_few_rows(spec: RuleSpec, data: Prepared, alpha: Fraction) -> None:
    """Warn if sets must contain every label, because halves or the groups in them have too few rows for ``alpha``."""
    n, needed = len(data), rows_needed(alpha)
    if n // 2 < needed:
        warn(
            f"at least {2 * needed} rows are needed to compare scores with ",
            Option("alpha", float(alpha)),
            f", got {n}. With fewer rows all sets contain every label, so all scores give the same results.",
        )
    elif spec.shared_group is None and spec.sharing is None and data.labels is not None:
        numbers = _group_numbers(spec, data, data.labels)
        counts = np.bincount(numbers[numbers >= 0], minlength=spec.n_groups)
        if (few := int((counts < 2 * needed).sum())) > 0:
            warn(
                f"at least {2 * needed} rows are needed in every group of {spec.condition!r} to compare scores with ",
                Option("alpha", float(alpha)),
                f", but {few:,} of {spec.n_groups:,} groups have fewer. In these groups most halves keep every label.",
            )


def _warn_of_absent_rows(spec: RuleSpec, data: Prepared, alpha: Fraction) -> None:
    """Warn if ``alpha`` cannot be attained, because too many true labels are absent from the rows or from a group."""
    if (absent := data.absent) is None or data.labels is None:
        return
    one = spec.shared_group is not None or spec.sharing is not None
    numbers = np.zeros(len(data), dtype=np.int64) if one else _group_numbers(spec, data, data.labels)
    sizes = []
    for number in np.unique(numbers[absent]).tolist():
        n, lost = int((numbers == number).sum()), int((numbers[absent] == number).sum())
        if (least := smallest_alpha(n, lost)) > alpha:
            sizes.append(("" if one else spec.group_name(number, spec.table()), n, lost, least))
    if sizes:
        warn(*absent_rows.unattained(alpha, sizes, "rows"))


def _group_numbers(spec: RuleSpec, data: Prepared, labels: Ints) -> Ints:
    """Return the group number of each row; the group of a row with an absent label does not depend on its column."""
    codes = np.zeros(1, dtype=np.int64) if data.groups is None else spec.groups.codes(data.groups)
    numbers = spec.numbers(np.maximum(labels, 0)[:, np.newaxis], codes[:, np.newaxis])
    return np.broadcast_to(numbers, (len(data), 1))[:, 0]
