"""``evaluate`` for rows that can have several labels: the numbers of a ``LabelsEvaluation``."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankset.core import coverage_law
from rankset.errors import InputError
from rankset.evaluation.labels_by_group import Kept, mean_range, recall_by_group
from rankset.evaluation.several_labels import LabelRecall, LabelsEvaluation, Range
from rankset.evaluation.shares import Groups
from rankset.inputs.labels_of_rows import LabelLists
from rankset.sets import PredictionSets
from rankset.targets import AllLabels, AnyLabel, AtMostMissed, CertainLabels, Recall, Target
from rankset.targets.base import forbids_more_labels
from rankset.targets.precision import Precision

MOST_LABELS = 4
"""Rows with so many labels or more are shown together."""


def evaluate_several(
    sets: PredictionSets,
    truths: LabelLists,
    level: Fraction,
    target: Target,
    confidence: float,
    groups: Groups | None = None,
    *,
    group_intervals: bool = True,
) -> LabelsEvaluation:
    """Compare sets with the true labels of rows that can have several of them, and those of groups separately."""
    n = int(np.count_nonzero(truths.sizes))
    if not n and not forbids_more_labels(target):
        raise InputError.no_rows_to_evaluate()
    mask, has = sets.mask, truths.sizes > 0
    hits = np.bincount(truths.rows, mask[truths.rows, truths.codes], len(sets)).astype(np.int64)
    shares, missed = hits[has] / truths.sizes[has], (truths.sizes - hits)[has]
    recall, complete, sizes = _mean(shares), int((missed == 0).sum()), sets.sizes
    filled = sizes > 0
    every = _labels(sets, truths, mask)
    labels = tuple(one for one in every if one.n)
    kept = None if sets.by_label else _kept(target, mask, truths, hits)
    sure = confidence if group_intervals else None
    gaps = [abs(one.recall - float(1 - level)) for one in labels]
    return LabelsEvaluation(
        alpha=float(level),
        target=target,
        n=n,
        set_aside=len(sets) - n,
        confidence=confidence,
        recall=recall,
        recall_interval=mean_range(recall, n, confidence),
        all_labels=_mean(missed == 0),
        all_labels_interval=coverage_law.binomial_interval(complete, n, confidence),
        any_label=_mean(hits[has] > 0),
        micro_recall=float(hits.sum() / truths.sizes.sum()) if n else math.nan,
        precision=_mean(hits[filled] / sizes[filled]),
        mean_size=float(sizes.mean()),
        empty_rate=float((sizes == 0).mean()),
        label_gap=_mean(np.array(gaps)),
        labels=labels,
        by_number=_by_number(truths.sizes, hits, sizes),
        missed_more=tuple(float((missed > most).mean()) for most in range(int(missed.max(initial=-1)) + 1)),
        observed=None if kept is None or not kept.n else kept.mean,
        observed_rows=None if kept is None else kept.n,
        by_label=sets.by_label,
        expected=_expected(sets, level, n if kept is None else kept.n, confidence),
        groups=() if groups is None else recall_by_group(groups, hits, truths.sizes, sizes, kept, sure),
        proven=None if sets.level != level else sets.proven,
        sure=None if sets.level != level else sets.confidence,
        unseen=tuple(one for one in every if not one.n),
    )


def _kept(target: Target, mask: NDArray[np.bool_], truths: LabelLists, hits: NDArray[np.int64]) -> Kept | None:
    """Return how far the promise of a target was kept in each row; None for a target of a user's own."""
    has, missed = truths.sizes > 0, truths.sizes - hits
    if isinstance(target, Recall):
        return Kept(hits / np.maximum(truths.sizes, 1), has)
    if isinstance(target, CertainLabels | Precision):
        false = ~truths.mask(mask.shape[1])
        wrong = (mask & false).sum(axis=1)
        if isinstance(target, CertainLabels):
            return Kept((wrong == 0).astype(np.float64), np.any(false, axis=1))
        return Kept(1 - wrong / np.maximum(mask.sum(axis=1), 1), np.ones(len(mask), dtype=np.bool_))
    if isinstance(target, AnyLabel):
        return Kept((hits > 0).astype(np.float64), has)
    most = {AllLabels: 0, AtMostMissed: getattr(target, "m", 0)}.get(type(target))
    return None if most is None else Kept((missed <= most).astype(np.float64), has)


def _mean(values: NDArray[Any]) -> float:
    """Return the mean; NaN if there are no values."""
    return float(values.mean()) if len(values) else math.nan


def _expected(sets: PredictionSets, level: Fraction, n: int, confidence: float) -> Range | None:
    """Return the range of the observed share on ``n`` rows that random variation explains."""
    law = sets.law
    if law is None or sets.level != level or not n:
        return None
    return law.sampling_range(n, confidence)


def _labels(sets: PredictionSets, truths: LabelLists, mask: NDArray[np.bool_]) -> tuple[LabelRecall, ...]:
    """Return the recall of every label; NaN if no row has it."""
    n_columns = mask.shape[1]
    counts = np.bincount(truths.codes, minlength=n_columns)
    inside = np.bincount(truths.codes, mask[truths.rows, truths.codes], n_columns)
    marked, names, n = mask.sum(axis=0), sets.names.values, len(mask)
    return tuple(
        LabelRecall(
            names[code],
            int(counts[code]),
            float(inside[code] / counts[code]) if counts[code] else math.nan,
            float(marked[code] / n),
            float((marked[code] - inside[code]) / (n - counts[code])) if counts[code] < n else math.nan,
        )
        for code in range(n_columns)
    )


def _by_number(numbers: NDArray[Any], hits: NDArray[Any], sizes: NDArray[Any]) -> tuple[LabelRecall, ...]:
    """Return the recall of rows with no labels (NaN), with 1, 2, 3, and more."""
    found = []
    for number in range(MOST_LABELS + 1):
        own = numbers == number if number < MOST_LABELS else numbers >= number
        name = f"{number} label{'s' * (number != 1)}" + " or more" * (number == MOST_LABELS)
        if own.any():
            recall = float((hits[own] / numbers[own]).mean()) if number else math.nan
            found.append(LabelRecall(name, int(own.sum()), recall, float(sizes[own].mean())))
    return tuple(found)
