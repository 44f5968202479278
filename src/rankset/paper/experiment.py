"""The paper's experiment: half calibrates, half tests, many times; every method and alpha on the same halves."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.conditions import Marginal
from rankset.core.alpha import Alpha, exact_alpha
from rankset.errors import LabelError
from rankset.evaluation.metrics import mean_where_defined, metrics_named
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
"""The paper's methods with the parameters of the authors' notebooks, and THR, which its Table 1 leaves out."""

MEASURES = ("coverage", "size", "SSCV", "SSCV*", "empty")
"""The metrics of the experiment, by their names in ``rankset.evaluation.metrics``."""

CELLS_SORTED = 2_000_000
"""Largest number of cells that are sorted again for fresh random draws."""


@dataclass(frozen=True)
class Results:
    """Metrics of every method on every half: the result of ``resample``.

    Attributes
    ----------
    methods, alphas, measures
        Names along the first three axes of ``values``.
    values
        Array (method, alpha, measure, repetition).

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

    def of(self, method: str, alpha: Alpha, measure: str) -> NDArray[np.float64]:
        """Return the value of every repetition.

        Parameters
        ----------
        method : name of a method.
        alpha : a level.
        measure : name of a metric.

        Returns
        -------
        numpy.ndarray (repetitions,), NaN where the metric is not defined.

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
        """Return the mean over the repetitions in which the metric is defined.

        Parameters
        ----------
        method : name of a method.
        alpha : a level.
        measure : name of a metric.

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
    """Run the paper's experiment: measure every method at every alpha on random halves of the rows.

    Scores that draw random numbers get fresh draws from half to half, as many sets of draws as ``CELLS_SORTED`` allows.
    One set of draws for all halves would shift all means by the same random amount.

    Parameters
    ----------
    values
        Array (n, K): the model's outputs.
    labels
        The column of each row's label.
    methods
        Scores by name.
    alphas
        Error rates.
    measures
        Names of metrics, see ``docs/metrics.md``.
    repeats
        Number of random halves.
    seed
        Seed of the halves and of the draws.
    kind
        What ``values`` are: "probs", "logits", "decision" or "binary".

    Returns
    -------
    Results
        All values, by method, alpha, metric and repetition.

    Raises
    ------
    RuleError
        If there is no metric of such a name.

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
