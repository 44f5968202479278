"""``auto`` as a candidate of ``compare``: its whole route runs on each calibration half and is tested on the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from rankset import progress
from rankset.conditions import Condition
from rankset.errors import silent
from rankset.evaluation.auto import auto_prepared
from rankset.evaluation.metrics import Floats, Metric
from rankset.evaluation.rules_on_rows import covered_and_sizes
from rankset.evaluation.trial import Trial

MOST_CELLS = 100_000_000
"""``auto`` is fitted on so many halves that their number times rows times classes is at most this …"""
FEWEST_HALVES = 5
"""… but on at least this number of halves, if there are so many."""


def auto_halves(n: int, n_columns: int, repeats: int) -> int:
    """Return on how many of ``repeats`` halves of ``n`` rows ``auto`` is measured.

    >>> auto_halves(10_000, 100, 20), auto_halves(50_000, 1000, 20)
    (20, 5)
    """
    return min(repeats, max(FEWEST_HALVES, MOST_CELLS // (n * n_columns)))


def measure_auto(trial: Trial, alpha: Fraction, condition: Condition, metrics: Sequence[Metric]) -> Floats:
    """Return every metric of ``auto`` as an array (metric, split), on the first splits of ``trial``.

    On the calibration half of a split, ``auto`` fits and chooses a score on some rows and calibrates it on the others.
    The test half is used for nothing but testing.
    """
    data = replace(trial.data, ids=None)
    splits = trial.splits[: auto_halves(len(data), data.n_columns, len(trial.splits))]
    answers, count = np.empty((len(metrics), len(splits))), progress.counter(len(splits))
    for number, (cal, test) in enumerate(splits):
        with silent():  # the trial has warned of few rows, once for all halves
            rule = auto_prepared(data.take(cal), alpha, condition, seed=trial.specs[0].seed)
        covered, sizes = covered_and_sizes(rule, alpha, data.take(test), trial.labels[test])
        for row, metric in enumerate(metrics):
            answers[row, number] = metric.formula(covered, sizes, trial.labels[test], alpha)
        if count is not None:
            count()
    return answers
