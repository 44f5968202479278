"""``Correctness``: the fitted probability that the most likely label of a row is right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.core.cells import Cells, LabelCells
from rankset.core.lexicographic import Keys
from rankset.core.rows import Rows
from rankset.errors import KindError
from rankset.inputs.matrix import Kind
from rankset.scores.key_ranges import FeatureRanges, Range
from rankset.scores.logistic import fit_logistic
from rankset.scores.parameters import check_fitted_numbers
from rankset.scores.recalibration.fit_rows import prepare_fit, probabilities_and_columns
from rankset.scores.wording import Wording

Floats = NDArray[np.float64]

LEAST = 1e-12
"""Probabilities are taken as at least this, and at most 1 minus this, before their logarithms."""
CONSTANT = 1e-9
"""Features that vary less than this are taken as constant."""
N_WEIGHTS = 4
"""Of a constant, the log-odds of the label, its log-ratio to the second largest probability, and the entropy."""
LITTLE = 0.01
"""Penalty of a weight."""
PENALTY = 1.0
"""Penalty of the number of a class: classes with few rows keep a number near 0."""


@dataclass(frozen=True, repr=False)
class Correctness:
    """A model of whether the most likely label of a row is right, for ``rankset.triage``.

    A logistic regression on the log-odds of the label, the logarithm of its ratio to the second largest probability of
    the row, and the entropy of the row. It can also have a number for each class: some classes are predicted wrongly
    more often than their probabilities say. ``Correctness.fit`` estimates all of these.

    Parameters
    ----------
    weights : sequence of 4 floats
        Weights of a constant, the log-odds, the log-ratio and the entropy. With the default weights the order of rows
        is that of their largest probabilities.
    offsets : sequence of float, default ()
        A number for each class that is added for labels of the class. Empty if there are none.

    Raises
    ------
    ScoreError
        If a parameter is not a number or is larger than 1,000,000, or if the number of weights is not 4.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("agnews")
    >>> sure = rs.Correctness.fit(probs[:2000], labels[:2000], kind="logits")
    >>> triage = rs.triage(probs[2000:5000], labels[2000:5000], kind="logits", confidence=sure)
    >>> triage.accept(probs[5000:], error=0.05).share > 0.7
    True
    """

    weights: tuple[float, ...] = (0.0, 1.0, 0.0, 0.0)
    offsets: tuple[float, ...] = ()
    features: ClassVar[tuple[str, ...]] = ("column", "entropy", "prob", "second")
    needs_probs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_fitted_numbers(self, "weights", N_WEIGHTS)
        check_fitted_numbers(self, "offsets")

    def __repr__(self) -> str:
        weights = ", ".join(f"{weight:.3g}" for weight in self.weights)
        offsets = f", offsets of {len(self.offsets):,} classes" if self.offsets else ""
        return f"Correctness(weights=({weights}){offsets})"

    @property
    def n_columns(self) -> int | None:
        """Number of classes in the fit, or None if classes have no numbers of their own."""
        return len(self.offsets) or None

    @classmethod
    def fit(
        cls, probs: ArrayLike, labels: ArrayLike, *, kind: Kind = "probs", class_offsets: bool = True
    ) -> Correctness:
        """Fit the parameters by penalised maximum likelihood. Do not pass the same rows to ``triage``.

        Parameters
        ----------
        probs : array-like (n, K)
            Model outputs for rows that ``triage`` does not get.
        labels : array-like (n,)
            True labels of these rows, as column numbers.
        kind : {"probs", "logits", "binary"}, default "probs"
            The type of values in ``probs``.
        class_offsets : bool, default True
            Whether to fit a number for each class. Pass False if class frequencies will be different in new data.

        Returns
        -------
        Correctness
            The fitted model.

        Raises
        ------
        KindError, InputError, LabelError
            If the rows or labels are invalid, or if there are no rows.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rs.Correctness.fit(probs, labels, class_offsets=False).n_columns is None
        True
        """
        rows, columns = probabilities_and_columns(prepare_fit(probs, labels, kind))
        tops = rows.argmax(axis=1)
        return cls.fit_rows(rows, tops, tops == columns, class_offsets=class_offsets)

    @classmethod
    def fit_rows(
        cls, probs: NDArray[np.floating], tops: NDArray[np.int64], right: NDArray[np.bool_], *, class_offsets: bool
    ) -> Correctness:
        """Fit the parameters on valid probabilities. For internal use; call ``fit`` instead.

        Parameters
        ----------
        probs : array (n, K)
            Probabilities.
        tops : array (n,)
            Columns of the most likely labels.
        right : array (n,) of bool
            Which of them are right.
        class_offsets : bool
            As in ``fit``.

        Returns
        -------
        Correctness

        Examples
        --------
        >>> import numpy as np, rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> tops = probs.argmax(axis=1)
        >>> fitted = rs.Correctness.fit_rows(probs, tops, tops == labels, class_offsets=True)
        >>> fitted == rs.Correctness.fit(probs, labels)
        True
        """
        if probs.shape[1] < 2:
            raise KindError.argument("probs", "rows of at least 2 classes for a fit", f"{probs.shape[1]} class")
        values = _features(LabelCells(Rows(probs, lambda: np.zeros(len(probs))), tops))
        spread = values.std(axis=0)
        scale = np.where(spread > CONSTANT, spread, 1.0)
        columns = [np.ones(len(probs))[:, np.newaxis], values / scale]
        penalties = [LEAST, *[LITTLE] * values.shape[1]]
        if class_offsets:
            columns.append(np.eye(probs.shape[1])[tops])
            penalties += [PENALTY] * probs.shape[1]
        found = fit_logistic(np.concatenate(columns, axis=1), right, np.array(penalties))
        weights = (found[0], *(found[1:N_WEIGHTS] / scale))
        return cls(tuple(map(float, weights)), tuple(map(float, found[N_WEIGHTS:])))

    def log_odds(self, cells: Cells) -> Floats:
        """Return the fitted logarithm of the odds that labels are right.

        Parameters
        ----------
        cells : Cells
            The features of m labels.

        Returns
        -------
        array (m,)

        Examples
        --------
        >>> import numpy as np, rankset as rs
        >>> from rankset.core.cells import LabelCells
        >>> from rankset.core.rows import Rows
        >>> rows = Rows(np.array([[0.75, 0.25]]), None)
        >>> round(float(rs.Correctness().log_odds(LabelCells(rows, np.array([0])))[0]), 4)
        1.0986
        """
        constant, *weights = self.weights
        total = np.full(cells.size, constant)
        for weight, values in zip(weights, _columns(cells), strict=True):
            total += weight * values
        if self.offsets:
            total += np.array(self.offsets)[cells.column]
        return total

    def keys(self, cells: Cells) -> Keys:
        """Return minus the fitted log-odds that the label is right."""
        return (-self.log_odds(cells),)

    def ranges(self, features: FeatureRanges) -> tuple[Range, ...]:  # noqa: ARG002
        """Return the lowest and highest possible value of the key."""
        return ((-math.inf, math.inf),)

    def describe(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return which labels are kept, in words."""
        return f"keeps labels that are right with a fitted probability of at least {_chance(threshold, wording)}"

    def describe_label(self, threshold: Sequence[float], wording: Wording) -> str:
        """Return when a label is kept, in words about this label, "it"."""
        return f"the fitted probability that it is right is at least {_chance(threshold, wording)}"


def _chance(threshold: Sequence[float], wording: Wording) -> str:
    """Return the probability of a threshold, as text."""
    return wording.number(1 / (1 + math.exp(min(700.0, threshold[0]))))


def _columns(cells: Cells) -> tuple[Floats, Floats, Floats]:
    """Return the features: log-odds of the label, its log-ratio to the second largest entry, and the entropy."""
    prob = np.clip(cells.prob, LEAST, 1 - LEAST)
    logs = np.log(prob)
    return logs - np.log1p(-prob), logs - np.log(np.maximum(cells.second, LEAST)), cells.entropy


def _features(cells: Cells) -> Floats:
    return np.stack(_columns(cells), axis=1)
