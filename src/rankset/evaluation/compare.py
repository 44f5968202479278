"""``compare``: measure several scores on the same random splits of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.evaluation.comparison import Comparison
from rankset.evaluation.default_scores import DEFAULT_SCORES
from rankset.evaluation.metrics import METRICS, MeanOverRows, Metric
from rankset.evaluation.trial import Trial, check_scores
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared, prepare
from rankset.scores import Score


@takes_alpha
def compare(
    probs: ArrayLike,
    labels: ArrayLike,
    alpha: Alpha = 0.1,
    *,
    scores: Iterable[Score] = DEFAULT_SCORES,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    repeats: int = 20,
    seed: int = 0,
) -> Comparison:
    """Compare several scores on the same random splits of the rows.

    In each split, one half of the rows is used for calibration and the other half for testing. If you choose a score
    because of this comparison, calibrate it on other rows. Otherwise coverage is not guaranteed.

    Parameters
    ----------
    probs
        Model outputs, one row per sample and one column per class. An array, a data frame, a tensor or ``Ragged``. The
        model must not have been trained on these rows.
    labels
        The true label of each row.
    alpha
        Allowed error rate, strictly between 0 and 1.
    scores
        Scores to compare. By default RANK, THR, APS, RAPS and SAPS.
    kind
        The type of values in ``probs``: "probs", "logits", "decision" or "binary", as in ``calibrate``.
    classes
        Class names in column order.
    repeats
        Number of random splits.
    seed
        Seed of the random splits and of randomised scores.

    Returns
    -------
    Comparison
        All metrics of ``docs/metrics.md`` for every score. Metrics that are means over rows have standard errors.

    Raises
    ------
    KindError
        If ``scores`` is not a list of at least one score, or ``repeats`` is not an integer above 0.
    InputError
        If there are fewer than two rows, or if values are invalid, for example negative probabilities.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.compare(probs, labels, 0.1, scores=[rs.Rank(), rs.Thr()]).smallest
    Thr()
    """
    candidates, level = check_scores(scores, "scores"), exact_alpha(alpha)
    data = prepare(probs, labels, kind=kind, classes=classes)
    return compare_prepared(data, level, candidates, tuple(METRICS.values()), repeats, seed)


def compare_prepared(
    data: Prepared,
    alpha: Fraction,
    candidates: tuple[Score, ...],
    metrics: Sequence[Metric],
    repeats: int,
    seed: int = 0,
) -> Comparison:
    """Compare scores by ``metrics``, the mean size among them, on prepared rows with labels."""
    trial = Trial.of(data, alpha, candidates, repeats, seed)
    n, formulas = len(trial.labels), [metric.formula for metric in metrics]
    means = {place: formula for place, formula in enumerate(formulas) if isinstance(formula, MeanOverRows)}
    row_values = [formula.row_values for formula in means.values()]
    values, effects = [], []
    for cells in trial.sorted_cells():
        values.append(cells.measure(trial.splits, trial.labels, alpha, formulas))
        effects.append(sum(cells.influences(n // 2, alpha, row_values)))
    summed = np.array(effects)  # score, measure, row
    variances = np.full((len(candidates), len(metrics)), np.nan)
    variances[:, list(means)] = summed.var(axis=2) / n
    names = tuple(metric.name for metric in metrics)
    sizes = summed[:, list(means).index(names.index("size"))]
    covariances = np.cov(sizes, bias=True).reshape(len(sizes), len(sizes)) / n
    return Comparison(candidates, names, np.array(values), float(alpha), n, variances, covariances)
