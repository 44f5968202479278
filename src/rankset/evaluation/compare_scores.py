"""Measures scores on random halves of prepared rows, at one or several alphas: the work behind ``compare``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from rankset.conditions import Condition
from rankset.evaluation.comparison import Comparison
from rankset.evaluation.metrics import Floats, MeanOverRows, Metric
from rankset.evaluation.trial import MARGINAL, Trial
from rankset.inputs.prepare import Prepared
from rankset.scores import Score


def compare_prepared(
    data: Prepared,
    alpha: Fraction,
    candidates: tuple[Score, ...],
    metrics: Sequence[Metric],
    repeats: int,
    seed: int = 0,
) -> Comparison:
    """Compare scores by ``metrics``, the mean size among them, on prepared rows with labels."""
    return compare_at_levels(Trial.of(data, (alpha,), candidates, repeats, seed), (alpha,), metrics)[0]


def compare_at_levels(
    trial: Trial, alphas: Sequence[Fraction], metrics: Sequence[Metric], condition: Condition = MARGINAL
) -> list[Comparison]:
    """Return a comparison of the scores of ``trial`` for every alpha; the cells of a score are sorted once for all."""
    n, formulas = len(trial.labels), [metric.formula for metric in metrics]
    means = {place: formula for place, formula in enumerate(formulas) if isinstance(formula, MeanOverRows)}
    values: list[list[Floats]] = [[] for _ in alphas]
    effects: list[list[Floats]] = [[] for _ in alphas]
    for cells in trial.sorted_cells(alphas):
        for number, alpha in enumerate(alphas):
            values[number].append(cells.measure(trial.splits, trial.labels, alpha, formulas))
            effects[number].append(cells.effects(n // 2, alpha, list(means.values())))
    names, scores = tuple(metric.name for metric in metrics), tuple(spec.score for spec in trial.specs)
    size = list(means).index(names.index("size"))
    results = []
    for alpha, measured, summed in zip(alphas, values, map(np.array, effects), strict=True):  # score, measure, row
        variances = np.full((len(scores), len(metrics)), np.nan)
        variances[:, list(means)] = summed.var(axis=2) / n
        sizes = summed[:, size]
        covariances = np.cov(sizes, bias=True).reshape(len(sizes), len(sizes)) / n
        results.append(
            Comparison(scores, names, np.array(measured), float(alpha), n, variances, covariances, condition)
        )
    return results
