"""Scores with a target, measured on random halves: a rule is calibrated on one half and tested on the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rankset import progress
from rankset.conditions import Condition, Marginal
from rankset.core.alpha import rows_needed
from rankset.core.arrays import is_whole
from rankset.core.promise import Promise
from rankset.errors import InputError, KindError, LabelError, Option, RuleError, silent, warn
from rankset.evaluation.comparison import Comparison
from rankset.evaluation.metrics import Floats, Ints
from rankset.evaluation.resampling import Split, halves
from rankset.evaluation.target_errors import effects_of_rows
from rankset.inputs.prepare import Prepared
from rankset.rules.batch import Batch
from rankset.rules.rule import Rule, calibrate_prepared
from rankset.rules.select import select, shared_reach
from rankset.rules.small_groups import warn_of_no_promise
from rankset.rules.spec import RuleSpec
from rankset.rules.target_losses import losses
from rankset.scores import Score
from rankset.targets import Target
from rankset.targets.base import is_about_false_labels

MARGINAL = Marginal()
Calibrate = Callable[[Prepared, Fraction], Rule]
"""Makes a rule from the rows of a calibration half, for an alpha."""

FOR_EVERY_TARGET = ("risk", "size", "empty")
FOR_SEVERAL_LABELS = ("risk", "recall", "all labels", "size", "empty")


@dataclass(frozen=True)
class TargetTrial:
    """Checked rows with labels, and the halves on which rules for a target are tried."""

    data: Prepared
    splits: list[Split]
    condition: Condition
    target: Target
    seed: int

    @classmethod
    def of(
        cls,
        data: Prepared,
        alphas: Sequence[Fraction],
        target: Target,
        repeats: int,
        seed: int,
        condition: Condition = MARGINAL,
    ) -> TargetTrial:
        """Return a trial on ``repeats`` random halves of prepared rows. Warn of an alpha that needs more rows."""
        if not is_whole(repeats) or repeats < 1:
            raise KindError.argument("repeats", "an integer of at least 1", repeats)
        if not is_whole(seed):
            raise KindError.argument("seed", "an integer of at most 64 bits", seed)
        if is_about_false_labels(target):
            raise RuleError.only_calibrate("a comparison of scores", target)
        if len(data) < 2:
            raise InputError.too_few_rows_to_compare(len(data))
        plain = data if condition.needs_groups else replace(data, groups=None)
        labelled = count_labelled(plain)
        for alpha in alphas:
            if labelled // 2 < (needed := rows_needed(alpha)):
                warn(
                    f"at least {2 * needed} rows with labels are needed to compare scores with ",
                    Option("alpha", float(alpha)),
                    f", got {labelled}. With fewer rows most sets contain every label.",
                )
        splits = halves(len(data), repeats, seed % 2**64)
        if plain.truths is not None and not all(plain.truths.sizes[half].any() for split in splits for half in split):
            raise LabelError.no_labels_in_a_half(labelled, len(data))
        return cls(plain.with_checked_values(), splits, condition, target, seed)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of what is measured."""
        return FOR_EVERY_TARGET if self.data.truths is None else FOR_SEVERAL_LABELS

    def spec(self, score: Score) -> RuleSpec:
        """Return the spec of the rules of a score."""
        return RuleSpec.of(score, self.condition, self.data.kind, self.seed, self.data.classes, self.target)

    def measure(self, score: Score, alphas: Sequence[Fraction]) -> Floats:
        """Return the measures of a score as an array (alpha, measure, split)."""
        data, spec = self.data, self.spec(score)
        answer = np.empty((len(alphas), len(self.measures), len(self.splits)))
        for number, (cal, test) in enumerate(self.splits):
            with silent():  # the trial has warned of few rows, once for all halves
                rule, new = calibrate_prepared(spec, data.take(cal)), data.take(test)
            for place, alpha in enumerate(alphas):
                answer[place, :, number] = self._tested(rule, alpha, new)
        return answer

    def effects(self, score: Score, alphas: Sequence[Fraction]) -> Floats:
        """Return what each row adds to the means of a score over all halves (alpha, measure, row); NaN if unknown."""
        batch = Batch.of(self.spec(score).learning(self.data), self.data)
        return np.array([effects_of_rows(batch, alpha, self.measures) for alpha in alphas])

    def measure_rules(self, calibrate: Calibrate, alpha: Fraction, splits: int) -> Floats:
        """Return the measures of the rules that ``calibrate`` makes, on the first ``splits`` (measure, split)."""
        data = replace(self.data, ids=None)
        answer, count = np.empty((len(self.measures), splits)), progress.counter(splits)
        for number, (cal, test) in enumerate(self.splits[:splits]):
            with silent():
                rule = calibrate(data.take(cal), alpha)
            answer[:, number] = self._tested(rule, alpha, data.take(test))
            if count is not None:
                count()
        return answer

    def _tested(self, rule: Rule, alpha: Fraction, new: Prepared) -> list[float]:
        """Return the measures of one rule on new rows; NaN for those about labels if no row has any."""
        batch = Batch.of(rule.spec, new)
        thresholds = rule._thresholds(Promise(alpha))
        offsets, codes = select(batch, thresholds, shared_reach(rule.spec, thresholds))
        sizes, lost = np.diff(offsets), losses(batch, offsets, codes)
        about_sets = [float(sizes.mean()), float((sizes == 0).mean())]
        risk = float(lost.mean()) if len(lost) else np.nan
        if new.truths is None:
            return [risk, *about_sets]
        shares = _shares_found(new, sizes, codes)
        found = [float(shares.mean()), float((shares == 1).mean())] if len(shares) else [np.nan, np.nan]
        return [risk, *found, *about_sets]


def count_labelled(data: Prepared) -> int:
    """Return the number of rows that have a label."""
    return len(data) if data.truths is None else int(np.count_nonzero(data.truths.sizes))


def _shares_found(data: Prepared, sizes: Ints, codes: NDArray[np.integer]) -> Floats:
    """Return the share of the true labels that the set contains, for every row with labels."""
    if data.truths is None:
        return np.zeros(0)
    truths, width = data.truths, data.n_columns
    kept = np.repeat(np.arange(len(sizes)), sizes) * width + codes
    found = np.isin(truths.rows * width + truths.codes, kept)
    counts = np.bincount(truths.rows, found, minlength=len(sizes))
    labelled = truths.sizes > 0
    return counts[labelled] / truths.sizes[labelled]


def compare_for_target(trial: TargetTrial, alphas: Sequence[Fraction], scores: tuple[Score, ...]) -> list[Comparison]:
    """Return a comparison of scores for every alpha; warn if nothing is promised."""
    warn_of_no_promise(trial.spec(scores[0]).learning(trial.data))
    count, values, effects = progress.counter(len(scores)), [], []
    for score in scores:
        values.append(trial.measure(score, alphas))
        effects.append(trial.effects(score, alphas))
        if count is not None:
            count()
    n, size = len(trial.data), trial.measures.index("size")
    results = []
    for place, alpha in enumerate(alphas):
        summed = np.array([one[place] for one in effects])  # score, measure, row
        covariances = np.cov(summed[:, size], bias=True).reshape(len(scores), len(scores)) / n
        measured = np.array([one[place] for one in values])
        errors = (summed.var(axis=2) / n, covariances)
        results.append(
            Comparison(scores, trial.measures, measured, float(alpha), n, *errors, trial.condition, target=trial.target)
        )
    return results
