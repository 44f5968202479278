"""The experiment of the paper: all methods on the same random splits into a calibration half and a test half."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.conditions import Marginal
from rankset.core.alpha import Alpha, exact_alpha
from rankset.errors import LabelError
from rankset.evaluation.metrics import format_value, mean_where_defined, metrics_named
from rankset.evaluation.resampling import SortedCells, halves
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared, prepare
from rankset.rules.batch import Batch
from rankset.rules.spec import RuleSpec
from rankset.scores import Aps, Rank, Raps, Saps, Score, Thr, traits

METHODS: Mapping[str, Score] = {
    "RANK": Rank(),
    "THR": Thr(),
    "APS": Aps(),
    "RAPS": Raps(penalty=0.2, free_ranks=2),
    "SAPS": Saps(weight=0.2),
}
"""The methods of the paper with the parameters of the authors' notebooks, and THR."""

MEASURES = ("coverage", "size", "SSCV", "SSCV*", "empty")
"""The metrics of the experiment, by their names in ``rankset.evaluation.metrics``."""

CELLS_SORTED = 2_000_000
"""Limit on the product of rows, classes and number of different random draws in ``resample``."""

MOST_LINES = 30
"""Number of lines with which results are printed."""


@dataclass(frozen=True, repr=False)
class Results:
    """Metrics of every method in every repetition, returned by ``resample``.

    Attributes
    ----------
    methods, alphas, measures
        Names of the methods, values of alpha, and names of the metrics, in the order of the first three axes of
        ``values``.
    values
        Array (method, alpha, metric, repetition).

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> results = rs.paper.resample(probs, labels, repeats=2)
    >>> results.values.shape
    (5, 1, 5, 2)
    """

    methods: tuple[str, ...]
    alphas: tuple[Alpha, ...]
    measures: tuple[str, ...]
    values: NDArray[np.float64]

    def __repr__(self) -> str:
        repeats = self.values.shape[-1]
        times, measures = "repetition" if repeats == 1 else "repetitions", ", ".join(self.measures)
        lines = [f"Results of {repeats} {times}, means of {measures}"]
        width = max(len(method) for method in self.methods)
        for method, by_alpha in zip(self.methods, self.values, strict=True):
            for alpha, values in zip(self.alphas, by_alpha, strict=True):
                means = "".join(f"{format_value(mean):>9}" for mean in mean_where_defined(values))
                lines.append(f"{method:<{width}}  alpha={alpha}{means}")
        if len(lines) > MOST_LINES:
            lines[MOST_LINES:] = [f"… and {len(lines) - MOST_LINES} more lines; see of(method, alpha, measure)"]
        return "\n".join(lines)

    def of(self, method: str, alpha: Alpha, measure: str) -> NDArray[np.float64]:
        """Return the value of a metric in every repetition.

        Parameters
        ----------
        method
            Name of a method, such as "RANK".
        alpha
            One of ``alphas``.
        measure
            Name of a metric, one of ``measures``.

        Returns
        -------
        numpy.ndarray (repetitions,)
            NaN if the metric is not defined in a repetition.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> results = rs.paper.resample(probs, labels, repeats=2)
        >>> results.of("RANK", 0.1, "size").shape
        (2,)
        """
        return self.values[self.methods.index(method), self.alphas.index(alpha), self.measures.index(measure)]

    def mean(self, method: str, alpha: Alpha, measure: str) -> float:
        """Return the mean of a metric over the repetitions in which it is defined.

        Parameters
        ----------
        method
            Name of a method, such as "RANK".
        alpha
            One of ``alphas``.
        measure
            Name of a metric, one of ``measures``.

        Returns
        -------
        float

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> results = rs.paper.resample(probs, labels, repeats=2)
        >>> results.mean("RANK", 0.1, "size") > 1
        True
        """
        return float(mean_where_defined(self.of(method, alpha, measure)))


def resample(
    values: ArrayLike,
    labels: ArrayLike,
    *,
    methods: Mapping[str, Score] = METHODS,
    alphas: Sequence[Alpha] = (0.1,),
    measures: Iterable[str] = MEASURES,
    repeats: int = 100,
    seed: int = 0,
    kind: Kind = "probs",
) -> Results:
    """Run the experiment of the paper: measure every method at every alpha on random splits of the rows.

    In each repetition, one half of the rows is used for calibration and the other half for testing. Randomised scores
    use new random numbers in different repetitions. On large data, several repetitions share random numbers to save
    time (limit ``CELLS_SORTED``).

    Parameters
    ----------
    values
        Array (n, K): model outputs.
    labels
        The column number of the true label of each row.
    methods
        A mapping from names of methods to scores.
    alphas
        Allowed error rates.
    measures
        Names of metrics, see the page "Metrics".
    repeats
        Number of repetitions. Each repetition has a new random split.
    seed
        Seed of the random splits and of randomised scores.
    kind
        The type of values in ``values``: "probs", "logits", "decision" or "binary", as in ``calibrate``.

    Returns
    -------
    Results
        The value of every metric, for each method, alpha and repetition.

    Raises
    ------
    RuleError
        If there is no metric with this name.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> results = rs.paper.resample(probs, labels, measures=["size", "class gap"], repeats=5)
    >>> results.mean("THR", 0.1, "size") < results.mean("RANK", 0.1, "size")
    True
    """
    metrics = metrics_named(measures)
    data = prepare(values, labels, kind=kind).with_checked_values()
    if data.labels is None:
        raise LabelError.not_one_dimensional("labels", "NoneType")
    levels = [exact_alpha(alpha) for alpha in alphas]
    splits = halves(len(data), repeats, seed)
    formulas = [metric.formula for metric in metrics]
    answers = np.empty((len(methods), len(alphas), len(metrics), repeats))
    for number, score in enumerate(methods.values()):
        for cells, repetitions in _sort_cells(score, data, data.labels, repeats, seed):
            for place, alpha in enumerate(levels):
                measured = cells.measure(splits[repetitions], data.labels, alpha, formulas)
                answers[number, place, :, repetitions] = measured
    return Results(tuple(methods), tuple(alphas), tuple(metric.name for metric in metrics), answers)


def _sort_cells(
    score: Score, data: Prepared, labels: NDArray[np.int64], repeats: int, seed: int
) -> Iterator[tuple[SortedCells, slice]]:
    """Yield the cells in the order of ``score``, with the repetitions it is used in: all, or some for each draw."""
    most = max(1, min(repeats, CELLS_SORTED // (len(data) * data.n_columns)))
    draws = most if traits(score).uses_noise else 1
    for draw in range(draws):
        spec = RuleSpec.of(score, Marginal(), data.kind, seed + draw, data.classes)
        yield SortedCells.of(Batch.of(spec, data), labels), slice(draw, None, draws)
